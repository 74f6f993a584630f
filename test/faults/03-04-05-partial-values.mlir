// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Faults 1, 3, 4 and 5: only sums of summands may be done to a partial value,
// and a norm over a split dimension needs its statistics reduced.

#mesh = #tp.mesh<"tp"=2>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#r1 = #tp.layout<#mesh, [_]>
func.func @bias_before_all_reduce(%y: tensor<6x10xf32, #p2>, %b: tensor<10xf32, #r1>) {
  // expected-error@+1 {{'tp.add' op cannot be used on axis "tp" with (P, R) -> (P); the nearest way is linear in lhs rhs, which wants (P, P) -> (P): no change of layout leads from R to P, so choose another layout where operand 1 is made}}
  %z = tp.add %y, %b : (tensor<6x10xf32, #p2>, tensor<10xf32, #r1>) -> tensor<6x10xf32, #p2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p0 = #tp.layout<#mesh, [] partial "tp">
#r0 = #tp.layout<#mesh, []>
func.func @scalar_added_on_each_rank(%sum: tensor<f32, #p0>, %ten: tensor<f32, #r0>) {
  // expected-error@+1 {{'tp.add' op cannot be used on axis "tp" with (P, R) -> (P); the nearest way is linear in lhs rhs, which wants (P, P) -> (P): no change of layout leads from R to P, so choose another layout where operand 1 is made}}
  %z = tp.add %sum, %ten : (tensor<f32, #p0>, tensor<f32, #r0>) -> tensor<f32, #p0>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
func.func @nonlinear_on_partial(%y: tensor<6x10xf32, #p2>) {
  // expected-error@+1 {{'tp.gelu' op cannot be used on axis "tp" with (P) -> (P); the nearest way is replicated, which wants (R) -> (R): put tp.g on operand 0}}
  %z = tp.gelu %y : (tensor<6x10xf32, #p2>) -> tensor<6x10xf32, #p2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
func.func @partial_times_partial(%y: tensor<6x10xf32, #p2>) {
  // expected-error@+1 {{'tp.mul' op cannot be used on axis "tp" with (P, P) -> (P); the nearest way is linear in lhs, which wants (P, C) -> (P): put tp.g, then tp.f on operand 1}}
  %z = tp.mul %y, %y : (tensor<6x10xf32, #p2>, tensor<6x10xf32, #p2>) -> tensor<6x10xf32, #p2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p1 = #tp.layout<#mesh, [_] partial "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
func.func @maximum_of_partial(%y: tensor<6x10xf32, #p2>) {
  // expected-error@+1 {{'tp.row_max' op cannot be used on axis "tp" with (P) -> (P); the nearest way is replicated, which wants (R) -> (R): put tp.g on operand 0}}
  %z = tp.row_max %y : (tensor<6x10xf32, #p2>) -> tensor<6xf32, #p1>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#s1 = #tp.layout<#mesh, [{10 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {10 over "tp"}]>
func.func @norm_over_split_dimension(%x: tensor<6x10xf32, #s2>, %g: tensor<10xf32, #s1>) {
  // expected-error@+1 {{'tp.layer_norm' op cannot be used on axis "tp" with (S(1), S(0), S(0)) -> (S(1)); the nearest way is replicated, which wants (R, R, R) -> (R): put tp.unslice on operand 0}}
  %z = tp.layer_norm %x, %g, %g {eps = 1.0e-5 : f64} : (tensor<6x10xf32, #s2>, tensor<10xf32, #s1>, tensor<10xf32, #s1>) -> tensor<6x10xf32, #s2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
func.func @all_reduce_of_replicated(%y: tensor<6x10xf32, #r2>) {
  // expected-error@+1 {{'tp.g' op C2: on axis "tp" it takes P to R, not R to R}}
  %z = tp.g %y over ["tp"] : tensor<6x10xf32, #r2> -> tensor<6x10xf32, #r2>
  return
}
