// RUN: tp-opt %s --split-input-file --tp-differentiate | FileCheck %s
//
// Fault 12: what follows a gather decides its gradient. Consumers that do
// different work give shares, which a reduce-scatter sums; consumers that repeat
// the same work give the whole, of which a rank keeps its slice.

#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#rows6 = #tp.layout<#mesh, [{6 over "tp"}, _]>
#rows8 = #tp.layout<#mesh, [{8 over "tp"}, _]>
#columns8 = #tp.layout<#mesh, [_, {8 over "tp"}]>
tp.parameter @e : tensor<6x4xf32, #rows6> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @w : tensor<8x4xf32, #rows8> {id = 1 : i64, init = #tp.init<zeros>}

// CHECK-LABEL: func.func @main
// CHECK: %[[WHOLE:.*]] = tp.gather
// CHECK: %[[LOGITS:.*]] = tp.matmul %[[WHOLE]]
// CHECK: tp.unslice %[[LOGITS]]
// CHECK: %[[MINE:.*]] = tp.slice
// CHECK: %[[SHARE:.*]] = tp.matmul_dgrad %[[MINE]]
// CHECK: tp.scatter %[[SHARE]]
// CHECK-NOT: tp.g %
func.func @main(%labels: tensor<6xi32, #r1>) -> (tensor<f32, #r0> {tp.role = "loss"}) {
  %e = tp.param @e : tensor<6x4xf32, #rows6>
  %w = tp.param @w : tensor<8x4xf32, #rows8>
  %whole = tp.gather %e over ["tp"] : tensor<6x4xf32, #rows6> -> tensor<6x4xf32, #c2>
  %y = tp.matmul %whole, %w : (tensor<6x4xf32, #c2>, tensor<8x4xf32, #rows8>) -> tensor<6x8xf32, #columns8>
  %logits = tp.unslice %y over ["tp"] : tensor<6x8xf32, #columns8> -> tensor<6x8xf32, #r2>
  %max = tp.row_max %logits : (tensor<6x8xf32, #r2>) -> tensor<6xf32, #r1>
  %exp = tp.sum_exp %logits, %max : (tensor<6x8xf32, #r2>, tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  %pick = tp.pick %logits, %labels : (tensor<6x8xf32, #r2>, tensor<6xi32, #r1>) -> tensor<6xf32, #r1>
  %sum, %count = tp.token_loss %max, %exp, %pick, %labels {ignore = -100 : i64} : (tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
  %loss = tp.mean %sum, %count : (tensor<f32, #r0>, tensor<f32, #r0>) -> tensor<f32, #r0>
  return %loss : tensor<f32, #r0>
}
