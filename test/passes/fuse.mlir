// RUN: tp-opt %s --split-input-file --tp-fuse | FileCheck %s
//
// Ops that pass values element by element become one kernel: members stand
// together and carry its number. The input is local.

// A bias and an activation, one kernel; the matmuls around it are none.
// CHECK-LABEL: func.func @chain(
// CHECK: tp.matmul %{{.*}} : (
// CHECK-NEXT: tp.add %{{.*}} {tp.kernel = 0 : i64}
// CHECK-NEXT: tp.gelu %{{.*}} {tp.kernel = 0 : i64}
// CHECK-NEXT: tp.matmul %{{.*}} : (
// CHECK-NEXT: tp.add %{{.*}} {tp.kernel = 1 : i64}
func.func @chain(%x: tensor<6x16xf32>, %w: tensor<24x16xf32>, %b: tensor<24xf32>, %d: tensor<10x24xf32>, %c: tensor<10xf32>) {
  %u = tp.matmul %x, %w : (tensor<6x16xf32>, tensor<24x16xf32>) -> tensor<6x24xf32>
  %v = tp.add %u, %b : (tensor<6x24xf32>, tensor<24xf32>) -> tensor<6x24xf32>
  %g = tp.gelu %v : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %p = tp.matmul %g, %d : (tensor<6x24xf32>, tensor<10x24xf32>) -> tensor<6x10xf32>
  %y = tp.add %p, %c : (tensor<6x10xf32>, tensor<10xf32>) -> tensor<6x10xf32>
  tp.output "y", %y : tensor<6x10xf32>
  return
}

// -----

// A norm's statistic is of the row, so the residual before it joins.
// CHECK-LABEL: func.func @residual_and_norm(
// CHECK: tp.add %{{.*}} {tp.kernel = 0 : i64}
// CHECK-NEXT: tp.rms_norm %{{.*}} {{{.*}}tp.kernel = 0 : i64}
func.func @residual_and_norm(%x: tensor<6x16xf32>, %y: tensor<6x16xf32>, %g: tensor<16xf32>) {
  %s = tp.add %x, %y : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %n = tp.rms_norm %s, %g {eps = 0.1 : f64} : (tensor<6x16xf32>, tensor<16xf32>) -> tensor<6x16xf32>
  tp.output "s", %s : tensor<6x16xf32>
  tp.output "n", %n : tensor<6x16xf32>
  return
}

// -----

// A sum over rows is ready only when its kernel ends.
// CHECK-LABEL: func.func @sum_over_rows(
// CHECK: tp.sum_leading %{{.*}} {tp.kernel = 0 : i64}
// CHECK: tp.add %{{.*}} {tp.kernel = 1 : i64}
func.func @sum_over_rows(%x: tensor<6x16xf32>) {
  %s = tp.sum_leading %x : (tensor<6x16xf32>) -> tensor<16xf32>
  %y = tp.add %x, %s : (tensor<6x16xf32>, tensor<16xf32>) -> tensor<6x16xf32>
  tp.output "y", %y : tensor<6x16xf32>
  return
}

// -----

// A collective between two ops parts them, and another space is another kernel.
// CHECK-LABEL: func.func @parted(
// CHECK: tp.relu %{{.*}} {tp.kernel = 0 : i64}
// CHECK: tp.all_reduce
// CHECK: tp.relu %{{.*}} {tp.kernel = 1 : i64}
// CHECK: tp.relu %{{.*}} {tp.kernel = 2 : i64}
func.func @parted(%x: tensor<6x16xf32>, %z: tensor<6x10xf32>) {
  %a = tp.relu %x : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %r = tp.all_reduce %a over ["tp"] : tensor<6x16xf32> -> tensor<6x16xf32>
  %b = tp.relu %r : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %c = tp.relu %z : (tensor<6x10xf32>) -> tensor<6x10xf32>
  tp.output "b", %b : tensor<6x16xf32>
  tp.output "c", %c : tensor<6x10xf32>
  return
}

// -----

// Two producers that only one op reads join it in one kernel.
// CHECK-LABEL: func.func @two_producers(
// CHECK: tp.silu %{{.*}} {tp.kernel = 0 : i64}
// CHECK-NEXT: tp.relu %{{.*}} {tp.kernel = 0 : i64}
// CHECK-NEXT: tp.mul %{{.*}} {tp.kernel = 0 : i64}
// CHECK-NOT: tp.kernel = 1
func.func @two_producers(%x: tensor<6x16xf32>, %y: tensor<6x16xf32>) {
  %a = tp.silu %x : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b = tp.relu %y : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %c = tp.mul %a, %b : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  tp.output "c", %c : tensor<6x16xf32>
  return
}

// -----

// A mask is made for one use and goes into the kernel that reads it.
#mesh = #tp.mesh<"tp"=2>
// CHECK-LABEL: func.func @mask(
// CHECK: tp.mask_padding %{{.*}} {{{.*}}tp.kernel = 0 : i64
// CHECK-NEXT: tp.row_max %{{.*}} {tp.kernel = 0 : i64}
func.func @mask(%x: tensor<6x17xf32>) {
  %m = tp.mask_padding %x with 0xFFF0000000000000 {layout = #tp.layout<#mesh, [_, {33 pad 34 over "tp"}]>} : tensor<6x17xf32> -> tensor<6x17xf32>
  %y = tp.row_max %m : (tensor<6x17xf32>) -> tensor<6xf32>
  tp.output "y", %y : tensor<6xf32>
  return
}

// -----

// What the backward computes from a value of the forward makes a kernel of its
// own, although it would fit into the forward's.
// CHECK-LABEL: func.func @phases(
// CHECK: tp.relu %{{.*}} {tp.kernel = 0 : i64}
// CHECK-NEXT: tp.output
// CHECK-NEXT: tp.next ^[[BACKWARD:.*]]
// CHECK-NEXT: ^[[BACKWARD]]:
// CHECK-NEXT: tp.gelu %{{.*}} {tp.kernel = 1 : i64}
func.func @phases(%x: tensor<6x16xf32>) {
  %y = tp.relu %x : (tensor<6x16xf32>) -> tensor<6x16xf32>
  tp.output "y", %y : tensor<6x16xf32>
  tp.next ^backward
^backward:
  %z = tp.gelu %y : (tensor<6x16xf32>) -> tensor<6x16xf32>
  tp.output "z", %z : tensor<6x16xf32>
  return
}

// -----

// In bf16 as in f32: what converts is a member like others.
// CHECK-LABEL: func.func @bf16(
// CHECK: tp.add {{.*}}tp.kernel = 0
// CHECK-NEXT: tp.gelu {{.*}}tp.kernel = 0
// CHECK-NEXT: tp.rms_norm {{.*}}tp.kernel = 0
// CHECK-NEXT: tp.cast {{.*}}tp.kernel = 0
func.func @bf16(%x: tensor<6x4xbf16>, %b: tensor<4xbf16>) {
  %a = tp.add %x, %b : (tensor<6x4xbf16>, tensor<4xbf16>) -> tensor<6x4xbf16>
  %g = tp.gelu %a : (tensor<6x4xbf16>) -> tensor<6x4xbf16>
  %n = tp.rms_norm %g, %b {eps = 0.1 : f64} : (tensor<6x4xbf16>, tensor<4xbf16>) -> tensor<6x4xbf16>
  %y = tp.cast %n : (tensor<6x4xbf16>) -> tensor<6x4xf32>
  tp.output "y", %y : tensor<6x4xf32>
  return
}

// -----

// A cast that no kernel before it takes joins that of what reads it, here the
// sum of two values of which the later one is of another space.
// CHECK-LABEL: func.func @cast_behind(
// CHECK: tp.all_reduce
// CHECK: tp.take_rows {{.*}}tp.kernel = 0
// CHECK-NEXT: tp.cast {{.*}}tp.kernel = 1
// CHECK-NEXT: tp.add {{.*}}tp.kernel = 1
func.func @cast_behind(%x: tensor<2x5x4xbf16>, %t: tensor<7x4xf32>) {
  %s = tp.all_reduce %x over ["tp"] : tensor<2x5x4xbf16> -> tensor<2x5x4xbf16>
  %w = tp.cast %s : (tensor<2x5x4xbf16>) -> tensor<2x5x4xf32>
  %r = tp.take_rows %t : (tensor<7x4xf32>) -> tensor<5x4xf32>
  %y = tp.add %w, %r : (tensor<2x5x4xf32>, tensor<5x4xf32>) -> tensor<2x5x4xf32>
  tp.output "y", %y : tensor<2x5x4xf32>
  return
}

// -----

// A parameter is read as of the start of the step: its update stands last, even
// where the value of before is read behind it.
// CHECK-LABEL: func.func @update_behind_reads(
// CHECK: tp.param @w
// CHECK: tp.relu
// CHECK: tp.output "old"
// CHECK: tp.update @w
tp.parameter @w : tensor<6x16xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @update_behind_reads(%x: tensor<6x16xf32>) {
  tp.update @w, %x : tensor<6x16xf32>
  %w = tp.param @w : tensor<6x16xf32>
  %y = tp.relu %w : (tensor<6x16xf32>) -> tensor<6x16xf32>
  tp.output "old", %y : tensor<6x16xf32>
  return
}

// -----

// A kernel has at most twelve members: the thirteenth op starts the next one.
// CHECK-LABEL: func.func @long_chain(
// CHECK-COUNT-12: tp.relu %{{.*}} {tp.kernel = 0 : i64}
// CHECK-COUNT-2: tp.relu %{{.*}} {tp.kernel = 1 : i64}
// CHECK-NOT: tp.kernel
func.func @long_chain(%a0: tensor<6x16xf32>) {
  %a1 = tp.relu %a0 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a2 = tp.relu %a1 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a3 = tp.relu %a2 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a4 = tp.relu %a3 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a5 = tp.relu %a4 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a6 = tp.relu %a5 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a7 = tp.relu %a6 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a8 = tp.relu %a7 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a9 = tp.relu %a8 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a10 = tp.relu %a9 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a11 = tp.relu %a10 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a12 = tp.relu %a11 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a13 = tp.relu %a12 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a14 = tp.relu %a13 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  tp.output "y", %a14 : tensor<6x16xf32>
  return
}

// -----

// Two chains of six meet: the sum joins the later one, which may not take in
// the other, for that makes thirteen.
// CHECK-LABEL: func.func @two_long_chains(
// CHECK-COUNT-6: tp.relu %{{.*}} {tp.kernel = 0 : i64}
// CHECK-COUNT-6: tp.relu %{{.*}} {tp.kernel = 1 : i64}
// CHECK-NEXT: tp.add %{{.*}} {tp.kernel = 1 : i64}
func.func @two_long_chains(%a0: tensor<6x16xf32>, %b0: tensor<6x16xf32>) {
  %a1 = tp.relu %a0 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a2 = tp.relu %a1 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a3 = tp.relu %a2 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a4 = tp.relu %a3 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a5 = tp.relu %a4 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a6 = tp.relu %a5 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b1 = tp.relu %b0 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b2 = tp.relu %b1 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b3 = tp.relu %b2 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b4 = tp.relu %b3 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b5 = tp.relu %b4 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b6 = tp.relu %b5 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %s = tp.add %a6, %b6 : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  tp.output "y", %s : tensor<6x16xf32>
  return
}

// -----

// One op less, and all are one kernel.
// CHECK-LABEL: func.func @two_shorter_chains(
// CHECK-COUNT-11: tp.relu %{{.*}} {tp.kernel = 0 : i64}
// CHECK-NEXT: tp.add %{{.*}} {tp.kernel = 0 : i64}
func.func @two_shorter_chains(%a0: tensor<6x16xf32>, %b0: tensor<6x16xf32>) {
  %a1 = tp.relu %a0 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a2 = tp.relu %a1 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a3 = tp.relu %a2 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a4 = tp.relu %a3 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a5 = tp.relu %a4 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %a6 = tp.relu %a5 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b1 = tp.relu %b0 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b2 = tp.relu %b1 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b3 = tp.relu %b2 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b4 = tp.relu %b3 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %b5 = tp.relu %b4 : (tensor<6x16xf32>) -> tensor<6x16xf32>
  %s = tp.add %a6, %b5 : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  tp.output "y", %s : tensor<6x16xf32>
  return
}
