// RUN: tp-opt %s --tp-differentiate | FileCheck %s
//
// tp.cast: its gradient goes the other way, and a step in bf16 trains f32: what
// is summed over rows for a parameter is f32 from where it is made on.

tp.parameter @g : tensor<4xf32> {id = 0 : i64, init = #tp.init<ones>}
tp.parameter @b : tensor<4xf32> {id = 1 : i64, init = #tp.init<zeros>}
tp.parameter @t : tensor<10x4xf32> {id = 2 : i64, init = #tp.init<ones>}
// CHECK-LABEL: func.func @step(
// CHECK: tp.add {{.*}} -> tensor<6x4xbf16>
// CHECK: tp.next
// CHECK: %[[DP:.*]] = tp.pick_grad {{.*}} -> tensor<6x4xbf16>
// CHECK: %[[DY:.*]] = tp.accumulate {{.*}} -> tensor<6x4xbf16>
// CHECK-NOT: tp.cast
// CHECK: %[[DB:.*]] = tp.sum_leading %[[DY]] : (tensor<6x4xbf16>) -> tensor<4xf32>
// CHECK-NOT: tp.cast
// CHECK: %[[DX:.*]], %[[DG:.*]] = tp.rms_norm_grad {{.*}} -> (tensor<6x4xbf16>, tensor<4xf32>)
// CHECK-NOT: tp.cast
// CHECK: %[[DT:.*]] = tp.embedding_grad %{{.*}}, %[[DX]] : (tensor<6xi64>, tensor<6x4xbf16>) -> tensor<10x4xf32>
// CHECK-NOT: tp.cast
// CHECK-DAG: tp.output "gradient" gradient @g, %[[DG]] : tensor<4xf32>
// CHECK-DAG: tp.output "gradient" gradient @b, %[[DB]] : tensor<4xf32>
// CHECK-DAG: tp.output "gradient" gradient @t, %[[DT]] : tensor<10x4xf32>
func.func @step(%ids: tensor<6xi64>, %l: tensor<6xi64>) -> (tensor<f32> {tp.role = "loss"}) {
  %t = tp.param @t : tensor<10x4xf32>
  %g = tp.param @g : tensor<4xf32>
  %b = tp.param @b : tensor<4xf32>
  %tn = tp.cast %t : (tensor<10x4xf32>) -> tensor<10x4xbf16>
  %gn = tp.cast %g : (tensor<4xf32>) -> tensor<4xbf16>
  %bn = tp.cast %b : (tensor<4xf32>) -> tensor<4xbf16>
  %x = tp.embedding %ids, %tn : (tensor<6xi64>, tensor<10x4xbf16>) -> tensor<6x4xbf16>
  %n = tp.rms_norm %x, %gn {eps = 0.1 : f64} : (tensor<6x4xbf16>, tensor<4xbf16>) -> tensor<6x4xbf16>
  %y = tp.add %n, %bn : (tensor<6x4xbf16>, tensor<4xbf16>) -> tensor<6x4xbf16>
  %m = tp.row_max %y : (tensor<6x4xbf16>) -> tensor<6xf32>
  %e = tp.sum_exp %y, %m : (tensor<6x4xbf16>, tensor<6xf32>) -> tensor<6xf32>
  %k = tp.pick %y, %l : (tensor<6x4xbf16>, tensor<6xi64>) -> tensor<6xf32>
  %s, %c = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}
