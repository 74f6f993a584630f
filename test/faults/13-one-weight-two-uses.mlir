// RUN: tp-opt %s --tp-differentiate | FileCheck %s
//
// Fault 13: one norm weight, used once where every rank does the same work and
// once inside a split region. Its f stands at the second use, so the reduction
// of that use's share does too; the first use's gradient is whole already.

#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#columns = #tp.layout<#mesh, [_, {4 over "tp"}]>
#rows = #tp.layout<#mesh, [{4 over "tp"}, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
tp.parameter @x : tensor<6x4xf32, #r2> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @gamma : tensor<4xf32, #r1> {id = 1 : i64, init = #tp.init<ones>}
tp.parameter @up : tensor<4x4xf32, #rows> {id = 2 : i64, init = #tp.init<zeros>}
tp.parameter @down : tensor<4x4xf32, #columns> {id = 3 : i64, init = #tp.init<zeros>}

// CHECK-LABEL: func.func @main
// Backward: one g for the copied use of gamma, none for the replicated use.
// CHECK: %{{.*}}, %[[SHARE:.*]] = tp.rms_norm_grad
// CHECK: %[[SUM:.*]] = tp.g %[[SHARE]] {{.*}} : tensor<4xf32
// CHECK: %{{.*}}, %[[WHOLE:.*]] = tp.rms_norm_grad
// CHECK-NEXT: %[[BOTH:.*]] = tp.accumulate %[[SUM]], %[[WHOLE]]
// CHECK: tp.output {{.*}} gradient @gamma, %[[BOTH]]
func.func @main(%labels: tensor<6xi32, #r1>) -> (tensor<f32, #r0> {tp.role = "loss"}) {
  %x = tp.param @x : tensor<6x4xf32, #r2>
  %gamma = tp.param @gamma : tensor<4xf32, #r1>
  %up = tp.param @up : tensor<4x4xf32, #rows>
  %down = tp.param @down : tensor<4x4xf32, #columns>
  %first = tp.rms_norm %x, %gamma {eps = 1.0e-6 : f64} : (tensor<6x4xf32, #r2>, tensor<4xf32, #r1>) -> tensor<6x4xf32, #r2>
  %copy = tp.f %first over ["tp"] : tensor<6x4xf32, #r2> -> tensor<6x4xf32, #c2>
  %share = tp.f %gamma over ["tp"] : tensor<4xf32, #r1> -> tensor<4xf32, #c1>
  %second = tp.rms_norm %copy, %share {eps = 1.0e-6 : f64} : (tensor<6x4xf32, #c2>, tensor<4xf32, #c1>) -> tensor<6x4xf32, #c2>
  %wide = tp.matmul %second, %up : (tensor<6x4xf32, #c2>, tensor<4x4xf32, #rows>) -> tensor<6x4xf32, #columns>
  %part = tp.matmul %wide, %down : (tensor<6x4xf32, #columns>, tensor<4x4xf32, #columns>) -> tensor<6x4xf32, #p2>
  %logits = tp.g %part over ["tp"] : tensor<6x4xf32, #p2> -> tensor<6x4xf32, #r2>
  %max = tp.row_max %logits : (tensor<6x4xf32, #r2>) -> tensor<6xf32, #r1>
  %exp = tp.sum_exp %logits, %max : (tensor<6x4xf32, #r2>, tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  %pick = tp.pick %logits, %labels : (tensor<6x4xf32, #r2>, tensor<6xi32, #r1>) -> tensor<6xf32, #r1>
  %sum, %count = tp.token_loss %max, %exp, %pick, %labels {ignore = -100 : i64} : (tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
  %loss = tp.mean %sum, %count : (tensor<f32, #r0>, tensor<f32, #r0>) -> tensor<f32, #r0>
  return %loss : tensor<f32, #r0>
}
