// RUN: rm -rf %t && mkdir %t
// RUN: tp-opt %s --tp-complete-inputs --tp-shard="mesh=tp=2 topology=%S/../topologies/flat.yaml" -o %t/shard.mlir
// RUN: FileCheck %s --input-file=%t/shard.mlir --check-prefix=SHARD
// RUN: tp-opt %t/shard.mlir --tp-insert-conjugates --tp-verify-phase=phase=step -o %t/conjugates.mlir
// RUN: FileCheck %s --input-file=%t/conjugates.mlir --check-prefix=CONJUGATES
// RUN: tp-opt %t/conjugates.mlir --tp-differentiate --tp-optimize --tp-verify-phase=phase=step -o %t/step.mlir
// RUN: FileCheck %s --input-file=%t/step.mlir --check-prefix=STEP
// RUN: tp-opt %t/step.mlir --tp-partition --tp-verify-phase=phase=local --tp-count --tp-fuse --tp-verify-phase=phase=local -o %t/local.mlir
// RUN: FileCheck %s --input-file=%t/local.mlir --check-prefix=LOCAL
// RUN: tp-opt %t/local.mlir --lower-to-plan | FileCheck %s --check-prefix=PLAN
// RUN: tp-opt %t/step.mlir --tp-to-plan="output=%t/a.plan" -o %t/plan.mlir
// RUN: tp-translate --mlir-to-plan %t/plan.mlir -o %t/b.plan
// RUN: cmp %t/a.plan %t/b.plan
// RUN: tp-translate --plan-to-mlir %t/a.plan -o %t/c.mlir
// RUN: tp-translate --mlir-to-plan %t/c.mlir -o %t/d.plan
// RUN: cmp %t/a.plan %t/d.plan
// RUN: tp-compile %s --mesh tp=2 --topology %S/../topologies/flat.yaml --outputs gradients -o %t/compiled.plan | FileCheck %s --check-prefix=SUMMARY
//
// A function that is trained, and two that only evaluate, one with a table of
// its own. They share the parameters: training chooses how these are stored,
// though it stands second.

// The weights of the two matmuls are split by rows and columns, the biases too,
// and what only an evaluation reads, or nothing, has a layout as well. An
// evaluation's ways follow from how the training stores: down, whole for its
// few rows, is split there.
// SHARD: tp.parameter @up : tensor<24x16xf32, #[[ROWS:s2_tp_d0_24]]>
// SHARD: tp.parameter @bias : tensor<24xf32, #[[BLOCKS:s1_tp_d0_24]]>
// SHARD: tp.parameter @down : tensor<10x24xf32, #[[COLUMNS:s2_tp_d1_24]]>
// SHARD: tp.parameter @kinds : tensor<5x10xf32, #
// SHARD: tp.parameter @unread : tensor<7xf32, #r1>
// SHARD-LABEL: func.func @evaluate
// SHARD-SAME: "kinds", low = 0, high = 5, padding = 0
// SHARD-SAME: tp.forward, tp.predicted = {bytes = 120 : i64, collectives = 1 : i64, {{.*}} saved_bytes = 0 : i64
// SHARD-NOT: adamw
// SHARD: tp.param @up : tensor<24x16xf32, #[[ROWS]]>
// SHARD: tp.param @down : tensor<10x24xf32, #[[COLUMNS]]>
// SHARD: tp.matmul {{.*}} {tp.ways = {tp = "k"}}
// SHARD: tp.matmul {{.*}} {tp.ways = {tp = "h"}}
// SHARD-LABEL: func.func @main
// SHARD-SAME: tp.predicted = {{.*}}"tp.adamw
// SHARD: tp.matmul {{.*}} {tp.ways = {tp = "k"}}
// SHARD-LABEL: func.func @hidden
// SHARD-SAME: tensor<2x24xf32, #s2_tp_d1_24> {tp.role = "hidden"}
// SHARD: tp.add {{.*}} {tp.ways = {tp = "c0"}}

// CONJUGATES-LABEL: func.func @evaluate
// CONJUGATES: tp.f %arg0 over ["tp"]
// CONJUGATES: tp.g {{.*}} : tensor<3x10xf32
// CONJUGATES-LABEL: func.func @main
// CONJUGATES: tp.g {{.*}} : tensor<6x10xf32
// CONJUGATES-LABEL: func.func @hidden

// Only the trained function has phases, gradients and an update; results of the
// others leave under the same names as its own would, parameters as they are.
// STEP-LABEL: func.func @evaluate
// STEP: %[[UP:.*]] = tp.param @up
// STEP: tp.output "loss"
// STEP-NEXT: tp.output "logits"
// STEP-NEXT: tp.output "result2"
// STEP-NEXT: tp.output "weights", %[[UP]]
// STEP-NEXT: tp.output "token_count"
// STEP-NEXT: return
// STEP-LABEL: func.func @main
// STEP: tp.output "token_count"
// STEP: tp.next
// STEP: tp.seed
// STEP: tp.next
// STEP: tp.update @up,
// STEP-NOT: @kinds
// STEP-LABEL: func.func @hidden
// STEP-NOT: tp.next
// STEP: tp.output "hidden"
// STEP-NEXT: return

// LOCAL: tp.parameter @up : tensor<12x16xf32> {{.*}} whole = tensor<24x16xf32, #[[ROWS:s2_tp_d0_24]]>
// LOCAL-LABEL: func.func @evaluate
// LOCAL-SAME: tp.counted = {bytes = 120 : i64, collectives = 1 : i64, {{.*}} saved_bytes = 0 : i64
// LOCAL: tp.param @up : tensor<12x16xf32>
// LOCAL: tp.relu {{.*}} tensor<3x12xf32>
// LOCAL: tp.output "weights", %{{.*}} {layout = #[[ROWS]], whole = tensor<24x16xf32, #[[ROWS]]>} : tensor<12x16xf32>
// LOCAL-LABEL: func.func @main
// LOCAL-SAME: tp.counted = {bytes = 252 : i64, collectives = 2 : i64,
// LOCAL: tp.relu {{.*}} {tp.kernel = 0 : i64} {{.*}} tensor<6x12xf32>
// LOCAL-LABEL: func.func @hidden
// LOCAL: tp.add {{.*}} {tp.kernel = 0 : i64}

// One program each, the trained one first, on the same symbols; equal kernels
// (the mean of a loss) are one.
// PLAN: plan.kernel @kernel
// PLAN: plan.program "train" phases ["forward", "backward", "update"]
// PLAN: plan.global @up
// PLAN: plan.launch @[[MEAN:.*]](%{{.*}}) "tp.mean"
// PLAN-NOT: plan.kernel @
// PLAN: plan.program "evaluate" phases ["forward"]
// PLAN: plan.global @up
// PLAN: plan.global @kinds
// PLAN: plan.launch @[[MEAN]](%{{.*}}) "tp.mean"
// PLAN: plan.output "weights" role "weights" %up : f32
// PLAN: plan.program "hidden" phases ["forward"]

// What tp-compile asks of the trained function it leaves to others.
// SUMMARY: train: arg0 [6, 16], arg1 [6], {{[0-9]+}} instructions
// SUMMARY: evaluate: arg0 [3, 16], arg1 [3], kinds [3], {{[0-9]+}} instructions
// SUMMARY: hidden: arg0 [2, 16], {{[0-9]+}} instructions
tp.parameter @up : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @bias : tensor<24xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @down : tensor<10x24xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @kinds : tensor<5x10xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @unread : tensor<7xf32> {id = 4 : i64, init = #tp.init<zeros>}
func.func @evaluate(%x: tensor<3x16xf32>, %labels: tensor<3xi32>, %kinds: tensor<3xi32> {tp.input = #tp.input<data "kinds">})
    -> (tensor<f32> {tp.role = "loss"}, tensor<3x10xf32> {tp.role = "logits"}, tensor<3x10xf32>, tensor<24x16xf32> {tp.role = "weights"}, tensor<f32> {tp.role = "token_count"})
    attributes {tp.forward} {
  %up = tp.param @up : tensor<24x16xf32>
  %down = tp.param @down : tensor<10x24xf32>
  %table = tp.param @kinds : tensor<5x10xf32>
  %kind = tp.embedding %kinds, %table : (tensor<3xi32>, tensor<5x10xf32>) -> tensor<3x10xf32>
  %u = tp.matmul %x, %up : (tensor<3x16xf32>, tensor<24x16xf32>) -> tensor<3x24xf32>
  %r = tp.relu %u : (tensor<3x24xf32>) -> tensor<3x24xf32>
  %y = tp.matmul %r, %down : (tensor<3x24xf32>, tensor<10x24xf32>) -> tensor<3x10xf32>
  %sum, %count = tp.cross_entropy %y, %labels : (tensor<3x10xf32>, tensor<3xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %y, %kind, %up, %count : tensor<f32>, tensor<3x10xf32>, tensor<3x10xf32>, tensor<24x16xf32>, tensor<f32>
}
func.func @main(%x: tensor<6x16xf32>, %labels: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}, tensor<6x10xf32> {tp.role = "logits"}) {
  %up = tp.param @up : tensor<24x16xf32>
  %bias = tp.param @bias : tensor<24xf32>
  %down = tp.param @down : tensor<10x24xf32>
  %u = tp.matmul %x, %up : (tensor<6x16xf32>, tensor<24x16xf32>) -> tensor<6x24xf32>
  %b = tp.add %u, %bias : (tensor<6x24xf32>, tensor<24xf32>) -> tensor<6x24xf32>
  %r = tp.relu %b : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %d = tp.dropout %r {id = 1 : i64, p = 0.25 : f64} : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %y = tp.matmul %d, %down : (tensor<6x24xf32>, tensor<10x24xf32>) -> tensor<6x10xf32>
  %sum, %count = tp.cross_entropy %y, %labels : (tensor<6x10xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %y : tensor<f32>, tensor<6x10xf32>
}
func.func @hidden(%x: tensor<2x16xf32>) -> (tensor<2x24xf32> {tp.role = "hidden"}) attributes {tp.forward} {
  %up = tp.param @up : tensor<24x16xf32>
  %bias = tp.param @bias : tensor<24xf32>
  %u = tp.matmul %x, %up : (tensor<2x16xf32>, tensor<24x16xf32>) -> tensor<2x24xf32>
  %b = tp.add %u, %bias : (tensor<2x24xf32>, tensor<24xf32>) -> tensor<2x24xf32>
  return %b : tensor<2x24xf32>
}
