// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=w=1:tp" --tp-insert-conjugates | FileCheck %s
//
// A parameter is used where it is stored, and another value of the same type and
// of features in both dimensions, here a product of two parameters, is changed
// as it is needed: they share no table of changes.
// CHECK-LABEL: func.func @main(
// CHECK: %[[E:.*]] = tp.matmul %{{.*}}, %{{.*}} : {{.*}} -> tensor<8x8xf32, #p2_tp>
// CHECK: %[[G:.*]] = tp.g %[[E]] over ["tp"]
// CHECK: tp.gelu %[[G]] :
tp.parameter @v : tensor<8x8xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @w : tensor<8x8xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @main(%x: tensor<6x8xf32>, %labels: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %v = tp.param @v : tensor<8x8xf32>
  %w = tp.param @w : tensor<8x8xf32>
  %e = tp.matmul %v, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = tp.gelu %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = tp.matmul %x, %g : (tensor<6x8xf32>, tensor<8x8xf32>) -> tensor<6x8xf32>
  %sum, %count = tp.cross_entropy %y, %labels : (tensor<6x8xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
