// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-differentiate
//
// What tp-differentiate refuses.

// expected-error@+1 {{tp-differentiate: no result has the role "loss"; mark it by {tp.role = "loss"}}}
func.func @no_loss(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error@+1 {{tp-differentiate: the loss must be a scalar}}
func.func @no_scalar(%x: tensor<6xf32>) -> (tensor<6xf32> {tp.role = "loss"}) {
  return %x : tensor<6xf32>
}

// -----

// expected-error@+1 {{tp-differentiate: the loss depends on no parameter that is trained}}
func.func @no_parameter(%x: tensor<f32>) -> (tensor<f32> {tp.role = "loss"}) {
  return %x : tensor<f32>
}

// -----

tp.parameter @w : tensor<3xf32> {id = 0 : i64, init = #tp.init<zeros>, frozen}
// expected-error@+1 {{tp-differentiate: the loss depends on no parameter that is trained}}
func.func @frozen() -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<3xf32>
  %s = tp.sum_squares %w : (tensor<3xf32>) -> tensor<3xf32>
  %y, %scale = tp.clip %s : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  return %y : tensor<f32>
}

// -----

tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @no_gradient() -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6xf32>
  %s = tp.sum_squares %w : (tensor<6xf32>) -> tensor<3xf32>
  // expected-error@+1 {{'tp.clip' op has no gradient, but the loss depends on it}}
  %y, %scale = tp.clip %s : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  return %y : tensor<f32>
}

// -----

// expected-error@+1 {{has phases after the forward already; this pass comes before tp-differentiate}}
func.func @twice() {
  tp.next ^backward
^backward:
  return
}
