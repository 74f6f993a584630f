// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-differentiate | FileCheck %s
//
// tp.softcap: its gradient reads the result, not the operand.

tp.parameter @w : tensor<6x4xf32> {id = 0 : i64, init = #tp.init<ones>}
// CHECK-LABEL: func.func @step(
// CHECK: %[[Y:.*]] = tp.softcap %{{.*}} {cap = 5.000000e+01 : f64}
// CHECK: tp.softcap_grad %[[Y]], %{{.*}} {cap = 5.000000e+01 : f64}
func.func @step(%l: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6x4xf32>
  %y = tp.softcap %w {cap = 50.0 : f64} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %m = tp.row_max %y : (tensor<6x4xf32>) -> tensor<6xf32>
  %e = tp.sum_exp %y, %m : (tensor<6x4xf32>, tensor<6xf32>) -> tensor<6xf32>
  %k = tp.pick %y, %l : (tensor<6x4xf32>, tensor<6xi32>) -> tensor<6xf32>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %s, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @cap_of_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'tp.softcap' op attribute 'cap' failed to satisfy constraint: 64-bit float attribute that is positive and finite in float32}}
  %y = tp.softcap %x {cap = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
