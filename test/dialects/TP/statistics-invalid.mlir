// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Ops that need a statistic over a dimension are refused where it is split, each
// of them: norms and their gradients.

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#s1 = #tp.layout<#mesh, [{4 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {4 over "tp"}]>
func.func @layer_norm(%x: tensor<6x4xf32, #s2>, %g: tensor<4xf32, #s1>) {
  // expected-error@+1 {{'tp.layer_norm' op cannot be used on axis "tp" with (S(1), S(0), S(0)) -> (S(1))}}
  %y = tp.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<6x4xf32, #s2>, tensor<4xf32, #s1>, tensor<4xf32, #s1>) -> tensor<6x4xf32, #s2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#s1 = #tp.layout<#mesh, [{4 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {4 over "tp"}]>
func.func @rms_norm(%x: tensor<6x4xf32, #s2>, %g: tensor<4xf32, #s1>) {
  // expected-error@+1 {{'tp.rms_norm' op cannot be used on axis "tp" with (S(1), S(0)) -> (S(1))}}
  %y = tp.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<6x4xf32, #s2>, tensor<4xf32, #s1>) -> tensor<6x4xf32, #s2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#s1 = #tp.layout<#mesh, [{4 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {4 over "tp"}]>
func.func @layer_norm_grad(%x: tensor<6x4xf32, #s2>, %g: tensor<4xf32, #s1>) {
  // expected-error@+1 {{'tp.layer_norm_grad' op cannot be used on axis "tp" with (S(1), S(0), S(1)) -> (S(1), S(0), S(0))}}
  %dx, %dg, %db = tp.layer_norm_grad %x, %g, %x {eps = 1.0e-5 : f64} : (tensor<6x4xf32, #s2>, tensor<4xf32, #s1>, tensor<6x4xf32, #s2>) -> (tensor<6x4xf32, #s2>, tensor<4xf32, #s1>, tensor<4xf32, #s1>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#s1 = #tp.layout<#mesh, [{4 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {4 over "tp"}]>
func.func @rms_norm_grad(%x: tensor<6x4xf32, #s2>, %g: tensor<4xf32, #s1>) {
  // expected-error@+1 {{'tp.rms_norm_grad' op cannot be used on axis "tp" with (S(1), S(0), S(1)) -> (S(1), S(0))}}
  %dx, %dg = tp.rms_norm_grad %x, %g, %x {eps = 1.0e-5 : f64} : (tensor<6x4xf32, #s2>, tensor<4xf32, #s1>, tensor<6x4xf32, #s2>) -> (tensor<6x4xf32, #s2>, tensor<4xf32, #s1>)
  return
}
