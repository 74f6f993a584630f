// RUN: tp-opt %s --tp-mixed-precision=grad-reduce=bf16 | FileCheck %s --check-prefix=GRAPH
// RUN: tp-opt %s --tp-step="mesh=tp=2 pin=up=0:tp pin=down=1:tp dtype=bf16" | FileCheck %s --check-prefix=WIDE
// RUN: tp-opt %s --tp-step="mesh=tp=2 pin=up=0:tp pin=down=1:tp dtype=bf16 grad-reduce=bf16" -o %t.step.mlir
// RUN: FileCheck %s --input-file=%t.step.mlir
// RUN: tp-opt %t.step.mlir --tp-partition --tp-verify-phase=phase=local --tp-count | FileCheck %s --check-prefix=LOCAL
// RUN: tp-opt %s --tp-step="mesh=tp=1 dtype=bf16 grad-reduce=bf16" | FileCheck %s --check-prefix=ONE
// RUN: not tp-opt %s --tp-step="grad-reduce=bf16" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not tp-opt %s --tp-step="dtype=bf16 grad-reduce=f16" 2>&1 | FileCheck %s --check-prefix=VALUE
//
// Gradients of a bias of each head and of a weight that heads share are summed over ranks: in float32,
// or in bf16 where tp.param says so. What makes a share rounds it: the product of rows, or
// tp.round_share behind a sum. The sum is widened at once, and the price is that of what moves.

// GRAPH: func.func @main
// GRAPH: tp.param @wte {round_shares} : tensor<32x16xbf16>
// GRAPH: tp.param @gamma : tensor<16xf32>
// GRAPH: tp.param @mix {round_shares} : tensor<16x16xbf16>
// GRAPH: func.func @evaluate
// GRAPH: tp.param @mix : tensor<16x16xbf16>

// WIDE: func.func @main{{.*}}"tp.all_reduce all_reduce(1024, 2, 1)" = 1 : i64{{.*}}"tp.all_reduce all_reduce(64, 2, 1)" = 1 : i64{{.*}}"tp.matmul_wgrad gemm(1, 16, 16, 24; 2, 2, 4)" = 2 : i64
// WIDE-NOT: round_share
// WIDE: tp.g {{.*}} : tensor<16x16xf32, #p2_tp> -> tensor<16x16xf32, #r2>
// WIDE: tp.g {{.*}} : tensor<16xf32, #p1_tp> -> tensor<16xf32, #r1>
// WIDE: func.func @evaluate

// CHECK: func.func @main{{.*}}"tp.all_reduce all_reduce(32, 2, 1)" = 1 : i64{{.*}}"tp.all_reduce all_reduce(512, 2, 1)" = 1 : i64{{.*}}"tp.matmul_wgrad gemm(1, 16, 16, 24; 2, 2, 2)" = 2 : i64
// CHECK: tp.next
// The weight has two uses: shares add up in float32 before they are rounded again.
// CHECK: %[[FIRST:.*]] = tp.matmul_wgrad {{.*}} -> tensor<16x16xbf16, #p2_tp>
// CHECK: %[[SECOND:.*]] = tp.matmul_wgrad {{.*}} -> tensor<16x16xbf16, #p2_tp>
// CHECK: %[[A:.*]] = tp.cast %[[FIRST]] : {{.*}} -> tensor<16x16xf32, #p2_tp>
// CHECK: %[[B:.*]] = tp.cast %[[SECOND]] : {{.*}} -> tensor<16x16xf32, #p2_tp>
// CHECK: %[[SUM:.*]] = tp.accumulate %[[A]], %[[B]]
// CHECK: %[[SHARE:.*]] = tp.round_share %[[SUM]] : {{.*}} -> tensor<16x16xbf16, #p2_tp>
// CHECK: %[[WHOLE:.*]] = tp.g %[[SHARE]] {{.*}} : tensor<16x16xbf16, #p2_tp> -> tensor<16x16xbf16, #r2>
// CHECK: %[[MIX:.*]] = tp.cast %[[WHOLE]] : {{.*}} -> tensor<16x16xf32, #r2>
// CHECK: %[[ROWS:.*]] = tp.sum_leading {{.*}} -> tensor<16xf32, #p1_tp>
// CHECK: %[[ROUNDED:.*]] = tp.round_share %[[ROWS]] : {{.*}} -> tensor<16xbf16, #p1_tp>
// CHECK: %[[BIAS:.*]] = tp.g %[[ROUNDED]] {{.*}} : tensor<16xbf16, #p1_tp> -> tensor<16xbf16, #r1>
// CHECK: tp.cast %[[BIAS]] : {{.*}} -> tensor<16xf32, #r1>
// What ranks have no shares of is float32 from where it is made on.
// CHECK: tp.matmul_wgrad {{.*}} -> tensor<64x16xf32, #s2_tp_d0_64>
// CHECK: tp.sum_squares %[[MIX]] : (tensor<16x16xf32, #r2>)

// LOCAL: func.func @main
// LOCAL: tp.all_reduce {{.*}} : tensor<16x16xbf16> -> tensor<16x16xbf16>
// LOCAL: tp.all_reduce {{.*}} : tensor<16xbf16> -> tensor<16xbf16>

// ONE: func.func @main
// ONE-NOT: tp.round_share %
// ONE: func.func @evaluate

// ALONE: error: tp-mixed-precision: dtype=f32 with grad-reduce=bf16; wanted dtype=bf16, with grad-reduce=f32 or bf16
// VALUE: error: tp-mixed-precision: dtype=bf16 with grad-reduce=f16; wanted dtype=bf16, with grad-reduce=f32 or bf16
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @gamma : tensor<16xf32> {id = 1 : i64, init = #tp.init<ones>}
  tp.parameter @up : tensor<64x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @bias : tensor<16xf32> {id = 3 : i64, init = #tp.init<normal 1.0, 0.5>}
  tp.parameter @mix : tensor<16x16xf32> {id = 4 : i64, init = #tp.init<normal 0.0, 0.25>}
  tp.parameter @down : tensor<16x64xf32> {id = 5 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x6xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x7xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x6xi32>, tensor<32x16xf32>) -> tensor<2x6x16xf32>
    %gamma = tp.param @gamma : tensor<16xf32>
    %n = tp.rms_norm %x, %gamma {eps = 0.1 : f64} : (tensor<2x6x16xf32>, tensor<16xf32>) -> tensor<2x6x16xf32>
    %up = tp.param @up : tensor<64x16xf32>
    %u = tp.matmul %n, %up : (tensor<2x6x16xf32>, tensor<64x16xf32>) -> tensor<2x6x64xf32>
    %heads = tp.reshape %u : (tensor<2x6x64xf32>) -> tensor<2x6x4x16xf32>
    %bias = tp.param @bias : tensor<16xf32>
    %each = tp.add %heads, %bias : (tensor<2x6x4x16xf32>, tensor<16xf32>) -> tensor<2x6x4x16xf32>
    %a = tp.silu %each : (tensor<2x6x4x16xf32>) -> tensor<2x6x4x16xf32>
    %mix = tp.param @mix : tensor<16x16xf32>
    %once = tp.matmul %a, %mix : (tensor<2x6x4x16xf32>, tensor<16x16xf32>) -> tensor<2x6x4x16xf32>
    %bent = tp.silu %once : (tensor<2x6x4x16xf32>) -> tensor<2x6x4x16xf32>
    %twice = tp.matmul %bent, %mix : (tensor<2x6x4x16xf32>, tensor<16x16xf32>) -> tensor<2x6x4x16xf32>
    %joined = tp.reshape %twice : (tensor<2x6x4x16xf32>) -> tensor<2x6x64xf32>
    %down = tp.param @down : tensor<16x64xf32>
    %y = tp.matmul %joined, %down : (tensor<2x6x64xf32>, tensor<16x64xf32>) -> tensor<2x6x16xf32>
    %z = tp.add %x, %y : (tensor<2x6x16xf32>, tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x6x16xf32>, tensor<32x16xf32>) -> tensor<2x6x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x7xi32>) -> tensor<2x6xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x6x32xf32>, tensor<2x6xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  func.func @evaluate(%x: tensor<3x16xf32> {tp.input = #tp.input<data "x">}) -> tensor<3x16xf32> attributes {tp.forward} {
    %mix = tp.param @mix : tensor<16x16xf32>
    %y = tp.matmul %x, %mix : (tensor<3x16xf32>, tensor<16x16xf32>) -> tensor<3x16xf32>
    return %y : tensor<3x16xf32>
  }
}
