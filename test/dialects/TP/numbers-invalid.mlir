// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Numbers in attributes: each has a range, and what lies outside of it is
// refused at the op.

// expected-error@+1 {{'tp.parameter' op attribute 'id' failed to satisfy constraint: 64-bit signless integer attribute from 0 to 4294967295}}
tp.parameter @w : tensor<8xf32> {id = -1 : i64, init = #tp.init<zeros>}

// -----

// expected-error@+1 {{'tp.parameter' op attribute 'id' failed to satisfy constraint: 64-bit signless integer attribute from 0 to 4294967295}}
tp.parameter @w : tensor<8xf32> {id = -2 : i64, init = #tp.init<zeros>}

// -----

// expected-error@+1 {{'tp.parameter' op attribute 'id' failed to satisfy constraint: 64-bit signless integer attribute from 0 to 4294967295}}
tp.parameter @w : tensor<8xf32> {id = 4294967296 : i64, init = #tp.init<zeros>}

// -----

// The largest id.
tp.parameter @w : tensor<8xf32> {id = 4294967295 : i64, init = #tp.init<zeros>}

// -----

func.func @dropout_id(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.dropout' op attribute 'id' failed to satisfy constraint: 64-bit signless integer attribute from 0 to 4294967295}}
  %y = tp.dropout %x {p = 0.5 : f64, id = 4294967296 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @dropout_of_everything(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.dropout' op attribute 'p' failed to satisfy constraint: 64-bit float attribute from 0 to less than 1}}
  %y = tp.dropout %x {p = 1.0 : f64, id = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @dropout_nan(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.dropout' op attribute 'p' failed to satisfy constraint: 64-bit float attribute from 0 to less than 1}}
  %y = tp.dropout %x {p = 0x7FF8000000000000 : f64, id = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @attention_dropout(%q: tensor<2x3x2x3x4xf32>, %k: tensor<2x3x2x4xf32>) {
  // expected-error@+1 {{'tp.attention' op attribute 'dropout' failed to satisfy constraint: 64-bit float attribute from 0 to less than 1}}
  %y, %l = tp.attention %q, %k, %k {scale = 0.5 : f64, dropout = -0.1 : f64} : (tensor<2x3x2x3x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> (tensor<2x3x2x3x4xf32>, tensor<2x3x2x3xf32>)
  return
}

// -----

func.func @attention_id(%q: tensor<2x3x2x3x4xf32>, %k: tensor<2x3x2x4xf32>) {
  // expected-error@+1 {{'tp.attention' op attribute 'id' failed to satisfy constraint: 64-bit signless integer attribute from 0 to 4294967295}}
  %y, %l = tp.attention %q, %k, %k {scale = 0.5 : f64, id = -1 : i64} : (tensor<2x3x2x3x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> (tensor<2x3x2x3x4xf32>, tensor<2x3x2x3xf32>)
  return
}

// -----

func.func @attention_scale(%q: tensor<2x3x2x3x4xf32>, %k: tensor<2x3x2x4xf32>) {
  // expected-error@+1 {{'tp.attention' op attribute 'scale' failed to satisfy constraint: 64-bit float attribute that is finite in float32}}
  %y, %l = tp.attention %q, %k, %k {scale = 1.0e39 : f64} : (tensor<2x3x2x3x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> (tensor<2x3x2x3x4xf32>, tensor<2x3x2x3xf32>)
  return
}

// -----

func.func @scale(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.scale' op attribute 'factor' failed to satisfy constraint: 64-bit float attribute that is finite in float32}}
  %y = tp.scale %x {factor = 0xFFF0000000000000 : f64} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @rotary_scale(%x: tensor<2x3x5x4xf32>) {
  // expected-error@+1 {{'tp.rotary' op attribute 'scale' failed to satisfy constraint: 64-bit float attribute that is finite in float32}}
  %y = tp.rotary %x {frequencies = array<f64: 1.0, 0.1>, scale = 0x7FF8000000000000 : f64} : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  return
}

// -----

// 1e-60 is 0 in float32.
func.func @layer_norm_eps(%x: tensor<6x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'tp.layer_norm' op attribute 'eps' failed to satisfy constraint: 64-bit float attribute that is positive and finite in float32}}
  %y = tp.layer_norm %x, %g, %g {eps = 1.0e-60 : f64} : (tensor<6x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @rms_norm_eps(%x: tensor<6x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'tp.rms_norm' op attribute 'eps' failed to satisfy constraint: 64-bit float attribute that is positive and finite in float32}}
  %y = tp.rms_norm %x, %g {eps = 0.0 : f64} : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @ignored_label(%x: tensor<6x4xf32>, %l: tensor<6xi32>) {
  // expected-error@+1 {{'tp.cross_entropy' op attribute 'ignore' failed to satisfy constraint: 64-bit signless integer attribute that fits a label's 32 bits}}
  %s, %n = tp.cross_entropy %x, %l {ignore = 4294967196 : i64} : (tensor<6x4xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @ignored_token(%x: tensor<6xf32>, %l: tensor<6xi32>) {
  // expected-error@+1 {{'tp.token_loss' op attribute 'ignore' failed to satisfy constraint: 64-bit signless integer attribute that fits a label's 32 bits}}
  %s, %n = tp.token_loss %x, %x, %x, %l {ignore = -4294967396 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @constant() {
  // expected-error@+1 {{'tp.constant' op attribute 'value' failed to satisfy constraint: 64-bit float attribute that is finite in float32}}
  %c = tp.constant {value = 0x7FF8000000000000 : f64} : () -> tensor<f32>
  return
}

// -----

func.func @clip(%s: tensor<f32>) {
  // expected-error@+1 {{'tp.clip' op attribute 'max_norm' failed to satisfy constraint: 64-bit float attribute that is positive and finite in float32}}
  %n, %c = tp.clip %s {max_norm = 0.0 : f64} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @momentum(%p: tensor<6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{'tp.adamw' op attribute 'beta1' failed to satisfy constraint: 64-bit float attribute from 0 to less than 1}}
  %n, %m, %v = tp.adamw %p, %p, %p, %p, %s {beta1 = 1.0 : f64, beta2 = 0.9 : f64, decay = 0.0 : f64, eps = 0.1 : f64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

func.func @decay(%p: tensor<6xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{'tp.adamw' op attribute 'decay' failed to satisfy constraint: 64-bit float attribute that is finite in float32 and at least 0}}
  %n, %m, %v = tp.adamw %p, %p, %p, %p, %s {beta1 = 0.9 : f64, beta2 = 0.9 : f64, decay = -0.1 : f64, eps = 0.1 : f64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @fill(%x: tensor<3xf32>) {
  // expected-error@+1 {{'tp.mask_padding' op attribute 'fill' failed to satisfy constraint: 64-bit float attribute that is an integer or negative infinity}}
  %y = tp.mask_padding %x with 0.5 {layout = #tp.layout<#mesh, [{5 pad 6 over "tp"}]>} : tensor<3xf32> -> tensor<3xf32>
  return
}
