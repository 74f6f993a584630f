// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Dimensions that no rank may have a part of, whatever its operands and results are.

#mesh = #tp.mesh<"tp"=2>
func.func @attention_keys(%a: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] copied "tp">>, %b: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, %c: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>) {
  // expected-error@+1 {{'tp.attention' op cannot be used on axis "tp" with (C, S(1), S(1)) -> (P, P)}}
  %r0, %r1 = tp.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] copied "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>) -> (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] partial "tp">>, tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, _, _, _] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @attention_queries(%a: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _, _]>>, %b: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, %c: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>) {
  // expected-error@+1 {{'tp.attention' op cannot be used on axis "tp" with (S(1), C, C) -> (S(1), S(1))}}
  %r0, %r1 = tp.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _, _]>>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>) -> (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _, _]>>, tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @attention_head_size(%a: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, {4 over "tp"}]>>, %b: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, {4 over "tp"}]>>, %c: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, {4 over "tp"}]>>) {
  // expected-error@+1 {{'tp.attention' op cannot be used on axis "tp" with (S(4), S(3), S(3)) -> (S(4), P)}}
  %r0, %r1 = tp.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, {4 over "tp"}]>>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, {4 over "tp"}]>>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, {4 over "tp"}]>>) -> (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, {4 over "tp"}]>>, tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, _, _, _] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @attention_grad_keys(%a: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] copied "tp">>, %b: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, %c: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, %d: tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, %e: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] copied "tp">>) {
  // expected-error@+1 {{'tp.attention_grad' op cannot be used on axis "tp" with (C, S(1), S(1), C, C) -> (P, S(1), S(1))}}
  %r0, %r1, %r2 = tp.attention_grad %a, %b, %c, %d, %e {scale = 0.5 : f64} : (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] copied "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] copied "tp">>) -> (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, _, _, _, _] partial "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @attention_grad_queries(%a: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _, _]>>, %b: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, %c: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, %d: tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, %e: tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _, _]>>) {
  // expected-error@+1 {{'tp.attention_grad' op cannot be used on axis "tp" with (S(1), C, C, S(1), S(1)) -> (S(1), P, P)}}
  %r0, %r1, %r2 = tp.attention_grad %a, %b, %c, %d, %e {scale = 0.5 : f64} : (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _, _]>>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] copied "tp">>, tensor<2x4x4x3xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>, tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _, _]>>) -> (tensor<2x4x4x3x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _, _]>>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] partial "tp">>, tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, _] partial "tp">>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @rotary_pairs(%a: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, {4 over "tp"}]>>) {
  // expected-error@+1 {{'tp.rotary' op cannot be used on axis "tp" with (S(3)) -> (S(3))}}
  %r0 = tp.rotary %a {frequencies = array<f64: 1.0, 0.5>} : (tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, {4 over "tp"}]>>) -> tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, _, _, {4 over "tp"}]>>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @rotary_positions(%a: tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>) {
  // expected-error@+1 {{'tp.rotary' op cannot be used on axis "tp" with (S(1)) -> (S(1))}}
  %r0 = tp.rotary %a {frequencies = array<f64: 1.0, 0.5>} : (tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>) -> tensor<2x4x4x4xf32, #tp.layout<#mesh, [_, {4 over "tp"}, _, _]>>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @take_rows_of_blocks(%a: tensor<4x3xf32, #tp.layout<#mesh, [{4 over "tp"}, _]>>) {
  // expected-error@+1 {{'tp.take_rows' op cannot be used on axis "tp" with (S(0)) -> (S(0))}}
  %r0 = tp.take_rows %a : (tensor<4x3xf32, #tp.layout<#mesh, [{4 over "tp"}, _]>>) -> tensor<4x3xf32, #tp.layout<#mesh, [{4 over "tp"}, _]>>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @take_rows_in_blocks(%a: tensor<6x3xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
  // expected-error@+1 {{'tp.take_rows' op cannot be used on axis "tp" with (C) -> (S(0))}}
  %r0 = tp.take_rows %a : (tensor<6x3xf32, #tp.layout<#mesh, [_, _] copied "tp">>) -> tensor<4x3xf32, #tp.layout<#mesh, [{4 over "tp"}, _]>>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @pad_rows_in_blocks(%a: tensor<3x3xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
  // expected-error@+1 {{'tp.pad_rows' op cannot be used on axis "tp" with (C) -> (S(0))}}
  %r0 = tp.pad_rows %a : (tensor<3x3xf32, #tp.layout<#mesh, [_, _] copied "tp">>) -> tensor<4x3xf32, #tp.layout<#mesh, [{4 over "tp"}, _]>>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @pad_rows_of_blocks(%a: tensor<4x3xf32, #tp.layout<#mesh, [{4 over "tp"}, _]>>) {
  // expected-error@+1 {{'tp.pad_rows' op cannot be used on axis "tp" with (S(0)) -> (P)}}
  %r0 = tp.pad_rows %a : (tensor<4x3xf32, #tp.layout<#mesh, [{4 over "tp"}, _]>>) -> tensor<6x3xf32, #tp.layout<#mesh, [_, _] partial "tp">>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @shift_labels(%a: tensor<3x5xi32, #tp.layout<#mesh, [_, _]>>) {
  // expected-error@+1 {{'tp.shift_labels' op cannot be used on axis "tp" with (R) -> (S(1))}}
  %r0 = tp.shift_labels %a : (tensor<3x5xi32, #tp.layout<#mesh, [_, _]>>) -> tensor<3x4xi32, #tp.layout<#mesh, [_, {4 over "tp"}]>>
  return
}
