// RUN: tp-opt %s --tp-shard=mesh=tp=1 --tp-insert-conjugates --tp-differentiate --tp-optimize --tp-partition --tp-count | FileCheck %s
//
// Three matmuls, of one shape and used in one way, are not the same work: the
// first has no gradient in its input, the last none in its frozen weight. tp-count
// fails where the step does other work than was predicted.

// CHECK: tp.counted = {bytes = 0 : i64, collectives = 0 : i64,
// CHECK-SAME: "tp.matmul gemm(1, 6, 16, 16; 4, 4, 4)" = 3 : i64,
// CHECK-SAME: "tp.matmul_dgrad gemm(1, 6, 16, 16; 4, 4, 4)" = 2 : i64,
// CHECK-SAME: "tp.matmul_wgrad gemm(1, 16, 16, 6; 4, 4, 4)" = 2 : i64
tp.parameter @a : tensor<16x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @b : tensor<16x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @c : tensor<16x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>, frozen}
func.func @main(%x: tensor<6x16xf32>, %labels: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %a = tp.param @a : tensor<16x16xf32>
  %b = tp.param @b : tensor<16x16xf32>
  %c = tp.param @c : tensor<16x16xf32>
  %u = tp.matmul %x, %a : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
  %v = tp.matmul %u, %b : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
  %y = tp.matmul %v, %c : (tensor<6x16xf32>, tensor<16x16xf32>) -> tensor<6x16xf32>
  %sum, %count = tp.cross_entropy %y, %labels : (tensor<6x16xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
