// RUN: tp-opt %s --split-input-file --tp-insert-conjugates | FileCheck %s
//
// Changes of layout between what a value is and what its consumers want. The
// input is what tp-shard writes.

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#s1 = #tp.layout<#mesh, [{24 over "tp"}]>
#out = #tp.layout<#mesh, [{24 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {24 over "tp"}]>
// One f and one g, and the second bias behind the g.
// CHECK-LABEL: func.func @mlp(
// CHECK-SAME: %[[X:.*]]: tensor<6x16xf32
// CHECK: %[[C:.*]] = tp.f %[[X]] over ["tp"] {reason = "tp.matmul wants C"} : tensor<6x16xf32, #r2> -> tensor<6x16xf32, #c2_tp>
// CHECK: %[[U:.*]] = tp.matmul %[[C]], %{{.*}} : (tensor<6x16xf32, #c2_tp>, {{.*}}
// CHECK: %[[V:.*]] = tp.add %[[U]], %{{.*}} : (
// CHECK: %[[G:.*]] = tp.gelu %[[V]] : (
// CHECK: %[[P:.*]] = tp.matmul %[[G]], %{{.*}} -> tensor<6x10xf32, #p2_tp>
// CHECK: %[[R:.*]] = tp.g %[[P]] over ["tp"] {reason = "tp.add wants R"} : tensor<6x10xf32, #p2_tp> -> tensor<6x10xf32, #r2>
// CHECK: tp.add %[[R]], %{{.*}} : (
// CHECK-NOT: tp.{{f|g}} %
// CHECK-NOT: ways
module attributes {tp.mesh = #mesh} {
  func.func @mlp(%x: tensor<6x16xf32, #r2>, %up: tensor<24x16xf32, #out>, %b: tensor<24xf32, #s1>, %down: tensor<10x24xf32, #last>, %c: tensor<10xf32, #r1>) -> tensor<6x10xf32, #r2> {
    %u = tp.matmul %x, %up {tp.ways = {tp = "k"}} : (tensor<6x16xf32, #r2>, tensor<24x16xf32, #out>) -> tensor<6x24xf32, #last>
    %v = tp.add %u, %b {tp.ways = {tp = "c0"}} : (tensor<6x24xf32, #last>, tensor<24xf32, #s1>) -> tensor<6x24xf32, #last>
    %g = tp.gelu %v {tp.ways = {tp = "b1"}} : (tensor<6x24xf32, #last>) -> tensor<6x24xf32, #last>
    %p = tp.matmul %g, %down {tp.ways = {tp = "h"}} : (tensor<6x24xf32, #last>, tensor<10x24xf32, #last>) -> tensor<6x10xf32, #p2>
    %y = tp.add %p, %c {tp.ways = {tp = "replicated"}} : (tensor<6x10xf32, #p2>, tensor<10xf32, #r1>) -> tensor<6x10xf32, #r2>
    return %y : tensor<6x10xf32, #r2>
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#out = #tp.layout<#mesh, [{24 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {24 over "tp"}]>
// Q, K and V share one f; the residual reads the value itself.
// CHECK-LABEL: func.func @q_k_v(
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x16xf32
// CHECK: %[[C:.*]] = tp.f %[[X]]
// CHECK-NOT: tp.f
// CHECK: tp.matmul %[[C]],
// CHECK: tp.matmul %[[C]],
// CHECK: tp.matmul %[[C]],
// CHECK: tp.relu %[[X]]
module attributes {tp.mesh = #mesh} {
  func.func @q_k_v(%x: tensor<6x16xf32, #r2>, %wq: tensor<24x16xf32, #out>, %wk: tensor<24x16xf32, #out>, %wv: tensor<24x16xf32, #out>) {
    %q = tp.matmul %x, %wq {tp.ways = {tp = "k"}} : (tensor<6x16xf32, #r2>, tensor<24x16xf32, #out>) -> tensor<6x24xf32, #last>
    %k = tp.matmul %x, %wk {tp.ways = {tp = "k"}} : (tensor<6x16xf32, #r2>, tensor<24x16xf32, #out>) -> tensor<6x24xf32, #last>
    %v = tp.matmul %x, %wv {tp.ways = {tp = "k"}} : (tensor<6x16xf32, #r2>, tensor<24x16xf32, #out>) -> tensor<6x24xf32, #last>
    %r = tp.relu %x {tp.ways = {tp = "replicated"}} : (tensor<6x16xf32, #r2>) -> tensor<6x16xf32, #r2>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#last = #tp.layout<#mesh, [_, {24 over "tp"}]>
// From summands to copies there is one way: g, whose result others share, then f.
// CHECK-LABEL: func.func @partial_to_copied(
// CHECK: %[[P:.*]] = tp.matmul
// CHECK: %[[R:.*]] = tp.g %[[P]]
// CHECK: %[[C:.*]] = tp.f %[[R]]
// CHECK: tp.silu %[[C]]
// CHECK: tp.relu %[[R]]
module attributes {tp.mesh = #mesh} {
  func.func @partial_to_copied(%x: tensor<6x24xf32, #last>, %w: tensor<10x24xf32, #last>) {
    %p = tp.matmul %x, %w {tp.ways = {tp = "h"}} : (tensor<6x24xf32, #last>, tensor<10x24xf32, #last>) -> tensor<6x10xf32, #p2>
    %a = tp.silu %p {tp.ways = {tp = "copied"}} : (tensor<6x10xf32, #p2>) -> tensor<6x10xf32, #c2>
    %b = tp.relu %p {tp.ways = {tp = "replicated"}} : (tensor<6x10xf32, #p2>) -> tensor<6x10xf32, #r2>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#last = #tp.layout<#mesh, [_, {10 over "tp"}]>
// A split vocabulary: three reductions of one value a row, none of the logits.
// CHECK-LABEL: func.func @cross_entropy(
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x10xf32, #{{[^>]*}}>, %[[L:[^:]*]]:
// CHECK: %[[PM:.*]] = tp.row_max %[[X]] : {{.*}} -> tensor<6xf32, #pmax1_tp>
// CHECK: %[[M:.*]] = tp.g_max %[[PM]] {{.*}} -> tensor<6xf32, #r1>
// CHECK: %[[CM:.*]] = tp.f %[[M]]
// CHECK: %[[PE:.*]] = tp.sum_exp %[[X]], %[[CM]] : {{.*}} -> tensor<6xf32, #p1_tp>
// CHECK: %[[E:.*]] = tp.g %[[PE]] {{.*}} -> tensor<6xf32, #r1>
// CHECK: %[[PP:.*]] = tp.pick %[[X]], %[[L]] : {{.*}} -> tensor<6xf32, #p1_tp>
// CHECK: %[[P:.*]] = tp.g %[[PP]] {{.*}} -> tensor<6xf32, #r1>
// CHECK: %[[SUM:.*]], %[[COUNT:.*]] = tp.token_loss %[[M]], %[[E]], %[[P]], %[[L]] {ignore = -1 : i64}
// CHECK: return %[[SUM]], %[[COUNT]] : tensor<f32, #r0>, tensor<f32, #r0>
module attributes {tp.mesh = #mesh} {
  func.func @cross_entropy(%x: tensor<6x10xf32, #last>, %l: tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>) {
    %s, %n = tp.cross_entropy %x, %l {ignore = -1 : i64, tp.ways = {tp = "v"}} : (tensor<6x10xf32, #last>, tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
    return %s, %n : tensor<f32, #r0>, tensor<f32, #r0>
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#last = #tp.layout<#mesh, [_, {24 over "tp"}]>
// What leaves under no role leaves whole; logits may leave in blocks.
// CHECK-LABEL: func.func @results(
// CHECK-SAME: %[[X:[^:]*]]: tensor<6x24xf32
// CHECK-SAME: -> (tensor<6x24xf32, #r2>, tensor<6x24xf32, #s2_tp_d1_24> {tp.role = "logits"}, tensor<6x10xf32, #r2> {tp.role = "hidden"})
// CHECK: %[[ALL:.*]] = tp.unslice %[[X]]
// CHECK: %[[P:.*]] = tp.matmul
// CHECK: %[[SUM:.*]] = tp.g %[[P]]
// CHECK: return %[[ALL]], %[[X]], %[[SUM]]
module attributes {tp.mesh = #mesh} {
  func.func @results(%x: tensor<6x24xf32, #last>, %w: tensor<10x24xf32, #last>) -> (tensor<6x24xf32, #last>, tensor<6x24xf32, #last> {tp.role = "logits"}, tensor<6x10xf32, #p2> {tp.role = "hidden"}) {
    %p = tp.matmul %x, %w {tp.ways = {tp = "h"}} : (tensor<6x24xf32, #last>, tensor<10x24xf32, #last>) -> tensor<6x10xf32, #p2>
    return %x, %x, %p : tensor<6x24xf32, #last>, tensor<6x24xf32, #last>, tensor<6x10xf32, #p2>
  }
}
