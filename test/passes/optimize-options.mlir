// RUN: tp-opt %s --tp-optimize="keep-gradients=true" | FileCheck %s
// RUN: not tp-opt %s --tp-optimize --tp-optimize 2>&1 | FileCheck %s --check-prefix=TWICE
//
// Without options: decay of 0.01, no clipping; gradients stay on demand.

// TWICE: error: tp-optimize: the step has no gradients; run tp-differentiate first
// CHECK: module attributes {tp.optimizer = {beta1 = 9.000000e-01 : f64, beta2 = 0.99{{.*}} : f64, clip_grad_norm = 0.000000e+00 : f64, eps = 1.000000e-08 : f64, weight_decay = 1.000000e-02 : f64}}
// CHECK: tp.output "gradient" gradient @w
// CHECK: tp.clip %{{.*}} : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
// CHECK: tp.adamw %{{.*}} decay = 1.000000e-02
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @main(%dw: tensor<8x4xf32>) {
  %w = tp.param @w : tensor<8x4xf32>
  tp.output "gradient" gradient @w, %dw : tensor<8x4xf32>
  return
}
