// RUN: tp-opt %s --split-input-file --tp-differentiate | FileCheck %s
//
// Gradients and the conjugates of changes of layout. (The pairs gather-scatter
// and unslice-slice are in test/faults/12-gather-and-unslice.mlir.)

#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#out = #tp.layout<#mesh, [{24 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {24 over "tp"}]>
// The MLP: the conjugate of g is f, that of f is g, in the opposite order; a
// gradient's type is the dual of its value's.
tp.parameter @x : tensor<6x16xf32, #r2> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @up : tensor<24x16xf32, #out> {id = 1 : i64, init = #tp.init<zeros>}
tp.parameter @down : tensor<10x24xf32, #last> {id = 2 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @mlp(
// CHECK: %[[X:.*]] = tp.param @x
// CHECK: %[[UP:.*]] = tp.param @up
// CHECK: %[[DOWN:.*]] = tp.param @down
// CHECK: %[[C:.*]] = tp.f %[[X]]
// CHECK: %[[U:.*]] = tp.matmul %[[C]], %[[UP]]
// CHECK: %[[A:.*]] = tp.relu %[[U]]
// CHECK: %[[P:.*]] = tp.matmul %[[A]], %[[DOWN]]
// CHECK: tp.g %[[P]] over ["tp"] {reason = "tp.row_max wants R"}
// CHECK: tp.output "loss", %{{.*}} : tensor<f32, #r0>
// CHECK-NOT: "token_count"
// CHECK-NEXT: tp.next ^[[BACKWARD:.*]]
// CHECK-NEXT: ^[[BACKWARD]]:
// CHECK-NEXT: tp.seed
// CHECK: %[[DY:.*]] = tp.accumulate %{{.*}}, %{{.*}} : (tensor<6x10xf32, #r2>
// CHECK: %[[DP:.*]] = tp.f %[[DY]] over ["tp"] {reason = "gradient of: tp.row_max wants R"} : tensor<6x10xf32, #r2> -> tensor<6x10xf32, #c2_tp>
// CHECK-DAG: %[[DA:.*]] = tp.matmul_dgrad %[[DP]], %[[DOWN]] : {{.*}} -> tensor<6x24xf32, #s2_tp_d1_24>
// CHECK-DAG: %[[DDOWN:.*]] = tp.matmul_wgrad %[[DP]], %[[A]] : {{.*}} -> tensor<10x24xf32, #s2_tp_d1_24>
// CHECK: %[[DU:.*]] = tp.relu_grad %[[U]], %[[DA]]
// CHECK-DAG: %[[DC:.*]] = tp.matmul_dgrad %[[DU]], %[[UP]] : {{.*}} -> tensor<6x16xf32, #p2_tp>
// CHECK-DAG: %[[DUP:.*]] = tp.matmul_wgrad %[[DU]], %[[C]] : {{.*}} -> tensor<24x16xf32, #s2_tp_d0_24>
// CHECK: %[[DX:.*]] = tp.g %[[DC]] over ["tp"] {reason = "gradient of: tp.matmul wants C"} : tensor<6x16xf32, #p2_tp> -> tensor<6x16xf32, #r2>
// CHECK-DAG: tp.output "gradient" gradient @x, %[[DX]]
// CHECK-DAG: tp.output "gradient" gradient @up, %[[DUP]]
// CHECK-DAG: tp.output "gradient" gradient @down, %[[DDOWN]]
// CHECK: tp.next ^[[UPDATE:.*]]
// CHECK-NEXT: ^[[UPDATE]]:
// CHECK-NEXT: return{{$}}
func.func @mlp(%l: tensor<6xi32, #r1>) -> (tensor<f32, #r0> {tp.role = "loss"}) {
  %x = tp.param @x : tensor<6x16xf32, #r2>
  %up = tp.param @up : tensor<24x16xf32, #out>
  %down = tp.param @down : tensor<10x24xf32, #last>
  %c = tp.f %x over ["tp"] {reason = "tp.matmul wants C"} : tensor<6x16xf32, #r2> -> tensor<6x16xf32, #c2>
  %u = tp.matmul %c, %up : (tensor<6x16xf32, #c2>, tensor<24x16xf32, #out>) -> tensor<6x24xf32, #last>
  %a = tp.relu %u : (tensor<6x24xf32, #last>) -> tensor<6x24xf32, #last>
  %p = tp.matmul %a, %down : (tensor<6x24xf32, #last>, tensor<10x24xf32, #last>) -> tensor<6x10xf32, #p2>
  %y = tp.g %p over ["tp"] {reason = "tp.row_max wants R"} : tensor<6x10xf32, #p2> -> tensor<6x10xf32, #r2>
  %m = tp.row_max %y : (tensor<6x10xf32, #r2>) -> tensor<6xf32, #r1>
  %e = tp.sum_exp %y, %m : (tensor<6x10xf32, #r2>, tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  %k = tp.pick %y, %l : (tensor<6x10xf32, #r2>, tensor<6xi32, #r1>) -> tensor<6xf32, #r1>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
  return %s : tensor<f32, #r0>
}

// -----

// Without layouts too. One value with two uses: its gradients are added; a bias
// takes the sum over rows, and the frozen weight has no gradient of its own.
tp.parameter @b : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @w : tensor<4x4xf32> {id = 1 : i64, init = #tp.init<zeros>, frozen}
// CHECK-LABEL: func.func @two_uses(
// CHECK-DAG: %[[W:.*]] = tp.param @w
// CHECK-DAG: %[[B:.*]] = tp.param @b
// CHECK: %[[V:.*]] = tp.add %{{.*}}, %[[B]]
// CHECK-NOT: tp.matmul_wgrad
// CHECK: %[[D1:.*]] = tp.matmul_dgrad %{{.*}}, %[[W]]
// CHECK: %[[D2:.*]] = tp.accumulate {{.*}} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
// CHECK: %[[DB:.*]] = tp.sum_leading %[[D2]] : (tensor<6x4xf32>) -> tensor<4xf32>
// CHECK: tp.output "gradient" gradient @b, %[[DB]]
// CHECK-NOT: gradient @w
func.func @two_uses(%x: tensor<6x4xf32>, %l: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %b = tp.param @b : tensor<4xf32>
  %w = tp.param @w : tensor<4x4xf32>
  %v = tp.add %x, %b : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  %u = tp.matmul %v, %w : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  %y = tp.add %v, %u : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %m = tp.row_max %y : (tensor<6x4xf32>) -> tensor<6xf32>
  %e = tp.sum_exp %y, %m : (tensor<6x4xf32>, tensor<6xf32>) -> tensor<6xf32>
  %k = tp.pick %y, %l : (tensor<6x4xf32>, tensor<6xi32>) -> tensor<6xf32>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#p1 = #tp.layout<#mesh, [_] partial "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#rows = #tp.layout<#mesh, [{10 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {10 over "tp"}]>
// A tied table, read twice: both its gradients are blocks of rows, and their sum
// needs no collective.
tp.parameter @table : tensor<10x4xf32, #rows> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @tied_table(
// CHECK-SAME: %[[IDS:[^:]*]]: tensor<6xi32
// CHECK: %[[D1:.*]] = tp.matmul_wgrad %{{.*}} -> tensor<10x4xf32, #[[ROWS:.*]]>
// CHECK: %[[SUM:.*]] = tp.g %{{.*}} : tensor<6x4xf32, #p2_tp> -> tensor<6x4xf32, #r2>
// CHECK: %[[COPY:.*]] = tp.f %[[SUM]]
// CHECK: %[[D2:.*]] = tp.embedding_grad %[[IDS]], %[[COPY]] : {{.*}} -> tensor<10x4xf32, #[[ROWS]]>
// CHECK: %[[D:.*]] = tp.accumulate %[[D1]], %[[D2]]
// CHECK: tp.output "gradient" gradient @table, %[[D]]
// CHECK-NOT: gradient @table
func.func @tied_table(%ids: tensor<6xi32, #r1>, %l: tensor<6xi32, #r1>) -> (tensor<f32, #r0> {tp.role = "loss"}) {
  %a = tp.param @table : tensor<10x4xf32, #rows>
  %p = tp.embedding %ids, %a : (tensor<6xi32, #r1>, tensor<10x4xf32, #rows>) -> tensor<6x4xf32, #p2>
  %x = tp.g %p over ["tp"] : tensor<6x4xf32, #p2> -> tensor<6x4xf32, #r2>
  %c = tp.f %x over ["tp"] : tensor<6x4xf32, #r2> -> tensor<6x4xf32, #c2>
  %b = tp.param @table : tensor<10x4xf32, #rows>
  %y = tp.matmul %c, %b : (tensor<6x4xf32, #c2>, tensor<10x4xf32, #rows>) -> tensor<6x10xf32, #last>
  %pm = tp.row_max %y : (tensor<6x10xf32, #last>) -> tensor<6xf32, #tp.layout<#mesh, [_] partial_max "tp">>
  %m = tp.g_max %pm over ["tp"] : tensor<6xf32, #tp.layout<#mesh, [_] partial_max "tp">> -> tensor<6xf32, #r1>
  %cm = tp.f %m over ["tp"] : tensor<6xf32, #r1> -> tensor<6xf32, #c1>
  %pe = tp.sum_exp %y, %cm : (tensor<6x10xf32, #last>, tensor<6xf32, #c1>) -> tensor<6xf32, #p1>
  %e = tp.g %pe over ["tp"] : tensor<6xf32, #p1> -> tensor<6xf32, #r1>
  %pk = tp.pick %y, %l : (tensor<6x10xf32, #last>, tensor<6xi32, #r1>) -> tensor<6xf32, #p1>
  %k = tp.g %pk over ["tp"] : tensor<6xf32, #p1> -> tensor<6xf32, #r1>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
  return %s : tensor<f32, #r0>
}

// -----

// The count of a mean leaves the step beside it, where every rank has it
// whole. (The sum of @mlp has none.)
#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
tp.parameter @w : tensor<6xf32, #r1> {id = 0 : i64, init = #tp.init<ones>}
// CHECK-LABEL: func.func @mean(
// CHECK: %{{.*}}, %[[N:.*]] = tp.token_loss
// CHECK: tp.output "loss"
// CHECK-NEXT: tp.output "token_count", %[[N]] : tensor<f32, #r0>
func.func @mean(%m: tensor<6xf32, #r1>, %k: tensor<6xf32, #r1>, %l: tensor<6xi32, #r1>) -> (tensor<f32, #r0> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6xf32, #r1>
  %s, %n = tp.token_loss %m, %w, %k, %l {ignore = -100 : i64} : (tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
  %y = tp.mean %s, %n : (tensor<f32, #r0>, tensor<f32, #r0>) -> tensor<f32, #r0>
  return %y : tensor<f32, #r0>
}

// -----

// What does not reach the loss has no backward: not the side result, nor the
// parameter that only it reads. A result that is a parameter leaves as a copy,
// since the update overwrites it.
tp.parameter @w : tensor<6x9xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @v : tensor<4x9xf32> {id = 1 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @side_results(
// CHECK: %[[W:.*]] = tp.param @w
// CHECK: %[[R:.*]] = tp.reshape %[[W]]
// CHECK: tp.output "loss"
// CHECK: tp.output "side"
// CHECK: %[[COPY:.*]] = tp.scale %[[R]] {factor = 1.000000e+00 : f64}
// CHECK: tp.output "table", %[[COPY]]
// CHECK: tp.next
// CHECK-NOT: tp.relu_grad
// CHECK-NOT: tp.matmul_
// CHECK: tp.output "gradient" gradient @w
// CHECK-NOT: gradient @v
func.func @side_results(%l: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}, tensor<6x4xf32> {tp.role = "side"}, tensor<54xf32> {tp.role = "table"}) {
  %w = tp.param @w : tensor<6x9xf32>
  %v = tp.param @v : tensor<4x9xf32>
  %r = tp.relu %w : (tensor<6x9xf32>) -> tensor<6x9xf32>
  %side = tp.matmul %r, %v : (tensor<6x9xf32>, tensor<4x9xf32>) -> tensor<6x4xf32>
  %m = tp.row_max %w : (tensor<6x9xf32>) -> tensor<6xf32>
  %e = tp.sum_exp %w, %m : (tensor<6x9xf32>, tensor<6xf32>) -> tensor<6xf32>
  %k = tp.pick %w, %l : (tensor<6x9xf32>, tensor<6xi32>) -> tensor<6xf32>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  %table = tp.reshape %w : (tensor<6x9xf32>) -> tensor<54xf32>
  return %s, %side, %table : tensor<f32>, tensor<6x4xf32>, tensor<54xf32>
}

// -----

// A maximum that is meant as a constant says so.
tp.parameter @w : tensor<6x9xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @constant_maximum(
// CHECK: %[[W:.*]] = tp.param @w
// CHECK: %[[C:.*]] = tp.stop_gradient %[[W]]
// CHECK: tp.row_max %[[C]]
// CHECK: tp.next
// CHECK: %[[D:.*]] = tp.sum_exp_grad
// CHECK: tp.output "gradient" gradient @w, %[[D]]
func.func @constant_maximum(%l: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<6x9xf32>
  %c = tp.stop_gradient %w : (tensor<6x9xf32>) -> tensor<6x9xf32>
  %m = tp.row_max %c : (tensor<6x9xf32>) -> tensor<6xf32>
  %e = tp.sum_exp %w, %m : (tensor<6x9xf32>, tensor<6xf32>) -> tensor<6xf32>
  %s, %n = tp.token_loss %m, %e, %m, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}

// -----

// What an op's gradient takes over from it: factor, probability and id, angles,
// scale and direction. A value that an op takes twice has two gradients.
tp.parameter @b : tensor<3x2x1x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @attributes(
// CHECK: tp.next
// CHECK: %[[DR:.*]] = tp.reshape
// CHECK-NEXT: %[[D3:.*]] = tp.rotary %[[DR]] {frequencies = array<f64: 1.000000e+00, 5.000000e-01>} :
// CHECK-NEXT: %[[D2:.*]] = tp.rotary %[[D3]] {frequencies = array<f64: 1.000000e+00, 2.500000e-01>, inverse, scale = 3.000000e+00 : f64} :
// CHECK-NEXT: %[[D1:.*]] = tp.dropout %[[D2]] {id = 7 : i64, p = 2.500000e-01 : f64} :
// CHECK-NEXT: %[[D0:.*]] = tp.scale %[[D1]] {factor = -2.500000e+00 : f64} :
// CHECK-NEXT: %[[DB:.*]] = tp.accumulate %[[D0]], %[[D0]]
// CHECK-NEXT: tp.output "gradient" gradient @b, %[[DB]]
func.func @attributes(%l: tensor<3x2xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %b = tp.param @b : tensor<3x2x1x4xf32>
  %u = tp.add %b, %b : (tensor<3x2x1x4xf32>, tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
  %v = tp.scale %u {factor = -2.5 : f64} : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
  %w = tp.dropout %v {p = 0.25 : f64, id = 7 : i64} : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
  %x = tp.rotary %w {frequencies = array<f64: 1.0, 0.25>, scale = 3.0 : f64} : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
  %y = tp.rotary %x {frequencies = array<f64: 1.0, 0.5>, inverse} : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
  %z = tp.reshape %y : (tensor<3x2x1x4xf32>) -> tensor<3x2x4xf32>
  %m = tp.row_max %z : (tensor<3x2x4xf32>) -> tensor<3x2xf32>
  %e = tp.sum_exp %z, %m : (tensor<3x2x4xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %k = tp.pick %z, %l : (tensor<3x2x4xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xi32>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}

// -----

#mesh = #tp.mesh<"a"=2, "b"=3>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied ("a", "b")>
#p2 = #tp.layout<#mesh, [_, _] partial ("a", "b")>
#out = #tp.layout<#mesh, [{12 over ("a", "b")}, _]>
#last = #tp.layout<#mesh, [_, {12 over ("a", "b")}]>
// A change over several axes has its conjugate over all of them.
tp.parameter @x : tensor<6x4xf32, #r2> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @up : tensor<12x4xf32, #out> {id = 1 : i64, init = #tp.init<zeros>}
tp.parameter @down : tensor<10x12xf32, #last> {id = 2 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @two_axes(
// CHECK: tp.next
// CHECK: tp.f %{{.*}} over ["a", "b"] {reason = "gradient of: sum"}
// CHECK: tp.g %{{.*}} over ["a", "b"] {reason = "gradient of: copy"}
func.func @two_axes(%l: tensor<6xi32, #r1>) -> (tensor<f32, #r0> {tp.role = "loss"}) {
  %x = tp.param @x : tensor<6x4xf32, #r2>
  %up = tp.param @up : tensor<12x4xf32, #out>
  %down = tp.param @down : tensor<10x12xf32, #last>
  %c = tp.f %x over ["a", "b"] {reason = "copy"} : tensor<6x4xf32, #r2> -> tensor<6x4xf32, #c2>
  %u = tp.matmul %c, %up : (tensor<6x4xf32, #c2>, tensor<12x4xf32, #out>) -> tensor<6x12xf32, #last>
  %p = tp.matmul %u, %down : (tensor<6x12xf32, #last>, tensor<10x12xf32, #last>) -> tensor<6x10xf32, #p2>
  %y = tp.g %p over ["a", "b"] {reason = "sum"} : tensor<6x10xf32, #p2> -> tensor<6x10xf32, #r2>
  %m = tp.row_max %y : (tensor<6x10xf32, #r2>) -> tensor<6xf32, #r1>
  %e = tp.sum_exp %y, %m : (tensor<6x10xf32, #r2>, tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  %k = tp.pick %y, %l : (tensor<6x10xf32, #r2>, tensor<6xi32, #r1>) -> tensor<6xf32, #r1>
  %s, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
  return %s : tensor<f32, #r0>
}

// -----

// A result that is a parameter's memory, through whatever op that moves nothing,
// leaves as a copy: the update overwrites it. Others leave as they are.
#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#s1 = #tp.layout<#mesh, [{12 over "tp"}]>
#r2 = #tp.layout<#mesh, [_, _]>
tp.parameter @w : tensor<12xf32, #s1> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @v : tensor<12xf32, #r1> {id = 1 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @views(
// CHECK: %[[W:.*]] = tp.param @w
// CHECK: %[[V:.*]] = tp.param @v
// CHECK: %[[STOP:.*]] = tp.stop_gradient %[[V]]
// CHECK: %[[SHAPE:.*]] = tp.reshape %[[V]]
// CHECK: %[[BOTH:.*]] = tp.reshape %[[STOP]]
// CHECK: %[[WHOLE:.*]] = tp.unslice %[[W]]
// CHECK: %[[TWICE:.*]] = tp.add %[[V]], %[[V]]
// CHECK: %[[VIEW:.*]] = tp.reshape %[[TWICE]]
// CHECK: %[[C0:.*]] = tp.scale %[[V]] {factor = 1.0
// CHECK-NEXT: tp.output "result1", %[[C0]]
// CHECK: %[[C1:.*]] = tp.scale %[[STOP]] {factor = 1.0
// CHECK-NEXT: tp.output "result2", %[[C1]]
// CHECK: %[[C2:.*]] = tp.scale %[[SHAPE]] {factor = 1.0
// CHECK-NEXT: tp.output "result3", %[[C2]]
// CHECK: %[[C3:.*]] = tp.scale %[[BOTH]] {factor = 1.0
// CHECK-NEXT: tp.output "result4", %[[C3]]
// CHECK: %[[C4:.*]] = tp.scale %[[WHOLE]] {factor = 1.0
// CHECK-NEXT: tp.output "result5", %[[C4]]
// CHECK-NEXT: tp.output "result6", %[[VIEW]]
func.func @views(%l: tensor<3xi32, #r1>) -> (tensor<f32, #r0> {tp.role = "loss"}, tensor<12xf32, #r1>, tensor<12xf32, #r1>, tensor<3x4xf32, #r2>, tensor<3x4xf32, #r2>, tensor<12xf32, #r1>, tensor<3x4xf32, #r2>) {
  %w = tp.param @w : tensor<12xf32, #s1>
  %v = tp.param @v : tensor<12xf32, #r1>
  %stop = tp.stop_gradient %v : (tensor<12xf32, #r1>) -> tensor<12xf32, #r1>
  %shape = tp.reshape %v : (tensor<12xf32, #r1>) -> tensor<3x4xf32, #r2>
  %both = tp.reshape %stop : (tensor<12xf32, #r1>) -> tensor<3x4xf32, #r2>
  %whole = tp.unslice %w over ["tp"] : tensor<12xf32, #s1> -> tensor<12xf32, #r1>
  %twice = tp.add %v, %v : (tensor<12xf32, #r1>, tensor<12xf32, #r1>) -> tensor<12xf32, #r1>
  %view = tp.reshape %twice : (tensor<12xf32, #r1>) -> tensor<3x4xf32, #r2>
  %m = tp.row_max %view : (tensor<3x4xf32, #r2>) -> tensor<3xf32, #r1>
  %e = tp.sum_exp %view, %m : (tensor<3x4xf32, #r2>, tensor<3xf32, #r1>) -> tensor<3xf32, #r1>
  %k = tp.pick %view, %l : (tensor<3x4xf32, #r2>, tensor<3xi32, #r1>) -> tensor<3xf32, #r1>
  %loss, %n = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<3xf32, #r1>, tensor<3xf32, #r1>, tensor<3xf32, #r1>, tensor<3xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
  return %loss, %v, %stop, %shape, %both, %whole, %view : tensor<f32, #r0>, tensor<12xf32, #r1>, tensor<12xf32, #r1>, tensor<3x4xf32, #r2>, tensor<3x4xf32, #r2>, tensor<12xf32, #r1>, tensor<3x4xf32, #r2>
}

// -----

// In bf16 the gradient of an activation is bf16, that of a parameter f32: a
// product of rows gives it so, and what sums it over ranks sums f32, though the
// value that was changed is bf16. What is f32 only to be rounded and widened
// again is not rounded.
#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#r2 = #tp.layout<#mesh, [_, _]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#out = #tp.layout<#mesh, [{8 over "tp"}, _]>
#last = #tp.layout<#mesh, [_, {8 over "tp"}]>
#heads = #tp.layout<#mesh, [_, {4 over "tp"}, _]>
tp.parameter @x : tensor<6x4xf32, #r2> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @w : tensor<8x4xbf16, #out> {id = 1 : i64, init = #tp.init<zeros>}
tp.parameter @b : tensor<2xbf16, #r1> {id = 2 : i64, init = #tp.init<zeros>}
tp.parameter @d : tensor<3x8xbf16, #last> {id = 3 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @narrow(
// CHECK: tp.f %{{.*}} over ["tp"] {reason = "a bias of each head"} : tensor<2xbf16, #r1> -> tensor<2xbf16, #c1_tp>
// CHECK: tp.seed
// CHECK: %[[DY:.*]] = tp.accumulate {{.*}} -> tensor<6x3xf32, #r2>
// CHECK-NEXT: %[[DN:.*]] = tp.cast %[[DY]] : (tensor<6x3xf32, #r2>) -> tensor<6x3xbf16, #r2>
// CHECK-NEXT: %[[DP:.*]] = tp.f %[[DN]] {{.*}} : tensor<6x3xbf16, #r2> -> tensor<6x3xbf16, #c2_tp>
// CHECK-DAG: %[[DD:.*]] = tp.matmul_wgrad %[[DP]], {{.*}} -> tensor<3x8xf32, #s2_tp_d1_8>
// CHECK-DAG: tp.matmul_dgrad %[[DP]], {{.*}} -> tensor<6x8xbf16, #s2_tp_d1_8>
// CHECK: %[[DB:.*]] = tp.sum_leading {{.*}} -> tensor<2xf32, #p1_tp>
// CHECK: %[[SB:.*]] = tp.g %[[DB]] over ["tp"] {reason = "gradient of: a bias of each head"} : tensor<2xf32, #p1_tp> -> tensor<2xf32, #r1>
// CHECK-DAG: %[[DW:.*]] = tp.matmul_wgrad {{.*}} -> tensor<8x4xf32, #s2_tp_d0_8>
// CHECK-DAG: %[[DC:.*]] = tp.matmul_dgrad {{.*}} -> tensor<6x4xbf16, #p2_tp>
// CHECK: %[[DX:.*]] = tp.g %[[DC]] {{.*}} : tensor<6x4xbf16, #p2_tp> -> tensor<6x4xbf16, #r2>
// CHECK: tp.cast %[[DX]] : (tensor<6x4xbf16, #r2>) -> tensor<6x4xf32, #r2>
// CHECK-DAG: tp.output "gradient" gradient @d, %[[DD]] : tensor<3x8xf32,
// CHECK-DAG: tp.output "gradient" gradient @b, %[[SB]] : tensor<2xf32, #r1>
// CHECK-DAG: tp.output "gradient" gradient @w, %[[DW]] : tensor<8x4xf32,
func.func @narrow(%l: tensor<6xi32, #r1>) -> (tensor<f32, #r0> {tp.role = "loss"}) {
  %x = tp.param @x : tensor<6x4xf32, #r2>
  %w = tp.param @w : tensor<8x4xbf16, #out>
  %b = tp.param @b : tensor<2xbf16, #r1>
  %d = tp.param @d : tensor<3x8xbf16, #last>
  %s = tp.scale %x {factor = 2.0 : f64} : (tensor<6x4xf32, #r2>) -> tensor<6x4xf32, #r2>
  %n = tp.cast %s : (tensor<6x4xf32, #r2>) -> tensor<6x4xbf16, #r2>
  %c = tp.f %n over ["tp"] : tensor<6x4xbf16, #r2> -> tensor<6x4xbf16, #c2>
  %u = tp.matmul %c, %w : (tensor<6x4xbf16, #c2>, tensor<8x4xbf16, #out>) -> tensor<6x8xbf16, #last>
  %h = tp.reshape %u : (tensor<6x8xbf16, #last>) -> tensor<6x4x2xbf16, #heads>
  %bc = tp.f %b over ["tp"] {reason = "a bias of each head"} : tensor<2xbf16, #r1> -> tensor<2xbf16, #c1>
  %v = tp.add %h, %bc : (tensor<6x4x2xbf16, #heads>, tensor<2xbf16, #c1>) -> tensor<6x4x2xbf16, #heads>
  %j = tp.reshape %v : (tensor<6x4x2xbf16, #heads>) -> tensor<6x8xbf16, #last>
  %p = tp.matmul %j, %d : (tensor<6x8xbf16, #last>, tensor<3x8xbf16, #last>) -> tensor<6x3xbf16, #p2>
  %g = tp.g %p over ["tp"] : tensor<6x3xbf16, #p2> -> tensor<6x3xbf16, #r2>
  %y = tp.cast %g : (tensor<6x3xbf16, #r2>) -> tensor<6x3xf32, #r2>
  %m = tp.row_max %y : (tensor<6x3xf32, #r2>) -> tensor<6xf32, #r1>
  %e = tp.sum_exp %y, %m : (tensor<6x3xf32, #r2>, tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  %k = tp.pick %y, %l : (tensor<6x3xf32, #r2>, tensor<6xi32, #r1>) -> tensor<6xf32, #r1>
  %sum, %count = tp.token_loss %m, %e, %k, %l {ignore = -100 : i64} : (tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xf32, #r1>, tensor<6xi32, #r1>) -> (tensor<f32, #r0>, tensor<f32, #r0>)
  return %sum : tensor<f32, #r0>
}
