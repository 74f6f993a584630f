// RUN: tp-opt %s --split-input-file --tp-partition | FileCheck %s
//
// Local shapes, collectives in place of changes of layout, and masks where
// padding would count.

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#out = #tp.layout<#mesh, [{24 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {24 over "tp"}]>
// f disappears and g is an all-reduce; a parameter keeps its whole type, layout
// included, beside the local one.
// CHECK-DAG: #[[OUT:.*]] = #tp.layout<#mesh, [{24 over "tp"}, _]>
// CHECK: tp.parameter @up : tensor<12x16xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<24x16xf32, #[[OUT]]>}
// CHECK: tp.state @up.exp_avg of @up "exp_avg" : tensor<12x16xf32> {whole = tensor<24x16xf32, #[[OUT]]>}
// CHECK-LABEL: func.func @mlp(
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x16xf32>, %[[DOWN:[^:]*]]: tensor<10x12xf32>)
// CHECK: %[[UP:.*]] = tp.param @up : tensor<12x16xf32>
// CHECK: %[[U:.*]] = tp.matmul %[[X]], %[[UP]] : (tensor<6x16xf32>, tensor<12x16xf32>) -> tensor<6x12xf32>
// CHECK: %[[P:.*]] = tp.matmul %[[U]], %[[DOWN]] : (tensor<6x12xf32>, tensor<10x12xf32>) -> tensor<6x10xf32>
// CHECK: %[[Y:.*]] = tp.all_reduce %[[P]] over ["tp"] {reason = "tp.add wants R"} : tensor<6x10xf32> -> tensor<6x10xf32>
// CHECK: tp.output "y", %[[Y]] {layout = #r2, whole = tensor<6x10xf32, #r2>} : tensor<6x10xf32>
// CHECK: tp.output "u", %[[U]] {layout = #[[LAST:.*]], whole = tensor<6x24xf32, #[[LAST]]>} : tensor<6x12xf32>
module attributes {tp.mesh = #mesh} {
  tp.parameter @up : tensor<24x16xf32, #out> {id = 0 : i64, init = #tp.init<zeros>}
  tp.state @up.exp_avg of @up "exp_avg" : tensor<24x16xf32, #out>
  func.func @mlp(%x: tensor<6x16xf32, #r2>, %down: tensor<10x24xf32, #last>) {
    %up = tp.param @up : tensor<24x16xf32, #out>
    %c = tp.f %x over ["tp"] : tensor<6x16xf32, #r2> -> tensor<6x16xf32, #c2>
    %u = tp.matmul %c, %up : (tensor<6x16xf32, #c2>, tensor<24x16xf32, #out>) -> tensor<6x24xf32, #last>
    %p = tp.matmul %u, %down : (tensor<6x24xf32, #last>, tensor<10x24xf32, #last>) -> tensor<6x10xf32, #p2>
    %y = tp.g %p over ["tp"] {reason = "tp.add wants R"} : tensor<6x10xf32, #p2> -> tensor<6x10xf32, #r2>
    tp.output "y", %y : tensor<6x10xf32, #r2>
    tp.output "u", %u : tensor<6x24xf32, #last>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#p1 = #tp.layout<#mesh, [_] partial "tp">
#c1 = #tp.layout<#mesh, [_] copied "tp">
#pm1 = #tp.layout<#mesh, [_] partial_max "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#rows = #tp.layout<#mesh, [{33 pad 34 over "tp"}, _]>
#v = #tp.layout<#mesh, [_, {33 pad 34 over "tp"}]>
// A vocabulary of 33 on two ranks: 17 each. The padded logit is 0, which would
// count in the maximum and in the sum, so it is -inf for both; it is never
// picked, so there it may be anything. The table's padded row is zero as loaded.
// CHECK-LABEL: func.func @vocabulary(
// CHECK: %[[W:.*]] = tp.param @w : tensor<17x16xf32>
// CHECK: tp.embedding %{{.*}}, %[[W]] {layout = #[[ROWS:.*]]} : (tensor<6xi32>, tensor<17x16xf32>) -> tensor<6x16xf32>
// CHECK: %[[L:.*]] = tp.matmul %{{.*}}, %[[W]] : {{.*}} -> tensor<6x17xf32>
// CHECK: %[[M1:.*]] = tp.mask_padding %[[L]] with 0xFFF0000000000000 {layout = #[[V:.*]]} : tensor<6x17xf32> -> tensor<6x17xf32>
// CHECK: %[[PM:.*]] = tp.row_max %[[M1]]
// CHECK: %[[M:.*]] = tp.all_reduce %[[PM]] over ["tp"] {reduction = #tp.reduction<max>}
// CHECK: %[[M2:.*]] = tp.mask_padding %[[L]] with 0xFFF0000000000000
// CHECK: tp.sum_exp %[[M2]], %[[M]]
// CHECK-NOT: tp.mask_padding
// CHECK: tp.pick %[[L]], %{{.*}} {layout = #[[V]]}
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<33x16xf32, #rows> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @vocabulary(%ids: tensor<6xi32, #r1>, %x: tensor<6x16xf32, #c2>) {
    %w = tp.param @w : tensor<33x16xf32, #rows>
    %h = tp.embedding %ids, %w : (tensor<6xi32, #r1>, tensor<33x16xf32, #rows>) -> tensor<6x16xf32, #tp.layout<#mesh, [_, _] partial "tp">>
    %l = tp.matmul %x, %w : (tensor<6x16xf32, #c2>, tensor<33x16xf32, #rows>) -> tensor<6x33xf32, #v>
    %pm = tp.row_max %l : (tensor<6x33xf32, #v>) -> tensor<6xf32, #pm1>
    %m = tp.g_max %pm over ["tp"] : tensor<6xf32, #pm1> -> tensor<6xf32, #r1>
    %c = tp.f %m over ["tp"] : tensor<6xf32, #r1> -> tensor<6xf32, #c1>
    %e = tp.sum_exp %l, %c : (tensor<6x33xf32, #v>, tensor<6xf32, #c1>) -> tensor<6xf32, #p1>
    %k = tp.pick %l, %ids : (tensor<6x33xf32, #v>, tensor<6xi32, #r1>) -> tensor<6xf32, #p1>
    %hr = tp.g %h over ["tp"] : tensor<6x16xf32, #tp.layout<#mesh, [_, _] partial "tp">> -> tensor<6x16xf32, #tp.layout<#mesh, [_, _]>>
    %er = tp.g %e over ["tp"] : tensor<6xf32, #p1> -> tensor<6xf32, #r1>
    %kr = tp.g %k over ["tp"] : tensor<6xf32, #p1> -> tensor<6xf32, #r1>
    tp.output "h", %hr : tensor<6x16xf32, #tp.layout<#mesh, [_, _]>>
    tp.output "max", %m : tensor<6xf32, #r1>
    tp.output "sum", %er : tensor<6xf32, #r1>
    tp.output "picked", %kr : tensor<6xf32, #r1>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#s1 = #tp.layout<#mesh, [{5 pad 6 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}]>
#out = #tp.layout<#mesh, [{5 pad 6 over "tp"}, _]>
// Zero parameters keep padding zero through a matmul, an add and functions with
// f(0) = 0, so the contraction needs no mask.
// CHECK-LABEL: func.func @stays_zero(
// CHECK: %[[U:.*]] = tp.matmul {{.*}} -> tensor<6x3xf32>
// CHECK: tp.add {{.*}} -> tensor<6x3xf32>
// CHECK: %[[G:.*]] = tp.gelu
// CHECK-NOT: tp.mask_padding
// CHECK: tp.matmul %[[G]],
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<5x4xf32, #out> {id = 0 : i64, init = #tp.init<zeros>}
  tp.parameter @b : tensor<5xf32, #s1> {id = 1 : i64, init = #tp.init<zeros>}
  tp.parameter @d : tensor<8x5xf32, #s2> {id = 2 : i64, init = #tp.init<zeros>}
  func.func @stays_zero(%x: tensor<6x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
    %w = tp.param @w : tensor<5x4xf32, #out>
    %b = tp.param @b : tensor<5xf32, #s1>
    %d = tp.param @d : tensor<8x5xf32, #s2>
    %u = tp.matmul %x, %w : (tensor<6x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>, tensor<5x4xf32, #out>) -> tensor<6x5xf32, #s2>
    %v = tp.add %u, %b : (tensor<6x5xf32, #s2>, tensor<5xf32, #s1>) -> tensor<6x5xf32, #s2>
    %g = tp.gelu %v : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %p = tp.matmul %g, %d : (tensor<6x5xf32, #s2>, tensor<8x5xf32, #s2>) -> tensor<6x8xf32, #p2>
    %y = tp.g %p over ["tp"] : tensor<6x8xf32, #p2> -> tensor<6x8xf32, #r2>
    tp.output "y", %y : tensor<6x8xf32, #r2>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#s2 = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}]>
// What arrives from outside may hold anything in its padding: it is made zero
// before both sides of a contraction.
// CHECK-LABEL: func.func @unknown_padding(
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x3xf32>, %[[W:[^:]*]]: tensor<8x3xf32>)
// CHECK: %[[MX:.*]] = tp.mask_padding %[[X]] with 0.000000e+00
// CHECK: %[[MW:.*]] = tp.mask_padding %[[W]] with 0.000000e+00
// CHECK: tp.matmul %[[MX]], %[[MW]]
module attributes {tp.mesh = #mesh} {
  func.func @unknown_padding(%x: tensor<6x5xf32, #s2>, %w: tensor<8x5xf32, #s2>) {
    %p = tp.matmul %x, %w : (tensor<6x5xf32, #s2>, tensor<8x5xf32, #s2>) -> tensor<6x8xf32, #p2>
    %y = tp.g %p over ["tp"] : tensor<6x8xf32, #p2> -> tensor<6x8xf32, #r2>
    tp.output "y", %y : tensor<6x8xf32, #r2>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#pad = #tp.layout<#mesh, [{5 pad 6 over "tp"}, _]>
#even = #tp.layout<#mesh, [{8 over "tp"}, _]>
#columns = #tp.layout<#mesh, [_, {8 over "tp"}]>
// Gathers drop the padding; a scatter makes it.
// CHECK-LABEL: func.func @changes(
// CHECK-SAME: %[[S:[^:]*]]: tensor<3x4xf32>, %[[P:[^:]*]]: tensor<5x4xf32>, %[[R:[^:]*]]: tensor<8x4xf32>,
// CHECK: tp.all_gather %[[S]] over ["tp"] {dim = 0 : i64, reason = "a"} : tensor<3x4xf32> -> tensor<5x4xf32>
// CHECK: tp.all_gather %[[S]] over ["tp"] {dim = 0 : i64} : tensor<3x4xf32> -> tensor<5x4xf32>
// CHECK: tp.reduce_scatter %[[P]] over ["tp"] {dim = 0 : i64} : tensor<5x4xf32> -> tensor<3x4xf32>
// CHECK: tp.local_slice %[[R]] over ["tp"] {dim = 0 : i64, layout = #{{.*}}} : tensor<8x4xf32> -> tensor<4x4xf32>
// CHECK-NOT: tp.relu
module attributes {tp.mesh = #mesh} {
  func.func @changes(%s: tensor<5x4xf32, #pad>, %p: tensor<5x4xf32, #p2>, %r: tensor<8x4xf32, #r2>, %w: tensor<8x4xf32, #even>) {
    %1 = tp.gather %s over ["tp"] {reason = "a"} : tensor<5x4xf32, #pad> -> tensor<5x4xf32, #c2>
    %2 = tp.unslice %s over ["tp"] : tensor<5x4xf32, #pad> -> tensor<5x4xf32, #r2>
    %3 = tp.scatter %p over ["tp"] : tensor<5x4xf32, #p2> -> tensor<5x4xf32, #pad>
    %4 = tp.slice %r over ["tp"] : tensor<8x4xf32, #r2> -> tensor<8x4xf32, #even>
    %unread = tp.relu %r : (tensor<8x4xf32, #r2>) -> tensor<8x4xf32, #r2>
    %5 = tp.matmul %1, %w : (tensor<5x4xf32, #c2>, tensor<8x4xf32, #even>) -> tensor<5x8xf32, #columns>
    tp.output "1", %5 : tensor<5x8xf32, #columns>
    tp.output "2", %2 : tensor<5x4xf32, #r2>
    tp.output "3", %3 : tensor<5x4xf32, #pad>
    tp.output "4", %4 : tensor<8x4xf32, #even>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=1>
#r2 = #tp.layout<#mesh, [_, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#s2 = #tp.layout<#mesh, [_, {5 over "tp"}]>
// On one rank nothing is left of a change of layout.
// CHECK-LABEL: func.func @one_rank(
// CHECK: %[[Y:.*]] = tp.matmul %{{.*}} -> tensor<6x8xf32>
// CHECK-NEXT: tp.output "y", %[[Y]]
module attributes {tp.mesh = #mesh} {
  func.func @one_rank(%x: tensor<6x5xf32, #s2>, %w: tensor<8x5xf32, #s2>) {
    %p = tp.matmul %x, %w : (tensor<6x5xf32, #s2>, tensor<8x5xf32, #s2>) -> tensor<6x8xf32, #p2>
    %y = tp.g %p over ["tp"] : tensor<6x8xf32, #p2> -> tensor<6x8xf32, #r2>
    tp.output "y", %y : tensor<6x8xf32, #r2>
    return
  }
}

// -----

#mesh = #tp.mesh<"a"=1, "tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#p2 = #tp.layout<#mesh, [_, _] partial ("a", "tp")>
#a2 = #tp.layout<#mesh, [_, _] partial "a">
// An axis of one rank beside one of two: ranks have something to add.
// CHECK-LABEL: func.func @one_of_two_axes(
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x8xf32>, %[[A:[^:]*]]: tensor<6x8xf32>)
// CHECK: %[[Y:.*]] = tp.all_reduce %[[X]] over ["a", "tp"]
// CHECK-NOT: tp.all_reduce
// CHECK: tp.output "y", %[[Y]]
// CHECK: tp.output "z", %[[A]]
module attributes {tp.mesh = #mesh} {
  func.func @one_of_two_axes(%x: tensor<6x8xf32, #p2>, %a: tensor<6x8xf32, #a2>) {
    %y = tp.g %x over ["a", "tp"] : tensor<6x8xf32, #p2> -> tensor<6x8xf32, #r2>
    %z = tp.g %a over ["a"] : tensor<6x8xf32, #a2> -> tensor<6x8xf32, #r2>
    tp.output "y", %y : tensor<6x8xf32, #r2>
    tp.output "z", %z : tensor<6x8xf32, #r2>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#s1 = #tp.layout<#mesh, [{5 pad 6 over "tp"}]>
#c0 = #tp.layout<#mesh, [] copied "tp">
// A symbol's padding is zero at the end of a step as at its start: what an
// update writes is masked unless its gradient is known to be zero there.
// CHECK-LABEL: func.func @update(
// CHECK: %[[N:.*]], %{{.*}}, %{{.*}} = tp.adamw
// CHECK: %[[Z:.*]] = tp.mask_padding %[[N]] with 0.000000e+00
// CHECK: tp.update @b, %[[Z]]
module attributes {tp.mesh = #mesh} {
  tp.parameter @b : tensor<5xf32, #s1> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @update(%g: tensor<5xf32, #s1>, %scale: tensor<f32, #c0>) {
    %b = tp.param @b : tensor<5xf32, #s1>
    %n, %m, %v = tp.adamw %b, %g, %b, %b, %scale {beta1 = 0.9 : f64, beta2 = 0.9 : f64, decay = 0.0 : f64, eps = 0.1 : f64} : (tensor<5xf32, #s1>, tensor<5xf32, #s1>, tensor<5xf32, #s1>, tensor<5xf32, #s1>, tensor<f32, #c0>) -> (tensor<5xf32, #s1>, tensor<5xf32, #s1>, tensor<5xf32, #s1>)
    tp.update @b, %n : tensor<5xf32, #s1>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=4>
#flat = #tp.layout<#mesh, [_, {60 pad 80 over "tp"}]>
#heads = #tp.layout<#mesh, [_, {6 pad 8 over "tp"}, _]>
#r2 = #tp.layout<#mesh, [_, _]>
// Six heads of ten on four ranks: two heads a rank on both sides of a reshape.
// A random mask is that of the whole tensor, so where the tensor is split the op
// keeps its layout.
// CHECK-DAG: #[[FLAT:.*]] = #tp.layout<#mesh, [_, {60 pad 80 over "tp"}]>
// CHECK-LABEL: func.func @heads_and_masks(
// CHECK: tp.reshape %{{.*}} : (tensor<5x20xf32>) -> tensor<5x2x10xf32>
// CHECK: tp.dropout %{{.*}} {id = 7 : i64, layout = #[[FLAT]], p = 5.000000e-01 : f64} : (tensor<5x20xf32>) -> tensor<5x20xf32>
// CHECK: tp.dropout %{{.*}} {id = 8 : i64, p = 5.000000e-01 : f64} : (tensor<5x60xf32>) -> tensor<5x60xf32>
module attributes {tp.mesh = #mesh} {
  func.func @heads_and_masks(%x: tensor<5x60xf32, #flat>, %r: tensor<5x60xf32, #r2>) {
    %h = tp.reshape %x : (tensor<5x60xf32, #flat>) -> tensor<5x6x10xf32, #heads>
    %d = tp.dropout %x {id = 7 : i64, p = 0.5 : f64} : (tensor<5x60xf32, #flat>) -> tensor<5x60xf32, #flat>
    %e = tp.dropout %r {id = 8 : i64, p = 0.5 : f64} : (tensor<5x60xf32, #r2>) -> tensor<5x60xf32, #r2>
    tp.output "h", %h : tensor<5x6x10xf32, #heads>
    tp.output "d", %d : tensor<5x60xf32, #flat>
    tp.output "e", %e : tensor<5x60xf32, #r2>
    return
  }
}
