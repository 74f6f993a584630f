// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// What is none of the four ways is refused, and the error names the cure: each
// change of layout is the cure of one case.

// R with C
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @cure_f(%x: tensor<6x4xf32, #c2>, %y: tensor<6x4xf32, #r2>) {
  // expected-error@+1 {{'tp.add' op cannot be used on axis "tp" with (C, R) -> (C); the nearest way is copied, which wants (C, C) -> (C): put tp.f on operand 1}}
  %z = tp.add %x, %y : (tensor<6x4xf32, #c2>, tensor<6x4xf32, #r2>) -> tensor<6x4xf32, #c2>
  return
}

// -----

// A column split of a value that nothing has marked as entering it.
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#out = #tp.layout<#mesh, [{8 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {8 over "tp"}]>
func.func @cure_f_of_a_column_split(%x: tensor<6x4xf32, #r2>, %w: tensor<8x4xf32, #out>) {
  // expected-error@+1 {{'tp.matmul' op cannot be used on axis "tp" with (R, S(0)) -> (S(1)); the nearest way is k, which wants (C, S(0)) -> (S(1)): put tp.f on operand 0}}
  %y = tp.matmul %x, %w : (tensor<6x4xf32, #r2>, tensor<8x4xf32, #out>) -> tensor<6x8xf32, #last>
  return
}

// -----

// A bias is added once, behind g.
#mesh = #tp.mesh<"tp"=2>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#r2 = #tp.layout<#mesh, [_, _]>
#r1 = #tp.layout<#mesh, [_]>
#last = #tp.layout<#mesh, [_, {4 over "tp"}]>
func.func @cure_g(%x: tensor<6x4xf32, #last>, %w: tensor<8x4xf32, #last>, %b: tensor<8xf32, #r1>) {
  %y = tp.matmul %x, %w : (tensor<6x4xf32, #last>, tensor<8x4xf32, #last>) -> tensor<6x8xf32, #p2>
  // expected-error@+1 {{'tp.add' op cannot be used on axis "tp" with (P, R) -> (R); the nearest way is replicated, which wants (R, R) -> (R): put tp.g on operand 0}}
  %z = tp.add %y, %b : (tensor<6x8xf32, #p2>, tensor<8xf32, #r1>) -> tensor<6x8xf32, #r2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @cure_g_then_f(%x: tensor<6x4xf32, #p2>) {
  // expected-error@+1 {{'tp.relu' op cannot be used on axis "tp" with (P) -> (C); the nearest way is copied, which wants (C) -> (C): put tp.g, then tp.f on operand 0}}
  %y = tp.relu %x : (tensor<6x4xf32, #p2>) -> tensor<6x4xf32, #c2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#last = #tp.layout<#mesh, [_, {4 over "tp"}]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @cure_gather(%x: tensor<6x4xf32, #c2>, %y: tensor<6x4xf32, #last>) {
  // expected-error@+1 {{'tp.mul' op cannot be used on axis "tp" with (C, S(1)) -> (C); the nearest way is copied, which wants (C, C) -> (C): put tp.gather on operand 1}}
  %z = tp.mul %x, %y : (tensor<6x4xf32, #c2>, tensor<6x4xf32, #last>) -> tensor<6x4xf32, #c2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#last = #tp.layout<#mesh, [_, {4 over "tp"}]>
#r2 = #tp.layout<#mesh, [_, _]>
func.func @cure_unslice(%x: tensor<6x4xf32, #last>) {
  // expected-error@+1 {{'tp.relu' op cannot be used on axis "tp" with (S(1)) -> (R); the nearest way is replicated, which wants (R) -> (R): put tp.unslice on operand 0}}
  %y = tp.relu %x : (tensor<6x4xf32, #last>) -> tensor<6x4xf32, #r2>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#last = #tp.layout<#mesh, [_, {4 over "tp"}]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
func.func @cure_scatter(%x: tensor<6x4xf32, #last>, %y: tensor<6x4xf32, #p2>) {
  // expected-error@+1 {{'tp.add' op cannot be used on axis "tp" with (S(1), P) -> (S(1)); the nearest way is c1, which wants (S(1), S(1)) -> (S(1)): put tp.scatter on operand 1}}
  %z = tp.add %x, %y : (tensor<6x4xf32, #last>, tensor<6x4xf32, #p2>) -> tensor<6x4xf32, #last>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#last = #tp.layout<#mesh, [_, {4 over "tp"}]>
#r2 = #tp.layout<#mesh, [_, _]>
func.func @cure_slice(%x: tensor<6x4xf32, #last>, %y: tensor<6x4xf32, #r2>) {
  // expected-error@+1 {{'tp.add' op cannot be used on axis "tp" with (S(1), R) -> (S(1)); the nearest way is c1, which wants (S(1), S(1)) -> (S(1)): put tp.slice on operand 1}}
  %z = tp.add %x, %y : (tensor<6x4xf32, #last>, tensor<6x4xf32, #r2>) -> tensor<6x4xf32, #last>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#first = #tp.layout<#mesh, [{6 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {4 over "tp"}]>
func.func @cure_all_to_all(%x: tensor<6x4xf32, #last>, %y: tensor<6x4xf32, #first>) {
  // expected-error@+1 {{'tp.mul' op cannot be used on axis "tp" with (S(1), S(0)) -> (S(1)); the nearest way is c1, which wants (S(1), S(1)) -> (S(1)): put tp.all_to_all on operand 1}}
  %z = tp.mul %x, %y : (tensor<6x4xf32, #last>, tensor<6x4xf32, #first>) -> tensor<6x4xf32, #last>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#max = #tp.layout<#mesh, [_, _] partial_max "tp">
#r2 = #tp.layout<#mesh, [_, _]>
func.func @cure_g_max(%x: tensor<6x4xf32, #max>) {
  // expected-error@+1 {{'tp.relu' op cannot be used on axis "tp" with (P<max>) -> (R); the nearest way is replicated, which wants (R) -> (R): put tp.g_max on operand 0}}
  %y = tp.relu %x : (tensor<6x4xf32, #max>) -> tensor<6x4xf32, #r2>
  return
}

// -----

// There is no change from C to R.
#mesh = #tp.mesh<"tp"=2>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#r2 = #tp.layout<#mesh, [_, _]>
func.func @no_cure(%x: tensor<6x4xf32, #c2>) {
  // expected-error@+1 {{'tp.relu' op cannot be used on axis "tp" with (C) -> (R); the nearest way is replicated, which wants (R) -> (R): no change of layout leads from C to R, so choose another layout where operand 0 is made}}
  %y = tp.relu %x : (tensor<6x4xf32, #c2>) -> tensor<6x4xf32, #r2>
  return
}

// -----

// One padding is wanted in all blocks.
#mesh = #tp.mesh<"tp"=2>
#p8 = #tp.layout<#mesh, [_, {7 pad 8 over "tp"}]>
#p10 = #tp.layout<#mesh, [_, {7 pad 10 over "tp"}]>
func.func @padding(%x: tensor<6x7xf32, #p8>, %y: tensor<6x7xf32, #p10>) {
  // expected-error@+1 {{'tp.add' op has "c1" padded to 8 and to 10; one padding is wanted}}
  %z = tp.add %x, %y : (tensor<6x7xf32, #p8>, tensor<6x7xf32, #p10>) -> tensor<6x7xf32, #p8>
  return
}

// -----

// Six heads of ten on four ranks are two heads a rank, never fifteen elements.
#mesh = #tp.mesh<"tp"=4>
#blocks = #tp.layout<#mesh, [_, {60 over "tp"}]>
#heads = #tp.layout<#mesh, [_, {6 pad 8 over "tp"}, _]>
func.func @block_inside_a_head(%x: tensor<5x60xf32, #blocks>) {
  // expected-error@+1 {{'tp.reshape' op splits "f1" of 6 inside a unit: blocks of 15 are not a multiple of 10; pad it to 80}}
  %y = tp.reshape %x : (tensor<5x60xf32, #blocks>) -> tensor<5x6x10xf32, #heads>
  return
}

// -----

// Factors that hold positions, or elements of a head, are not split.
#mesh = #tp.mesh<"tp"=2>
#s = #tp.layout<#mesh, [_, {6 over "tp"}, _, _]>
func.func @positions_of_rotary(%x: tensor<2x6x3x4xf32, #s>) {
  // expected-error@+1 {{'tp.rotary' op cannot be used on axis "tp" with (S(1)) -> (S(1)); the nearest way is replicated, which wants (R) -> (R): put tp.unslice on operand 0}}
  %y = tp.rotary %x {frequencies = array<f64: 1.0, 0.5>} : (tensor<2x6x3x4xf32, #s>) -> tensor<2x6x3x4xf32, #s>
  return
}

// -----

#mesh2 = #tp.mesh<"tp"=2>
#mesh4 = #tp.mesh<"tp"=4>
#a = #tp.layout<#mesh2, [_]>
#b = #tp.layout<#mesh4, [_]>
func.func @two_meshes(%x: tensor<6xf32, #a>, %y: tensor<6xf32, #b>) {
  // expected-error@+1 {{'tp.add' op operand 1 is on another mesh}}
  %z = tp.add %x, %y : (tensor<6xf32, #a>, tensor<6xf32, #b>) -> tensor<6xf32, #a>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @result_without_layout(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.relu' op result 0 has no layout, other tensors of the op have; run tp-shard, which gives every tensor one}}
  %y = tp.relu %x : (tensor<6xf32, #r1>) -> tensor<6xf32>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @chosen_way_is_none(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.relu' op has no way on axis "tp" that its rule allows}}
  %y = tp.relu %x {tp.ways = {tp = "heads"}} : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @result_is_not_the_chosen_way(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.relu' op cannot be used on axis "tp" with (R) -> (R); the nearest way is copied, which wants (C) -> (C): put tp.f on operand 0}}
  %y = tp.relu %x {tp.ways = {tp = "copied"}} : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  return
}
