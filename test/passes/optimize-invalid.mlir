// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-optimize
//
// What tp-optimize refuses.

// expected-error@+1 {{tp-optimize: the step has no gradients; run tp-differentiate first}}
func.func @no_gradients() {
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}]>
tp.parameter @w : tensor<6xf32, #rows> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{tp-optimize: the gradient of @w lies on #tp.mesh<"tp"=2>, which is not the module's tp.mesh}}
func.func @no_mesh() {
  %w = tp.param @w : tensor<6xf32, #rows>
  tp.output "gradient" gradient @w, %w : tensor<6xf32, #rows>
  return
}

// -----

tp.parameter @w : tensor<6xbf16> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{tp-optimize: @w.master is what the optimizer's state of @w is called; rename it}}
tp.parameter @w.master : tensor<6xf32> {id = 1 : i64, init = #tp.init<zeros>}
func.func @taken_name(%dw: tensor<6xf32>) {
  %w = tp.param @w : tensor<6xbf16>
  tp.output "gradient" gradient @w, %dw : tensor<6xf32>
  return
}
