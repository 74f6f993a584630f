// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Element types that do not go together: one for all floats of an op, one for
// all its integers, and float32 for what needs it.

func.func @f64(%x: tensor<6x4xf64>) {
  // expected-error@+1 {{'tp.gelu' op operand #0 must be statically shaped tensor of 32-bit float or bfloat16 type values, but got 'tensor<6x4xf64>'}}
  %y = tp.gelu %x : (tensor<6x4xf64>) -> tensor<6x4xf64>
  return
}

// -----

func.func @i8(%ids: tensor<6xi8>, %t: tensor<10x4xf32>) {
  // expected-error@+1 {{'tp.embedding' op operand #0 must be statically shaped tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<6xi8>'}}
  %y = tp.embedding %ids, %t : (tensor<6xi8>, tensor<10x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @matmul(%x: tensor<6x4xbf16>, %w: tensor<10x4xf32>) {
  // expected-error@+1 {{'tp.matmul' op failed to verify that all of {x, w} have same element type}}
  %y = tp.matmul %x, %w : (tensor<6x4xbf16>, tensor<10x4xf32>) -> tensor<6x10xbf16>
  return
}

// -----

func.func @narrow_product(%x: tensor<6x4xf32>, %w: tensor<10x4xf32>) {
  // expected-error@+1 {{'tp.matmul' op failed to verify that y has the element type of x or f32}}
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<10x4xf32>) -> tensor<6x10xbf16>
  return
}

// -----

func.func @dgrad(%w: tensor<10x4xf32>, %dy: tensor<6x10xf32>) {
  // expected-error@+1 {{'tp.matmul_dgrad' op failed to verify that dx has the element type of dy or f32}}
  %y = tp.matmul_dgrad %dy, %w : (tensor<6x10xf32>, tensor<10x4xf32>) -> tensor<6x4xbf16>
  return
}

// -----

func.func @wgrad(%x: tensor<6x4xf32>, %dy: tensor<6x10xf32>) {
  // expected-error@+1 {{'tp.matmul_wgrad' op failed to verify that dw has the element type of dy or f32}}
  %y = tp.matmul_wgrad %dy, %x : (tensor<6x10xf32>, tensor<6x4xf32>) -> tensor<10x4xbf16>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p = #tp.layout<#mesh, [_, _] partial "tp">
func.func @rounded_summands(%x: tensor<6x4xf32, #p>) {
  // expected-error@+1 {{'tp.cast' op cannot be used on axis "tp" with (P) -> (P); the nearest way is replicated, which wants (R) -> (R): put tp.g on operand 0}}
  %y = tp.cast %x : (tensor<6x4xf32, #p>) -> tensor<6x4xbf16, #p>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#c = #tp.layout<#mesh, [_, _] copied "tp">
func.func @rounded_shares(%x: tensor<6x4xbf16, #c>) {
  // expected-error@+1 {{'tp.cast' op cannot be used on axis "tp" with (C) -> (C); the nearest way is}}
  %y = tp.cast %x : (tensor<6x4xbf16, #c>) -> tensor<6x4xf32, #c>
  return
}

// -----

// State is f32 whatever the parameter is.
tp.parameter @w : tensor<6x4xbf16> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{'tp.state' op attribute 'type' failed to satisfy constraint: type attribute of statically shaped tensor of 32-bit float values}}
tp.state @w.m of @w "exp_avg" : tensor<6x4xbf16>

// -----

tp.parameter @w : tensor<6x4xbf16> {id = 0 : i64, init = #tp.init<zeros>}
func.func @gradient(%x: tensor<6x4xbf16>) {
  // expected-error@+1 {{'tp.output' op C1: the gradient of @w has 'tensor<6x4xbf16>', wanted 'tensor<6x4xf32>'}}
  tp.output "gradient" gradient @w, %x : tensor<6x4xbf16>
  return
}

// -----

func.func @embedding(%ids: tensor<6xi32>, %t: tensor<10x4xbf16>) {
  // expected-error@+1 {{'tp.embedding' op failed to verify that all of {table, y} have same element type}}
  %y = tp.embedding %ids, %t : (tensor<6xi32>, tensor<10x4xbf16>) -> tensor<6x4xf32>
  return
}

// -----

func.func @embedding_grad(%ids: tensor<6xi32>, %dy: tensor<6x4xbf16>) {
  // expected-error@+1 {{'tp.embedding_grad' op result #0 must be statically shaped tensor of 32-bit float values, but got 'tensor<10x4xbf16>'}}
  %y = tp.embedding_grad %ids, %dy : (tensor<6xi32>, tensor<6x4xbf16>) -> tensor<10x4xbf16>
  return
}

// -----

func.func @labels(%labels: tensor<2x7xi64>) {
  // expected-error@+1 {{'tp.shift_labels' op failed to verify that all of {labels, shifted} have same element type}}
  %s = tp.shift_labels %labels : (tensor<2x7xi64>) -> tensor<2x6xi32>
  return
}

// -----

func.func @bias(%x: tensor<6x4xbf16>, %b: tensor<4xf32>) {
  // expected-error@+1 {{'tp.add' op failed to verify that all of {lhs, rhs, y} have same element type}}
  %y = tp.add %x, %b : (tensor<6x4xbf16>, tensor<4xf32>) -> tensor<6x4xbf16>
  return
}

// -----

func.func @unary(%x: tensor<6x4xbf16>) {
  // expected-error@+1 {{'tp.silu' op failed to verify that all of {x, y} have same element type}}
  %y = tp.silu %x : (tensor<6x4xbf16>) -> tensor<6x4xf32>
  return
}

// -----

func.func @norm(%x: tensor<6x4xbf16>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'tp.rms_norm' op failed to verify that all of {x, gamma, y} have same element type}}
  %y = tp.rms_norm %x, %g {eps = 0.1 : f64} : (tensor<6x4xbf16>, tensor<4xf32>) -> tensor<6x4xbf16>
  return
}

// -----

func.func @norm_grad(%x: tensor<6x4xbf16>, %g: tensor<4xbf16>) {
  // expected-error@+1 {{'tp.rms_norm_grad' op result #1 must be statically shaped tensor of 32-bit float values, but got 'tensor<4xbf16>'}}
  %r:2 = tp.rms_norm_grad %x, %g, %x {eps = 0.1 : f64} : (tensor<6x4xbf16>, tensor<4xbf16>, tensor<6x4xbf16>) -> (tensor<6x4xbf16>, tensor<4xbf16>)
  return
}

// -----

func.func @reshape(%x: tensor<6x4xbf16>) {
  // expected-error@+1 {{'tp.reshape' op failed to verify that all of {x, y} have same element type}}
  %y = tp.reshape %x : (tensor<6x4xbf16>) -> tensor<24xf32>
  return
}

// -----

func.func @attention(%q: tensor<2x3x2x1x4xbf16>, %k: tensor<2x3x2x4xf32>) {
  // expected-error@+1 {{'tp.attention' op failed to verify that all of {q, k, v, y} have same element type}}
  %y, %lse = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x1xf32>)
  return
}

// -----

func.func @lse(%q: tensor<2x3x2x1x4xbf16>, %k: tensor<2x3x2x4xbf16>) {
  // expected-error@+1 {{'tp.attention' op result #1 must be statically shaped tensor of 32-bit float values, but got 'tensor<2x3x2x1xbf16>'}}
  %y, %lse = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>) -> (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x1xbf16>)
  return
}

// -----

func.func @statistics(%x: tensor<6x10xbf16>) {
  // expected-error@+1 {{'tp.row_max' op result #0 must be statically shaped tensor of 32-bit float values, but got 'tensor<6xbf16>'}}
  %max = tp.row_max %x : (tensor<6x10xbf16>) -> tensor<6xbf16>
  return
}

// -----

func.func @loss(%x: tensor<6x10xbf16>, %labels: tensor<6xi64>) {
  // expected-error@+1 {{'tp.cross_entropy' op result #0 must be 0D tensor of 32-bit float values, but got 'tensor<bf16>'}}
  %sum, %count = tp.cross_entropy %x, %labels : (tensor<6x10xbf16>, tensor<6xi64>) -> (tensor<bf16>, tensor<f32>)
  return
}

// -----

func.func @optimizer(%p: tensor<6x4xbf16>, %m: tensor<6x4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{'tp.adamw' op operand #0 must be statically shaped tensor of 32-bit float values, but got 'tensor<6x4xbf16>'}}
  %n:3 = tp.adamw %p, %p, %m, %m, %s {beta1 = 0.9 : f64, beta2 = 0.9 : f64, eps = 0.1 : f64, decay = 0.0 : f64} : (tensor<6x4xbf16>, tensor<6x4xbf16>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<f32>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>)
  return
}

// -----

func.func @cast(%x: tensor<6x4xi32>) {
  // expected-error@+1 {{'tp.cast' op operand #0 must be statically shaped tensor of 32-bit float or bfloat16 type values, but got 'tensor<6x4xi32>'}}
  %y = tp.cast %x : (tensor<6x4xi32>) -> tensor<6x4xf32>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r = #tp.layout<#mesh, [_, _]>
#c = #tp.layout<#mesh, [_, _] copied "tp">
func.func @change(%x: tensor<6x4xbf16, #r>) {
  // expected-error@+1 {{'tp.f' op C1}}
  %y = tp.f %x over ["tp"] : tensor<6x4xbf16, #r> -> tensor<6x4xf32, #c>
  return
}

// -----

func.func @bf16_loss(%x: tensor<bf16>) {
  // expected-error@+1 {{'tp.output' op C3: "loss" is f32, not 'bf16'; put tp.cast on it}}
  tp.output "loss", %x : tensor<bf16>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
// expected-error@+1 {{'tp.parameter' op C6: 'tensor<3x4xbf16>' is not the block that a rank has of}}
tp.parameter @w : tensor<3x4xbf16> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<6x4xf32, #rows>}
