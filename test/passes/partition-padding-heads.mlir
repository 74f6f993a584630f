// RUN: tp-opt %s --split-input-file --tp-partition | FileCheck %s
//
// What ops over heads make of padded heads: as in partition-padding.mlir.

#mesh = #tp.mesh<"tp"=2>
#p1 = #tp.layout<#mesh, [_] partial "tp">
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#s1 = #tp.layout<#mesh, [{5 pad 6 over "tp"}]>
#s2 = #tp.layout<#mesh, [_, {5 pad 6 over "tp"}]>
#rows = #tp.layout<#mesh, [{5 pad 6 over "tp"}, _]>
#heads = #tp.layout<#mesh, [_, _, {3 pad 4 over "tp"}, _]>
#h5 = #tp.layout<#mesh, [_, _, {3 pad 4 over "tp"}, _, _]>
// Heads: a result's padding is that of the values, a gradient's that of dy. What
// is not split along the heads says nothing of them.
// CHECK-LABEL: func.func @heads(
// CHECK: tp.attention 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.attention 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.attention_grad 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.attention_grad 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.mul 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.rotary 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.mul 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.rotary 
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.add 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
// CHECK: tp.add 
// CHECK-NEXT: tp.mask_padding %{{.*}} with 0.000000e+00
// CHECK-NEXT: tp.sum_squares
module attributes {tp.mesh = #mesh} {
  tp.parameter @zq : tensor<2x4x3x1x6xf32, #h5> {id = 0 : i64, init = #tp.init<zeros>}
  tp.parameter @zv : tensor<2x4x3x6xf32, #heads> {id = 1 : i64, init = #tp.init<zeros>}
  func.func @heads(%q: tensor<2x4x3x1x6xf32, #h5>, %v: tensor<2x4x3x6xf32, #heads>, %lse: tensor<2x4x3x1xf32, #heads>, %c: tensor<6xf32, #c1>) {
    %zq = tp.param @zq : tensor<2x4x3x1x6xf32, #h5>
    %zv = tp.param @zv : tensor<2x4x3x6xf32, #heads>
    %v0, %l0 = tp.attention %zq, %v, %v {scale = 0.5 : f64} : (tensor<2x4x3x1x6xf32, #h5>, tensor<2x4x3x6xf32, #heads>, tensor<2x4x3x6xf32, #heads>) -> (tensor<2x4x3x1x6xf32, #h5>, tensor<2x4x3x1xf32, #heads>)
    %q0 = tp.sum_squares %v0 : (tensor<2x4x3x1x6xf32, #h5>) -> tensor<3xf32, #p1>
    %g0 = tp.g %q0 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "0", %g0 : tensor<3xf32, #r1>
    %v1, %l1 = tp.attention %q, %v, %zv {scale = 0.5 : f64} : (tensor<2x4x3x1x6xf32, #h5>, tensor<2x4x3x6xf32, #heads>, tensor<2x4x3x6xf32, #heads>) -> (tensor<2x4x3x1x6xf32, #h5>, tensor<2x4x3x1xf32, #heads>)
    %q1 = tp.sum_squares %v1 : (tensor<2x4x3x1x6xf32, #h5>) -> tensor<3xf32, #p1>
    %g1 = tp.g %q1 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "1", %g1 : tensor<3xf32, #r1>
    %v2, %k2, %w2 = tp.attention_grad %zq, %zv, %zv, %lse, %q {scale = 0.5 : f64} : (tensor<2x4x3x1x6xf32, #h5>, tensor<2x4x3x6xf32, #heads>, tensor<2x4x3x6xf32, #heads>, tensor<2x4x3x1xf32, #heads>, tensor<2x4x3x1x6xf32, #h5>) -> (tensor<2x4x3x1x6xf32, #h5>, tensor<2x4x3x6xf32, #heads>, tensor<2x4x3x6xf32, #heads>)
    %q2 = tp.sum_squares %v2 : (tensor<2x4x3x1x6xf32, #h5>) -> tensor<3xf32, #p1>
    %g2 = tp.g %q2 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "2", %g2 : tensor<3xf32, #r1>
    %v3, %k3, %w3 = tp.attention_grad %zq, %zv, %zv, %lse, %zq {scale = 0.5 : f64} : (tensor<2x4x3x1x6xf32, #h5>, tensor<2x4x3x6xf32, #heads>, tensor<2x4x3x6xf32, #heads>, tensor<2x4x3x1xf32, #heads>, tensor<2x4x3x1x6xf32, #h5>) -> (tensor<2x4x3x1x6xf32, #h5>, tensor<2x4x3x6xf32, #heads>, tensor<2x4x3x6xf32, #heads>)
    %q3 = tp.sum_squares %v3 : (tensor<2x4x3x1x6xf32, #h5>) -> tensor<3xf32, #p1>
    %g3 = tp.g %q3 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "3", %g3 : tensor<3xf32, #r1>
    %v4 = tp.mul %v, %c : (tensor<2x4x3x6xf32, #heads>, tensor<6xf32, #c1>) -> tensor<2x4x3x6xf32, #heads>
    %q4 = tp.sum_squares %v4 : (tensor<2x4x3x6xf32, #heads>) -> tensor<3xf32, #p1>
    %g4 = tp.g %q4 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "4", %g4 : tensor<3xf32, #r1>
    %v5 = tp.rotary %v {frequencies = array<f64: 1.0, 0.5, 0.25>} : (tensor<2x4x3x6xf32, #heads>) -> tensor<2x4x3x6xf32, #heads>
    %q5 = tp.sum_squares %v5 : (tensor<2x4x3x6xf32, #heads>) -> tensor<3xf32, #p1>
    %g5 = tp.g %q5 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "5", %g5 : tensor<3xf32, #r1>
    %v6 = tp.mul %zv, %c : (tensor<2x4x3x6xf32, #heads>, tensor<6xf32, #c1>) -> tensor<2x4x3x6xf32, #heads>
    %q6 = tp.sum_squares %v6 : (tensor<2x4x3x6xf32, #heads>) -> tensor<3xf32, #p1>
    %g6 = tp.g %q6 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "6", %g6 : tensor<3xf32, #r1>
    %v7 = tp.rotary %zv {frequencies = array<f64: 1.0, 0.5, 0.25>} : (tensor<2x4x3x6xf32, #heads>) -> tensor<2x4x3x6xf32, #heads>
    %q7 = tp.sum_squares %v7 : (tensor<2x4x3x6xf32, #heads>) -> tensor<3xf32, #p1>
    %g7 = tp.g %q7 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "7", %g7 : tensor<3xf32, #r1>
    %v8 = tp.add %v, %c : (tensor<2x4x3x6xf32, #heads>, tensor<6xf32, #c1>) -> tensor<2x4x3x6xf32, #heads>
    %q8 = tp.sum_squares %v8 : (tensor<2x4x3x6xf32, #heads>) -> tensor<3xf32, #p1>
    %g8 = tp.g %q8 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "8", %g8 : tensor<3xf32, #r1>
    %v9 = tp.add %zv, %c : (tensor<2x4x3x6xf32, #heads>, tensor<6xf32, #c1>) -> tensor<2x4x3x6xf32, #heads>
    %q9 = tp.sum_squares %v9 : (tensor<2x4x3x6xf32, #heads>) -> tensor<3xf32, #p1>
    %g9 = tp.g %q9 over ["tp"] : tensor<3xf32, #p1> -> tensor<3xf32, #r1>
    tp.output "9", %g9 : tensor<3xf32, #r1>
    return
  }
}
