// RUN: tp-opt %s --split-input-file --tp-fuse --lower-to-plan | FileCheck %s
//
// Local ops become instructions over buffers without a place.

// A matmul is a GEMM, a group of row ops one launch, a reshape nothing. The
// second group does the same as the first: one kernel.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<5x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
  // CHECK: plan.kernel @kernel0 [f32 read 120, f32 write 120 over [0]] {
  // CHECK-NOT: plan.kernel
  // CHECK-LABEL: plan.program "main" phases ["forward"] {
  func.func @main(%x: tensor<2x3x4xf32> {tp.input = #tp.input<data "x", batch = 0>}) {
    // CHECK-DAG: %[[W:.*]] = plan.global @w : !plan.buffer<f32>
    // CHECK-DAG: %[[X:.*]] = plan.input 96 "x" role "data" as tensor<2x3x4xf32> batch 0 : !plan.buffer<f32>
    %w = tp.param @w : tensor<5x4xf32>
    // CHECK: %[[Y:.*]] = plan.buffer 120 : !plan.buffer<f32>
    // CHECK-NEXT: plan.gemm 6 x 5 x 4 %[[X]] : f32 by 4, %[[W]] : f32 by 4 transposed to %[[Y]] : f32 by 5 "tp.matmul"
    %y = tp.matmul %x, %w : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
    // CHECK-NEXT: %[[Z:.*]] = plan.buffer 120
    // CHECK-NEXT: plan.launch @kernel0(%[[Y]] : f32 for 120, %[[Z]] : f32 for 120) "tp.relu +1"
    %r = tp.relu %y : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %z = tp.scale %r {factor = 3.0 : f64} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %flat = tp.reshape %z : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
    // CHECK-NEXT: %[[D:.*]] = plan.buffer 96
    // CHECK-NEXT: plan.gemm 6 x 4 x 5 %[[Z]] : f32 by 5, %[[W]] : f32 by 4 to %[[D]] : f32 by 4 "tp.matmul_dgrad"
    %d = tp.matmul_dgrad %flat, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
    // CHECK-NEXT: %[[G:.*]] = plan.buffer 80
    // CHECK-NEXT: plan.gemm 5 x 4 x 6 %[[Z]] : f32 by 5 transposed, %[[D]] : f32 by 4 to %[[G]] : f32 by 4 "tp.matmul_wgrad"
    %g = tp.matmul_wgrad %flat, %d : (tensor<6x5xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
    // CHECK-NEXT: %[[Z2:.*]] = plan.buffer 120
    // CHECK-NEXT: plan.launch @kernel0(%[[Y]] : f32 for 120, %[[Z2]] : f32 for 120) "tp.relu +1"
    %r2 = tp.relu %y : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %z2 = tp.scale %r2 {factor = 3.0 : f64} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    // Outputs come last, one a gradient.
    // CHECK-NEXT: plan.output "flat" role "flat" %[[Z]] : f32 as tensor<6x5xf32>
    // CHECK-NEXT: plan.output "w" role "gradient" parameter @w %[[G]] : f32 as tensor<5x4xf32>
    // CHECK-NEXT: plan.output "z2" role "z2" %[[Z2]] : f32 as tensor<2x3x5xf32>
    tp.output "flat", %flat : tensor<6x5xf32>
    tp.output "gradient" gradient @w, %g : tensor<5x4xf32>
    tp.output "z2", %z2 : tensor<2x3x5xf32>
    return
  }
}

// -----

// Collectives: rows of blocks along the joined dimension, and their reason.

#mesh = #tp.mesh<"dp"=2 batch, "tp"=3>
module attributes {tp.mesh = #mesh} {
  // CHECK-LABEL: plan.program "collectives"
  func.func @collectives(%x: tensor<2x5x7xf32>, %p: tensor<2x2x7xf32>) {
    // CHECK: plan.all_reduce sum of 70 %[[X:.*]] : f32 to %{{.*}} : f32 over ["tp"] payload 280 reason "it" "tp.all_reduce"
    %a = tp.all_reduce %x over ["tp"] {reason = "it"} : tensor<2x5x7xf32> -> tensor<2x5x7xf32>
    // CHECK: plan.all_reduce max of 70 %[[X]] : f32 to %{{.*}} : f32 over ["dp", "tp"] payload 280 "tp.all_reduce"
    %b = tp.all_reduce %x over ["dp", "tp"] {reduction = #tp.reduction<max>} : tensor<2x5x7xf32> -> tensor<2x5x7xf32>
    // CHECK: plan.all_gather 2 x 14 of 35 %{{.*}} : f32 to %{{.*}} : f32 over ["tp"] payload 280 "tp.all_gather"
    %c = tp.all_gather %p over ["tp"] {dim = 1 : i64} : tensor<2x2x7xf32> -> tensor<2x5x7xf32>
    // CHECK: plan.reduce_scatter 2 x 14 of 35 %[[X]] : f32 to %{{.*}} : f32 over ["tp"] payload 280 "tp.reduce_scatter"
    %d = tp.reduce_scatter %x over ["tp"] {dim = 1 : i64} : tensor<2x5x7xf32> -> tensor<2x2x7xf32>
    tp.output "a", %a : tensor<2x5x7xf32>
    tp.output "b", %b : tensor<2x5x7xf32>
    tp.output "c", %c : tensor<2x5x7xf32>
    tp.output "d", %d : tensor<2x2x7xf32>
    return
  }
}

// -----

// Attention stays one instruction; with dropout it knows the whole tensor of
// probabilities, 4 x 6 heads in blocks of 2 groups, and where its block begins.

#mesh = #tp.mesh<"dp"=2 batch, "tp"=3>
#whole = #tp.layout<#mesh, [{10 over "dp"}, _, {6 over "tp"}, _, _]>
module attributes {tp.mesh = #mesh} {
  // CHECK-LABEL: plan.program "attention"
  func.func @attention(%q: tensor<5x7x2x4x8xf32>, %k: tensor<5x9x2x8xf32>) {
    // CHECK: plan.attention %[[Q:.*]] : f32, %[[K:.*]] : f32, %[[K]] : f32 to %{{.*}} : f32, %{{.*}} : f32 sizes [5, 2, 4, 7, 9, 8] scale 2.500000e-01 causal "tp.attention"
    %y, %lse = tp.attention %q, %k, %k {scale = 0.25 : f64, causal} : (tensor<5x7x2x4x8xf32>, tensor<5x9x2x8xf32>, tensor<5x9x2x8xf32>) -> (tensor<5x7x2x4x8xf32>, tensor<5x7x2x4xf32>)
    // CHECK: plan.attention_grad %[[Q]] : f32, %[[K]] : f32, %[[K]] : f32, %{{.*}} : f32, %{{.*}} : f32 to %{{.*}} : f32, %{{.*}} : f32, %{{.*}} : f32 sizes [5, 2, 4, 7, 9, 8] scale 2.500000e-01 dropout 1.000000e-01 id 3 whole [10, 6, 4, 7, 9] starts {{\[}}[5 * c0], [2 * c1], [0], [0], [0]] "tp.attention_grad"
    %dq, %dk, %dv = tp.attention_grad %q, %k, %k, %lse, %y {scale = 0.25 : f64, dropout = 0.1 : f64, id = 3 : i64, layout = #whole} : (tensor<5x7x2x4x8xf32>, tensor<5x9x2x8xf32>, tensor<5x9x2x8xf32>, tensor<5x7x2x4xf32>, tensor<5x7x2x4x8xf32>) -> (tensor<5x7x2x4x8xf32>, tensor<5x9x2x8xf32>, tensor<5x9x2x8xf32>)
    tp.output "dq", %dq : tensor<5x7x2x4x8xf32>
    return
  }
}

// -----

// Two rotations by the same angles, one of them backwards, share two tables; a
// third one with other angles has its own, and so has one that scales. What a
// kernel adds to begins at zero.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  tp.parameter @table : tensor<11x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
  // CHECK: plan.constant @rotary_cos = dense<{{\[}}[1.000000e+00, 1.000000e+00], [0.540302277, 0.87758255]]>
  // CHECK: plan.constant @rotary_sin = dense<{{\[}}[0.000000e+00, 0.000000e+00], [0.841470957, 0.47942555]]>
  // CHECK: plan.constant @rotary_cos_0 =
  // CHECK: plan.constant @rotary_sin_1 =
  // CHECK: plan.constant @rotary_cos_2 = dense<{{\[}}[2.000000e+00, 2.000000e+00], [1.08060455, 1.7551651]]>
  // CHECK: plan.constant @rotary_sin_3 = dense<{{\[}}[0.000000e+00, 0.000000e+00], [1.68294191, 0.958851099]]>
  // CHECK-NOT: plan.constant
  // CHECK-LABEL: plan.program "tables"
  func.func @tables(%ids: tensor<3x2xi32>, %x: tensor<3x2x1x4xf32>, %dy: tensor<3x2x4xf32>) {
    %a = tp.rotary %x {frequencies = array<f64: 1.0, 0.5>} : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
    %b = tp.rotary %a {frequencies = array<f64: 1.0, 0.5>, inverse} : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
    %c = tp.rotary %b {frequencies = array<f64: 1.0, 0.25>} : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
    %e = tp.rotary %c {frequencies = array<f64: 1.0, 0.5>, scale = 2.0 : f64} : (tensor<3x2x1x4xf32>) -> tensor<3x2x1x4xf32>
    // CHECK: %[[D:.*]] = plan.buffer 176
    // CHECK: plan.fill %[[D]] : f32 bytes 176 with 0 "tp.embedding_grad"
    // CHECK: plan.launch @{{.*}}%[[D]] : f32 for 176) "tp.embedding_grad"
    %d = tp.embedding_grad %ids, %dy : (tensor<3x2xi32>, tensor<3x2x4xf32>) -> tensor<11x4xf32>
    tp.output "e", %e : tensor<3x2x1x4xf32>
    tp.output "d", %d : tensor<11x4xf32>
    return
  }
}

// -----

// Phases; new values are copied over the old ones at the end. The old @w, which
// leaves the step and becomes @v too, is kept before it is replaced.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<3xf32> {id = 0 : i64, init = #tp.init<zeros>}
  tp.parameter @v : tensor<3xf32> {id = 1 : i64, init = #tp.init<zeros>}
  tp.parameter @same : tensor<3xf32> {id = 2 : i64, init = #tp.init<zeros>}
  // CHECK-LABEL: plan.program "train" phases ["forward", "backward", "update"] {
  func.func @step() {
    // CHECK: %[[W:.*]] = plan.global @w
    // CHECK: %[[SAME:.*]] = plan.global @same
    // CHECK: %[[V:.*]] = plan.global @v
    %w = tp.param @w : tensor<3xf32>
    %same = tp.param @same : tensor<3xf32>
    // CHECK: %[[NEW:.*]] = plan.buffer 12
    // CHECK-NEXT: plan.launch @kernel0(%[[W]] : f32 for 12, %[[NEW]] : f32 for 12) "tp.relu"
    %new = tp.relu %w : (tensor<3xf32>) -> tensor<3xf32>
    // CHECK-NEXT: plan.next ^[[BACKWARD:.*]]
    tp.next ^backward
  ^backward:
    // CHECK-NEXT: ^[[BACKWARD]]:
    // CHECK-NEXT: plan.next ^[[UPDATE:.*]]
    tp.next ^update
  ^update:
    // CHECK-NEXT: ^[[UPDATE]]:
    // CHECK-NEXT: %[[OUT:.*]] = plan.buffer 12
    // CHECK-NEXT: plan.copy %[[W]] : f32 to %[[OUT]] : f32 bytes 12 "tp.output"
    // CHECK-NEXT: %[[OLD:.*]] = plan.buffer 12
    // CHECK-NEXT: plan.copy %[[W]] : f32 to %[[OLD]] : f32 bytes 12 "tp.update"
    // CHECK-NEXT: plan.copy %[[NEW]] : f32 to %[[W]] : f32 bytes 12 "tp.update"
    // CHECK-NEXT: plan.copy %[[OLD]] : f32 to %[[V]] : f32 bytes 12 "tp.update"
    // CHECK-NEXT: plan.output "old" role "old" %[[OUT]]
    // CHECK-NEXT: plan.output "same" role "same" %[[SAME]]
    // CHECK-NEXT: plan.end
    tp.update @w, %new : tensor<3xf32>
    tp.update @v, %w : tensor<3xf32>
    tp.update @same, %same : tensor<3xf32>
    tp.output "old", %w : tensor<3xf32>
    tp.output "same", %same : tensor<3xf32>
    return
  }
}

// -----

// Inputs as they were declared: role, dimension of the batch, range, padding.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // CHECK-LABEL: plan.program "inputs"
  func.func @inputs(
      // CHECK-DAG: plan.input 24 "input_ids" role "ids" as tensor<2x3xi32> batch 0 range 0 to 64 : !plan.buffer<i32>
      %ids: tensor<2x3xi32> {tp.input = #tp.input<ids "input_ids", low = 0, high = 64>},
      // CHECK-DAG: plan.input 32 "labels" role "labels" as tensor<2x4xi32> batch 0 range 0 to 64 pads -100 : !plan.buffer<i32>
      %labels: tensor<2x4xi32> {tp.input = #tp.input<labels "labels", low = 0, high = 64>},
      // CHECK-DAG: plan.input 20 "bias" role "data" as tensor<5xf32> : !plan.buffer<f32>
      %bias: tensor<5xf32> {tp.input = #tp.input<data "bias">},
      // CHECK-DAG: plan.input 24 "mask" role "data" as tensor<3x2xi32> batch 1 range 0 to 2 pads 1 : !plan.buffer<i32>
      %mask: tensor<3x2xi32> {tp.input = #tp.input<data "mask", batch = 1, low = 0, high = 2, padding = 1>}) {
    return
  }
}
