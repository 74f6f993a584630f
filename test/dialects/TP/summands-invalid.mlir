// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// What is not linear takes no summands; what is linear in either operand takes them in one; a sum takes
// them in both.

#mesh = #tp.mesh<"tp"=2>
func.func @relu_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.relu' op cannot be used on axis "tp" with (P) -> (P)}}
  %r0 = tp.relu %a : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @silu_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.silu' op cannot be used on axis "tp" with (P) -> (P)}}
  %r0 = tp.silu %a : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @gelu_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.gelu' op cannot be used on axis "tp" with (P) -> (P)}}
  %r0 = tp.gelu %a : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @relu_grad_at_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
  // expected-error@+1 {{'tp.relu_grad' op cannot be used on axis "tp" with (P, C) -> (P)}}
  %r0 = tp.relu_grad %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @silu_grad_at_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
  // expected-error@+1 {{'tp.silu_grad' op cannot be used on axis "tp" with (P, C) -> (P)}}
  %r0 = tp.silu_grad %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @gelu_grad_at_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
  // expected-error@+1 {{'tp.gelu_grad' op cannot be used on axis "tp" with (P, C) -> (P)}}
  %r0 = tp.gelu_grad %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @product_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.mul' op cannot be used on axis "tp" with (P, P) -> (P)}}
  %r0 = tp.mul %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @sum_with_a_whole(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
  // expected-error@+1 {{'tp.add' op cannot be used on axis "tp" with (P, C) -> (P)}}
  %r0 = tp.add %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @matmul_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<5x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.matmul' op cannot be used on axis "tp" with (P, P) -> (P)}}
  %r0 = tp.matmul %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<5x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<3x5xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @wgrad_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3x5xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.matmul_wgrad' op cannot be used on axis "tp" with (P, P) -> (P)}}
  %r0 = tp.matmul_wgrad %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3x5xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<4x5xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @maximum_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.row_max' op cannot be used on axis "tp" with (P) -> (P)}}
  %r0 = tp.row_max %a : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @exponentials_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3xf32, #tp.layout<#mesh, [_] copied "tp">>) {
  // expected-error@+1 {{'tp.sum_exp' op cannot be used on axis "tp" with (P, C) -> (P)}}
  %r0 = tp.sum_exp %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3xf32, #tp.layout<#mesh, [_] copied "tp">>) -> tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @loss_grad_at_summands(%a: tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, %b: tensor<3xi32, #tp.layout<#mesh, [_]>>, %c: tensor<f32, #tp.layout<#mesh, [] copied "tp">>) {
  // expected-error@+1 {{'tp.token_loss_grad' op cannot be used on axis "tp" with (P, R, C) -> (P, P)}}
  %r0, %r1 = tp.token_loss_grad %a, %b, %c {ignore = 7 : i64} : (tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, tensor<3xi32, #tp.layout<#mesh, [_]>>, tensor<f32, #tp.layout<#mesh, [] copied "tp">>) -> (tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @loss_grad_of_two_sums(%a: tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, %b: tensor<3xi32, #tp.layout<#mesh, [_]>>, %c: tensor<f32, #tp.layout<#mesh, [] partial "tp">>) {
  // expected-error@+1 {{'tp.token_loss_grad' op cannot be used on axis "tp" with (P, R, P) -> (P, P)}}
  %r0, %r1 = tp.token_loss_grad %a, %b, %c {ignore = 7 : i64} : (tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, tensor<3xi32, #tp.layout<#mesh, [_]>>, tensor<f32, #tp.layout<#mesh, [] partial "tp">>) -> (tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @exponentials_grad_of_sums(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3xf32, #tp.layout<#mesh, [_] copied "tp">>, %c: tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>) {
  // expected-error@+1 {{'tp.sum_exp_grad' op cannot be used on axis "tp" with (P, C, P) -> (P)}}
  %r0 = tp.sum_exp_grad %a, %b, %c : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3xf32, #tp.layout<#mesh, [_] copied "tp">>, tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @relu_grad_of_two_sums(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.relu_grad' op cannot be used on axis "tp" with (P, P) -> (P)}}
  %r0 = tp.relu_grad %a, %b : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @loss_of_summands(%a: tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, %b: tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, %c: tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, %d: tensor<3xi32, #tp.layout<#mesh, [_]>>) {
  // expected-error@+1 {{'tp.token_loss' op cannot be used on axis "tp" with (P, P, P, R) -> (P, P)}}
  %r0, %r1 = tp.token_loss %a, %b, %c, %d {ignore = 7 : i64} : (tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>, tensor<3xi32, #tp.layout<#mesh, [_]>>) -> (tensor<f32, #tp.layout<#mesh, [] partial "tp">>, tensor<f32, #tp.layout<#mesh, [] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @mean_by_summands(%a: tensor<f32, #tp.layout<#mesh, [] partial "tp">>, %b: tensor<f32, #tp.layout<#mesh, [] partial "tp">>) {
  // expected-error@+1 {{'tp.mean' op cannot be used on axis "tp" with (P, P) -> (P)}}
  %r0 = tp.mean %a, %b : (tensor<f32, #tp.layout<#mesh, [] partial "tp">>, tensor<f32, #tp.layout<#mesh, [] partial "tp">>) -> tensor<f32, #tp.layout<#mesh, [] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @squares_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) {
  // expected-error@+1 {{'tp.sum_squares' op cannot be used on axis "tp" with (P) -> (P)}}
  %r0 = tp.sum_squares %a : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>) -> tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @clip_by_summands(%a: tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>) {
  // expected-error@+1 {{'tp.clip' op cannot be used on axis "tp" with (P) -> (P, P)}}
  %r0, %r1 = tp.clip %a : (tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>) -> (tensor<f32, #tp.layout<#mesh, [] partial "tp">>, tensor<f32, #tp.layout<#mesh, [] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @norm_of_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<4xf32, #tp.layout<#mesh, [_] copied "tp">>) {
  // expected-error@+1 {{'tp.rms_norm' op cannot be used on axis "tp" with (P, C) -> (P)}}
  %r0 = tp.rms_norm %a, %b {eps = 0.1 : f64} : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<4xf32, #tp.layout<#mesh, [_] copied "tp">>) -> tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @norm_grad_at_summands(%a: tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, %b: tensor<4xf32, #tp.layout<#mesh, [_] copied "tp">>, %c: tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
  // expected-error@+1 {{'tp.rms_norm_grad' op cannot be used on axis "tp" with (P, C, C) -> (P, P)}}
  %r0, %r1 = tp.rms_norm_grad %a, %b, %c {eps = 0.1 : f64} : (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<4xf32, #tp.layout<#mesh, [_] copied "tp">>, tensor<3x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) -> (tensor<3x4xf32, #tp.layout<#mesh, [_, _] partial "tp">>, tensor<4xf32, #tp.layout<#mesh, [_] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @attention_of_summands(%a: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] partial "tp">>, %b: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, %c: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>) {
  // expected-error@+1 {{'tp.attention' op cannot be used on axis "tp" with (P, C, C) -> (P, P)}}
  %r0, %r1 = tp.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] partial "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>) -> (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] partial "tp">>, tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, _, _, _] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @attention_grad_at_summands(%a: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] partial "tp">>, %b: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, %c: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, %d: tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, %e: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] copied "tp">>) {
  // expected-error@+1 {{'tp.attention_grad' op cannot be used on axis "tp" with (P, C, C, C, C) -> (P, P, P)}}
  %r0, %r1, %r2 = tp.attention_grad %a, %b, %c, %d, %e {scale = 0.5 : f64} : (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] partial "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] copied "tp">>) -> (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] partial "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] partial "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] partial "tp">>)
  return
}
