// RUN: tp-opt %s --split-input-file --tp-partition | FileCheck %s
//
// What each op makes of padding. %x comes from outside, so its padding may hold
// anything; that of a parameter, %z, is zero. tp.sum_squares sums over all of a
// block: it reads a mask unless what the op has made is known to be zero.

#mesh = #tp.mesh<"tp"=2>
#p1 = #tp.layout<#mesh, [_] partial "tp">
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#s1 = #tp.layout<#mesh, [{5 pad 6 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}]>
#rows = #tp.layout<#mesh, [{5 pad 6 over "tp"}, _]>
// Element by element: zero where the mathematics says so.
// CHECK-LABEL: func.func @elements(
// CHECK: tp.add 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.add 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.add 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.mul 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.mul 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.mul 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.accumulate 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.accumulate 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.accumulate 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.scale 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.scale 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.relu 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.relu 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.silu 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.silu 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.gelu 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.gelu 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.dropout 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.dropout 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.relu_grad 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.relu_grad 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.silu_grad 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.silu_grad 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.gelu_grad 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.gelu_grad 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.sum_leading 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.sum_leading 
// CHECK-NEXT: tp.sum_squares
module attributes {tp.mesh = #mesh} {
  tp.parameter @z : tensor<6x5xf32, #s2> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @elements(%x: tensor<6x5xf32, #s2>) {
    %z = tp.param @z : tensor<6x5xf32, #s2>
    %v0 = tp.add %x, %z : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q0 = tp.sum_squares %v0 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g0 = tp.g %q0 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "0", %g0 : tensor<3xf32, #r1>
    %v1 = tp.add %z, %x : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q1 = tp.sum_squares %v1 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g1 = tp.g %q1 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "1", %g1 : tensor<3xf32, #r1>
    %v2 = tp.add %z, %z : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q2 = tp.sum_squares %v2 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g2 = tp.g %q2 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "2", %g2 : tensor<3xf32, #r1>
    %v3 = tp.mul %x, %x : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q3 = tp.sum_squares %v3 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g3 = tp.g %q3 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "3", %g3 : tensor<3xf32, #r1>
    %v4 = tp.mul %x, %z : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q4 = tp.sum_squares %v4 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g4 = tp.g %q4 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "4", %g4 : tensor<3xf32, #r1>
    %v5 = tp.mul %z, %x : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q5 = tp.sum_squares %v5 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g5 = tp.g %q5 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "5", %g5 : tensor<3xf32, #r1>
    %v6 = tp.accumulate %x, %z : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q6 = tp.sum_squares %v6 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g6 = tp.g %q6 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "6", %g6 : tensor<3xf32, #r1>
    %v7 = tp.accumulate %z, %x : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q7 = tp.sum_squares %v7 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g7 = tp.g %q7 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "7", %g7 : tensor<3xf32, #r1>
    %v8 = tp.accumulate %z, %z : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q8 = tp.sum_squares %v8 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g8 = tp.g %q8 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "8", %g8 : tensor<3xf32, #r1>
    %v9 = tp.scale %x {factor = 3.0 : f64} : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q9 = tp.sum_squares %v9 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g9 = tp.g %q9 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "9", %g9 : tensor<3xf32, #r1>
    %v10 = tp.scale %z {factor = 3.0 : f64} : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q10 = tp.sum_squares %v10 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g10 = tp.g %q10 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "10", %g10 : tensor<3xf32, #r1>
    %v11 = tp.relu %x : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q11 = tp.sum_squares %v11 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g11 = tp.g %q11 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "11", %g11 : tensor<3xf32, #r1>
    %v12 = tp.relu %z : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q12 = tp.sum_squares %v12 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g12 = tp.g %q12 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "12", %g12 : tensor<3xf32, #r1>
    %v13 = tp.silu %x : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q13 = tp.sum_squares %v13 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g13 = tp.g %q13 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "13", %g13 : tensor<3xf32, #r1>
    %v14 = tp.silu %z : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q14 = tp.sum_squares %v14 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g14 = tp.g %q14 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "14", %g14 : tensor<3xf32, #r1>
    %v15 = tp.gelu %x : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q15 = tp.sum_squares %v15 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g15 = tp.g %q15 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "15", %g15 : tensor<3xf32, #r1>
    %v16 = tp.gelu %z : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q16 = tp.sum_squares %v16 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g16 = tp.g %q16 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "16", %g16 : tensor<3xf32, #r1>
    %v17 = tp.dropout %x {p = 0.5 : f64, id = 1 : i64} : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q17 = tp.sum_squares %v17 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g17 = tp.g %q17 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "17", %g17 : tensor<3xf32, #r1>
    %v18 = tp.dropout %z {p = 0.5 : f64, id = 1 : i64} : (tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q18 = tp.sum_squares %v18 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g18 = tp.g %q18 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "18", %g18 : tensor<3xf32, #r1>
    %v19 = tp.relu_grad %z, %x : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q19 = tp.sum_squares %v19 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g19 = tp.g %q19 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "19", %g19 : tensor<3xf32, #r1>
    %v20 = tp.relu_grad %x, %z : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q20 = tp.sum_squares %v20 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g20 = tp.g %q20 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "20", %g20 : tensor<3xf32, #r1>
    %v21 = tp.silu_grad %z, %x : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q21 = tp.sum_squares %v21 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g21 = tp.g %q21 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "21", %g21 : tensor<3xf32, #r1>
    %v22 = tp.silu_grad %x, %z : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q22 = tp.sum_squares %v22 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g22 = tp.g %q22 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "22", %g22 : tensor<3xf32, #r1>
    %v23 = tp.gelu_grad %z, %x : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q23 = tp.sum_squares %v23 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g23 = tp.g %q23 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "23", %g23 : tensor<3xf32, #r1>
    %v24 = tp.gelu_grad %x, %z : (tensor<6x5xf32, #s2>, tensor<6x5xf32, #s2>) -> tensor<6x5xf32, #s2>
    %q24 = tp.sum_squares %v24 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g24 = tp.g %q24 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "24", %g24 : tensor<3xf32, #r1>
    %v25 = tp.sum_leading %x : (tensor<6x5xf32, #s2>) -> tensor<5xf32, #s1>
    %q25 = tp.sum_squares %v25 : (tensor<5xf32, #s1>) -> tensor<3xf32, #p1>
    %g25 = tp.g %q25 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "25", %g25 : tensor<3xf32, #r1>
    %v26 = tp.sum_leading %z : (tensor<6x5xf32, #s2>) -> tensor<5xf32, #s1>
    %q26 = tp.sum_squares %v26 : (tensor<5xf32, #s1>) -> tensor<3xf32, #p1>
    %g26 = tp.g %q26 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "26", %g26 : tensor<3xf32, #r1>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p1 = #tp.layout<#mesh, [_] partial "tp">
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#s1 = #tp.layout<#mesh, [{5 pad 6 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}]>
#rows = #tp.layout<#mesh, [{5 pad 6 over "tp"}, _]>
// A table's rows: none is added to padding. Its columns: what is added to them.
// CHECK-LABEL: func.func @tables(
// CHECK: tp.embedding_grad 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.embedding_grad 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.embedding_grad 
// CHECK-NEXT: tp.sum_squares
module attributes {tp.mesh = #mesh} {
  tp.parameter @z : tensor<6x5xf32, #s2> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @tables(%ids: tensor<6xi32, #r1>, %x: tensor<6x5xf32, #s2>, %whole: tensor<6x4xf32, #tp.layout<#mesh, [_, _] copied "tp">>) {
    %z = tp.param @z : tensor<6x5xf32, #s2>
    %v0 = tp.embedding_grad %ids, %x : (tensor<6xi32, #r1>, tensor<6x5xf32, #s2>) -> tensor<7x5xf32, #s2>
    %q0 = tp.sum_squares %v0 : (tensor<7x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g0 = tp.g %q0 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "0", %g0 : tensor<3xf32, #r1>
    %v1 = tp.embedding_grad %ids, %z : (tensor<6xi32, #r1>, tensor<6x5xf32, #s2>) -> tensor<7x5xf32, #s2>
    %q1 = tp.sum_squares %v1 : (tensor<7x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g1 = tp.g %q1 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "1", %g1 : tensor<3xf32, #r1>
    %v2 = tp.embedding_grad %ids, %whole : (tensor<6xi32, #r1>, tensor<6x4xf32, #c2>) -> tensor<5x4xf32, #rows>
    %q2 = tp.sum_squares %v2 : (tensor<5x4xf32, #rows>) -> tensor<3xf32, #p1>
    %g2 = tp.g %q2 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "2", %g2 : tensor<3xf32, #r1>
    return
  }
}

// -----

#mesh = #tp.mesh<"a"=2, "tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#p1 = #tp.layout<#mesh, [_] partial "tp">
#s2 = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}]>
#c2 = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}] copied "a">
#p2 = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}] partial "a">
// A change on another axis leaves padding as it is.
// CHECK-LABEL: func.func @changes(
// CHECK: tp.all_reduce 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
module attributes {tp.mesh = #mesh} {
  tp.parameter @z : tensor<6x5xf32, #s2> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @changes(%x: tensor<6x5xf32, #s2>, %p: tensor<6x5xf32, #p2>) {
    %z = tp.param @z : tensor<6x5xf32, #s2>
    %v0 = tp.g %p over ["a"] : tensor<6x5xf32, #p2> -> tensor<6x5xf32, #s2>
    %q0 = tp.sum_squares %v0 : (tensor<6x5xf32, #s2>) -> tensor<3xf32, #p1>
    %g0 = tp.g %q0 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "0", %g0 : tensor<3xf32, #r1>
    return
  }
}

// -----

// Padding that a change of layout makes is zero, whatever came before.
#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#s1 = #tp.layout<#mesh, [{5 pad 6 over "tp"}]>
// CHECK-LABEL: func.func @sliced(
// CHECK: tp.local_slice
// CHECK-NOT: tp.mask_padding
// CHECK: tp.sum_squares
module attributes {tp.mesh = #mesh} {
func.func @sliced(%x: tensor<5xf32, #r1>) {
  %s = tp.slice %x over ["tp"] : tensor<5xf32, #r1> -> tensor<5xf32, #s1>
  %q = tp.sum_squares %s : (tensor<5xf32, #s1>) -> tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">>
  %g = tp.g %q over ["tp"] : tensor<3xf32, #tp.layout<#mesh, [_] partial "tp">> -> tensor<3xf32, #r1>
  tp.output "y", %g : tensor<3xf32, #r1>
  return
}
}
