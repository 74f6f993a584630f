// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Fault 44, what types and verifiers refuse: each with its message.

#mesh = #tp.mesh<"tp"=4>
// expected-error@+1 {{dimension 1: 10 does not divide over 4 ranks; pad it to 12}}
func.func @dimension_not_divisible(%y: tensor<6x10xf32, #tp.layout<#mesh, [_, {10 over "tp"}]>>) {
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{the mesh has no axis "dp"}}
#s = #tp.layout<#mesh, [_, {10 over "dp"}]>
func.func @axis_does_not_exist(%y: tensor<6x10xf32, #s>) {
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
func.func @argument_without_layout(%y: tensor<6x10xf32, #r2>, %z: tensor<6x10xf32>) {
  // expected-error@+1 {{'tp.add' op operand 1 has no layout, other tensors of the op have; run tp-shard, which gives every tensor one}}
  %w = tp.add %y, %z : (tensor<6x10xf32, #r2>, tensor<6x10xf32>) -> tensor<6x10xf32, #r2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#s2 = #tp.layout<#mesh, [_, {4 over "tp"}]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#w = #tp.layout<#mesh, [_, {4 over "tp"}]>
// An argument with two uses is no trouble.
func.func @argument_with_two_uses(%x: tensor<6x4xf32, #s2>, %a: tensor<8x4xf32, #w>) -> tensor<6x8xf32, #p2> {
  %y = tp.matmul %x, %a : (tensor<6x4xf32, #s2>, tensor<8x4xf32, #w>) -> tensor<6x8xf32, #p2>
  %z = tp.matmul %x, %a : (tensor<6x4xf32, #s2>, tensor<8x4xf32, #w>) -> tensor<6x8xf32, #p2>
  %s = tp.add %y, %z : (tensor<6x8xf32, #p2>, tensor<6x8xf32, #p2>) -> tensor<6x8xf32, #p2>
  return %s : tensor<6x8xf32, #p2>
}
