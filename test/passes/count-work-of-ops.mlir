// RUN: tp-opt %s --tp-count | FileCheck %s
//
// The work of each op, by hand: a price that forgets a term is wrong in the
// prediction and in the count alike. Products move three matrices, each in its
// own element type. Attention has batch, heads, groups, queries, keys, sizes of
// a head of keys and of values. Collectives have the ranks of their axes, as far
// apart as the axes inside. Other ops write their results; the optimizer also
// reads. Views, sums that fuse and constants do nothing.
#mesh = #tp.mesh<"a"=2, "b"=3>
#rows = #tp.layout<#mesh, [{6 over "b"}, _]>
#padded = #tp.layout<#mesh, [{5 pad 6 over "b"}, _]>
module attributes {tp.mesh = #mesh} {

// CHECK-LABEL: func.func @products(
// CHECK-SAME: flops = 2520 : i64
// CHECK-SAME: work = {"tp.matmul gemm(1, 10, 3, 7; 2, 2, 2)" = 1 : i64, "tp.matmul gemm(1, 10, 3, 7; 4, 4, 4)" = 1 : i64,
// CHECK-SAME: "tp.matmul_dgrad gemm(1, 10, 7, 3; 2, 2, 2)" = 1 : i64, "tp.matmul_dgrad gemm(1, 10, 7, 3; 4, 4, 4)" = 1 : i64,
// CHECK-SAME: "tp.matmul_wgrad gemm(1, 3, 7, 10; 2, 2, 2)" = 1 : i64, "tp.matmul_wgrad gemm(1, 3, 7, 10; 4, 4, 4)" = 1 : i64}
func.func @products(%x: tensor<2x5x7xf32>, %w: tensor<3x7xf32>, %dy: tensor<2x5x3xf32>, %v: tensor<2x5x7xbf16>, %u: tensor<3x7xbf16>, %dz: tensor<2x5x3xbf16>) attributes {tp.forward} {
  %0 = tp.matmul %x, %w : (tensor<2x5x7xf32>, tensor<3x7xf32>) -> tensor<2x5x3xf32>
  %1 = tp.matmul %v, %u : (tensor<2x5x7xbf16>, tensor<3x7xbf16>) -> tensor<2x5x3xbf16>
  %2 = tp.matmul_dgrad %dy, %w : (tensor<2x5x3xf32>, tensor<3x7xf32>) -> tensor<2x5x7xf32>
  %3 = tp.matmul_dgrad %dz, %u : (tensor<2x5x3xbf16>, tensor<3x7xbf16>) -> tensor<2x5x7xbf16>
  %4 = tp.matmul_wgrad %dy, %x : (tensor<2x5x3xf32>, tensor<2x5x7xf32>) -> tensor<3x7xf32>
  %5 = tp.matmul_wgrad %dz, %v : (tensor<2x5x3xbf16>, tensor<2x5x7xbf16>) -> tensor<3x7xbf16>
  return
}

// CHECK-LABEL: func.func @attention(
// CHECK-SAME: work = {"tp.attention attention(2, 10, 5, 3, 7, 4, 4, full, 0; 4)" = 1 : i64, "tp.attention attention(3, 4, 2, 9, 9, 4, 4, causal, 0; 2)" = 1 : i64,
// CHECK-SAME: "tp.attention_grad attention_grad(2, 10, 5, 3, 7, 4, 4, full, 0; 4)" = 1 : i64}
func.func @attention(%q: tensor<2x3x5x2x4xf32>, %k: tensor<2x7x5x4xf32>, %v: tensor<2x7x5x4xf32>, %lse: tensor<2x3x5x2xf32>, %dy: tensor<2x3x5x2x4xf32>,
                     %p: tensor<3x9x2x2x4xbf16>, %m: tensor<3x9x2x4xbf16>, %n: tensor<3x9x2x4xbf16>) attributes {tp.forward} {
  %0, %1 = tp.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x3x5x2x4xf32>, tensor<2x7x5x4xf32>, tensor<2x7x5x4xf32>) -> (tensor<2x3x5x2x4xf32>, tensor<2x3x5x2xf32>)
  %2, %3, %4 = tp.attention_grad %q, %k, %v, %lse, %dy {scale = 0.5 : f64} : (tensor<2x3x5x2x4xf32>, tensor<2x7x5x4xf32>, tensor<2x7x5x4xf32>, tensor<2x3x5x2xf32>, tensor<2x3x5x2x4xf32>) -> (tensor<2x3x5x2x4xf32>, tensor<2x7x5x4xf32>, tensor<2x7x5x4xf32>)
  %5, %6 = tp.attention %p, %m, %n {scale = 0.5 : f64, causal} : (tensor<3x9x2x2x4xbf16>, tensor<3x9x2x4xbf16>, tensor<3x9x2x4xbf16>) -> (tensor<3x9x2x2x4xbf16>, tensor<3x9x2x2xf32>)
  return
}

// CHECK-LABEL: func.func @changes(
// CHECK-SAME: collectives = 6 : i64
// CHECK-SAME: work = {"tp.all_gather all_gather(168, 3, 1)" = 1 : i64, "tp.all_reduce all_reduce(140, 2, 3)" = 1 : i64, "tp.all_reduce all_reduce(140, 3, 1)" = 1 : i64, "tp.all_reduce all_reduce(140, 6, 1)" = 1 : i64, "tp.all_reduce all_reduce(70, 2, 3)" = 1 : i64,
// CHECK-SAME: "tp.local_slice rows(0, 56)" = 1 : i64, "tp.mask_padding rows(0, 56)" = 1 : i64,
// CHECK-SAME: "tp.reduce_scatter reduce_scatter(168, 3, 1)" = 1 : i64}
func.func @changes(%x: tensor<5x7xf32>, %y: tensor<2x7xf32>, %z: tensor<6x7xf32>, %v: tensor<5x7xbf16>) attributes {tp.forward} {
  %0 = tp.all_reduce %x over ["a"] : tensor<5x7xf32> -> tensor<5x7xf32>
  %1 = tp.all_reduce %x over ["b"] : tensor<5x7xf32> -> tensor<5x7xf32>
  %2 = tp.all_reduce %x over ["a", "b"] : tensor<5x7xf32> -> tensor<5x7xf32>
  %3 = tp.all_reduce %v over ["a"] : tensor<5x7xbf16> -> tensor<5x7xbf16>
  %4 = tp.all_gather %y over ["b"] {dim = 0 : i64} : tensor<2x7xf32> -> tensor<6x7xf32>
  %5 = tp.reduce_scatter %z over ["b"] {dim = 0 : i64} : tensor<6x7xf32> -> tensor<2x7xf32>
  %6 = tp.local_slice %z over ["b"] {dim = 0 : i64, layout = #rows} : tensor<6x7xf32> -> tensor<2x7xf32>
  %7 = tp.mask_padding %y with 0.0 {layout = #padded} : tensor<2x7xf32> -> tensor<2x7xf32>
  return
}

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: flops = 0 : i64, picoseconds = 93200 : i64
// CHECK-SAME: work = {"tp.adamw rows(564, 420)" = 1 : i64, "tp.add rows(0, 140)" = 1 : i64, "tp.clip rows(0, 8)" = 1 : i64, "tp.embedding rows(0, 56)" = 1 : i64,
// CHECK-SAME: "tp.layer_norm_grad rows(0, 196)" = 1 : i64, "tp.row_max rows(0, 20)" = 1 : i64, "tp.shift_labels rows(0, 48)" = 1 : i64, "tp.softcap rows(0, 140)" = 1 : i64, "tp.sum_leading rows(0, 28)" = 1 : i64, "tp.sum_squares rows(140, 12)" = 1 : i64,
// CHECK-SAME: "tp.take_rows rows(0, 84)" = 1 : i64, "tp.token_loss rows(0, 8)" = 1 : i64}
func.func @rows(%x: tensor<5x7xf32>, %g: tensor<7xf32>, %s: tensor<f32>, %m: tensor<5x7xf32>, %v: tensor<5x7xf32>, %q: tensor<3xf32>, %ids: tensor<2xi32>, %labels: tensor<2x4xi64>, %r: tensor<5xf32>, %l: tensor<5xi32>) attributes {tp.forward} {
  %0 = tp.add %x, %g : (tensor<5x7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
  %1 = tp.softcap %x {cap = 3.0 : f64} : (tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = tp.cast %x : (tensor<5x7xf32>) -> tensor<5x7xbf16>
  %3, %4, %5 = tp.layer_norm_grad %x, %g, %x {eps = 1.0e-5 : f64} : (tensor<5x7xf32>, tensor<7xf32>, tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>)
  %6 = tp.sum_leading %x : (tensor<5x7xf32>) -> tensor<7xf32>
  %7 = tp.sum_squares %x : (tensor<5x7xf32>) -> tensor<3xf32>
  %8, %9 = tp.clip %q {max_norm = 1.0 : f64} : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  %10, %11, %12 = tp.adamw %x, %x, %m, %v, %s {beta1 = 0.9 : f64, beta2 = 0.999 : f64, eps = 1.0e-8 : f64, decay = 0.01 : f64} : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<f32>) -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>)
  %13 = tp.embedding %ids, %x : (tensor<2xi32>, tensor<5x7xf32>) -> tensor<2x7xf32>
  %14 = tp.take_rows %x : (tensor<5x7xf32>) -> tensor<3x7xf32>
  %15 = tp.shift_labels %labels : (tensor<2x4xi64>) -> tensor<2x3xi64>
  %16 = tp.row_max %x : (tensor<5x7xf32>) -> tensor<5xf32>
  %17, %18 = tp.token_loss %r, %r, %r, %l {ignore = -100 : i64} : (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: picoseconds = 0 : i64, saved_bytes = 0 : i64, work = {}
func.func @nothing(%x: tensor<5x14xf32>) attributes {tp.forward} {
  %0 = tp.reshape %x : (tensor<5x14xf32>) -> tensor<5x2x7xf32>
  %1 = tp.accumulate %x, %x : (tensor<5x14xf32>, tensor<5x14xf32>) -> tensor<5x14xf32>
  %2 = tp.seed : () -> tensor<f32>
  %3 = tp.constant {value = 2.0 : f64} : () -> tensor<f32>
  return
}
}
