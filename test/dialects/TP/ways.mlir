// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// The four ways of using an op on an axis: each is legal.

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
func.func @replicated(%x: tensor<6x4xf32, #r2>, %w: tensor<8x4xf32, #r2>, %b: tensor<8xf32, #r1>) {
  %y = tp.matmul %x, %w : (tensor<6x4xf32, #r2>, tensor<8x4xf32, #r2>) -> tensor<6x8xf32, #r2>
  %z = tp.add %y, %b : (tensor<6x8xf32, #r2>, tensor<8xf32, #r1>) -> tensor<6x8xf32, #r2>
  %n = tp.layer_norm %z, %b, %b {eps = 1.0e-5 : f64} : (tensor<6x8xf32, #r2>, tensor<8xf32, #r1>, tensor<8xf32, #r1>) -> tensor<6x8xf32, #r2>
  return
}

// -----

// Columns of the first matmul, rows of the second: the MLP between f and g.
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#s1 = #tp.layout<#mesh, [{8 over "tp"}]>
#out = #tp.layout<#mesh, [{8 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {8 over "tp"}]>
func.func @split(%x: tensor<6x4xf32, #r2>, %up: tensor<8x4xf32, #out>, %b: tensor<8xf32, #s1>, %down: tensor<10x8xf32, #last>) {
  %c = tp.f %x over ["tp"] : tensor<6x4xf32, #r2> -> tensor<6x4xf32, #c2>
  %u = tp.matmul %c, %up : (tensor<6x4xf32, #c2>, tensor<8x4xf32, #out>) -> tensor<6x8xf32, #last>
  %v = tp.add %u, %b : (tensor<6x8xf32, #last>, tensor<8xf32, #s1>) -> tensor<6x8xf32, #last>
  %g = tp.gelu %v : (tensor<6x8xf32, #last>) -> tensor<6x8xf32, #last>
  %p = tp.matmul %g, %down : (tensor<6x8xf32, #last>, tensor<10x8xf32, #last>) -> tensor<6x10xf32, #p2>
  %y = tp.g %p over ["tp"] : tensor<6x10xf32, #p2> -> tensor<6x10xf32, #r2>
  return
}

// -----

// Heads, padded: all blocks hold two of six heads, two ranks' worth is padding.
#mesh = #tp.mesh<"tp"=4>
#heads = #tp.layout<#mesh, [_, {60 pad 80 over "tp"}]>
#split = #tp.layout<#mesh, [_, {6 pad 8 over "tp"}, _]>
func.func @split_of_heads(%x: tensor<5x60xf32, #heads>) {
  %y = tp.reshape %x : (tensor<5x60xf32, #heads>) -> tensor<5x6x10xf32, #split>
  %z = tp.reshape %y : (tensor<5x6x10xf32, #split>) -> tensor<5x60xf32, #heads>
  return
}

// -----

// The same work on every rank, each with a share of the gradient.
#mesh = #tp.mesh<"tp"=2>
#c1 = #tp.layout<#mesh, [_] copied "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @copied(%x: tensor<6x4xf32, #c2>, %w: tensor<8x4xf32, #c2>, %g: tensor<4xf32, #c1>) {
  %n = tp.rms_norm %x, %g {eps = 1.0e-5 : f64} : (tensor<6x4xf32, #c2>, tensor<4xf32, #c1>) -> tensor<6x4xf32, #c2>
  %y = tp.matmul %n, %w : (tensor<6x4xf32, #c2>, tensor<8x4xf32, #c2>) -> tensor<6x8xf32, #c2>
  %z = tp.silu %y : (tensor<6x8xf32, #c2>) -> tensor<6x8xf32, #c2>
  return
}

// -----

// What is linear may be done to summands.
#mesh = #tp.mesh<"tp"=2>
#p1 = #tp.layout<#mesh, [_] partial "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @linear(%x: tensor<6x4xf32, #p2>, %y: tensor<6x4xf32, #p2>, %w: tensor<8x4xf32, #c2>) {
  %a = tp.add %x, %y : (tensor<6x4xf32, #p2>, tensor<6x4xf32, #p2>) -> tensor<6x4xf32, #p2>
  %b = tp.scale %a {factor = 0.5 : f64} : (tensor<6x4xf32, #p2>) -> tensor<6x4xf32, #p2>
  %c = tp.matmul %b, %w : (tensor<6x4xf32, #p2>, tensor<8x4xf32, #c2>) -> tensor<6x8xf32, #p2>
  %d = tp.sum_leading %c : (tensor<6x8xf32, #p2>) -> tensor<8xf32, #p1>
  return
}

// -----

// Integers carry no gradient: replicated where a float would be copied.
#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#rows = #tp.layout<#mesh, [{10 over "tp"}, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
func.func @integers(%ids: tensor<6xi32, #r1>, %table: tensor<10x4xf32, #rows>) {
  %y = tp.embedding %ids, %table : (tensor<6xi32, #r1>, tensor<10x4xf32, #rows>) -> tensor<6x4xf32, #p2>
  return
}

// -----

// Each axis has a way of its own: tokens over dp, columns over tp.
#mesh = #tp.mesh<"dp"=3 batch, "tp"=2>
#x = #tp.layout<#mesh, [{6 over "dp"}, _] copied "tp">
#w = #tp.layout<#mesh, [{8 over "tp"}, _] copied "dp">
#y = #tp.layout<#mesh, [{6 over "dp"}, {8 over "tp"}]>
func.func @two_axes(%x: tensor<6x4xf32, #x>, %w: tensor<8x4xf32, #w>) {
  %y = tp.matmul %x, %w : (tensor<6x4xf32, #x>, tensor<8x4xf32, #w>) -> tensor<6x8xf32, #y>
  return
}

// -----

// Between tp-shard and tp-insert-conjugates only results follow from the way.
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#out = #tp.layout<#mesh, [{8 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {8 over "tp"}]>
func.func @chosen(%x: tensor<6x4xf32, #r2>, %w: tensor<8x4xf32, #out>) {
  %y = tp.matmul %x, %w {tp.ways = {tp = "k"}} : (tensor<6x4xf32, #r2>, tensor<8x4xf32, #out>) -> tensor<6x8xf32, #last>
  return
}
