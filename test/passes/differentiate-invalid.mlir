// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-differentiate
//
// What tp-differentiate refuses.

// expected-error@+1 {{tp-differentiate: no result has the role "loss"; mark it by {tp.role = "loss"}, or the function by tp.forward if it is only evaluated}}
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

// -----

// A maximum has no gradient, so a loss that contains one is refused.
tp.parameter @w : tensor<6x9xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @maximum(%l: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6x9xf32>
  // expected-error@+1 {{'tp.row_max' op has no gradient, but the loss depends on it}}
  %m = tp.row_max %w : (tensor<6x9xf32>) -> tensor<6xf32>
  %e = tp.sum_exp %w, %m : (tensor<6x9xf32>, tensor<6xf32>) -> tensor<6xf32>
  %s, %n = tp.token_loss %m, %e, %m, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}

// -----

// The maximum cancels only with the sum that subtracts it.
tp.parameter @w : tensor<6x9xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @m : tensor<6xf32> {id = 1 : i64, init = #tp.init<zeros>}
func.func @another_maximum(%l: tensor<6xi32>, %c: tensor<6xf32>) -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6x9xf32>
  %m = tp.param @m : tensor<6xf32>
  %e = tp.sum_exp %w, %c : (tensor<6x9xf32>, tensor<6xf32>) -> tensor<6xf32>
  %k = tp.pick %w, %l : (tensor<6x9xf32>, tensor<6xi32>) -> tensor<6xf32>
  // expected-error@+1 {{'tp.token_loss' op has no gradient of its result 0 in its operand 0, but the loss depends on a trained parameter through them; if it is meant as a constant, put tp.stop_gradient on the operand}}
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}

// -----

// A sum of exponentials that is picked as well: its maximum counts there.
tp.parameter @w : tensor<6x9xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @m : tensor<6xf32> {id = 1 : i64, init = #tp.init<zeros>}
func.func @sum_read_twice(%l: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6x9xf32>
  %m = tp.param @m : tensor<6xf32>
  // expected-error@+1 {{'tp.sum_exp' op has no gradient of its result 0 in its operand 1, but the loss depends on a trained parameter through them; if it is meant as a constant, put tp.stop_gradient on the operand}}
  %e = tp.sum_exp %w, %m : (tensor<6x9xf32>, tensor<6xf32>) -> tensor<6xf32>
  %s, %n = tp.token_loss %m, %e, %e, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}

// -----

// A sum divided by itself.
tp.parameter @w : tensor<6x9xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @count(%l: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6x9xf32>
  %m = tp.row_max %w : (tensor<6x9xf32>) -> tensor<6xf32>
  %e = tp.sum_exp %w, %m : (tensor<6x9xf32>, tensor<6xf32>) -> tensor<6xf32>
  %k = tp.pick %w, %l : (tensor<6x9xf32>, tensor<6xi32>) -> tensor<6xf32>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  // expected-error@+1 {{'tp.mean' op has no gradient of its result 0 in its operand 1, but the loss depends on a trained parameter through them; if it is meant as a constant, put tp.stop_gradient on the operand}}
  %y = tp.mean %s, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// The number of labels depends on no parameter.
tp.parameter @w : tensor<6x9xf32> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{tp-differentiate: the loss depends on no parameter that is trained}}
func.func @number_of_labels(%l: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6x9xf32>
  %m = tp.row_max %w : (tensor<6x9xf32>) -> tensor<6xf32>
  %e = tp.sum_exp %w, %m : (tensor<6x9xf32>, tensor<6xf32>) -> tensor<6xf32>
  %k = tp.pick %w, %l : (tensor<6x9xf32>, tensor<6xi32>) -> tensor<6xf32>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return %n : tensor<f32>
}

// -----

// Attention's logarithms of sums are for its own gradient.
tp.parameter @q : tensor<2x3x2x3x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @logarithms(%k: tensor<2x3x2x4xf32>, %c: tensor<2x3x2x3xf32>, %l: tensor<2x3x2x3xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %q = tp.param @q : tensor<2x3x2x3x4xf32>
  // expected-error@+1 {{'tp.attention' op has no gradient of its result 1 in its operand 0, but the loss depends on a trained parameter through them; if it is meant as a constant, put tp.stop_gradient on the operand}}
  %y, %lse = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<2x3x2x3x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> (tensor<2x3x2x3x4xf32>, tensor<2x3x2x3xf32>)
  %s, %n = tp.token_loss %c, %c, %lse, %l {ignore = -100 : i64} : (tensor<2x3x2x3xf32>, tensor<2x3x2x3xf32>, tensor<2x3x2x3xf32>, tensor<2x3x2x3xi32>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}

// -----

// expected-error@+1 {{two results have the role "loss"; a value leaves the step under a name of its own}}
func.func @two_losses(%x: tensor<f32>) -> (tensor<f32> {tp.role = "loss"}, tensor<f32> {tp.role = "loss"}) {
  return %x, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error@+1 {{is forward only and returns nothing, so there is nothing to run it for}}
func.func @nothing(%x: tensor<f32>) attributes {tp.forward} {
  return
}

// -----

// expected-error@+1 {{result 0 has the role "grad_norm", under which the step's own leaves; give it another one}}
func.func @norm(%x: tensor<f32>) -> (tensor<f32> {tp.role = "grad_norm"}) {
  return %x : tensor<f32>
}
