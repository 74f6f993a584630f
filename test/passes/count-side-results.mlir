// RUN: tp-opt %s --split-input-file --tp-shard="mesh=tp=2 topology=%S/../topologies/flat.yaml" --tp-insert-conjugates --tp-differentiate --tp-optimize --tp-partition --tp-count | FileCheck %s
//
// What does not reach the loss has no gradient, in the prediction as in the
// step: tp-count fails where they differ.

// A value that leaves beside the loss, behind a weight of its own that so is
// never updated; the value both go back to is wanted with and without gradient.
// CHECK-LABEL: func.func @step
// CHECK-SAME: tp.counted = {bytes = {{[1-9]}}
// CHECK: %[[SIDE:.*]] = tp.param @side
// CHECK: tp.matmul %{{.*}}, %[[SIDE]]
// CHECK-NOT: @side
tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @up : tensor<64x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @down : tensor<16x64xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @side : tensor<48x16xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @step(%ids: tensor<2x8xi32>, %labels: tensor<2x8xi32>) -> (tensor<f32> {tp.role = "loss"}, tensor<2x8x48xf32> {tp.role = "hidden"}) {
  %table = tp.param @wte : tensor<32x16xf32>
  %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
  %side = tp.param @side : tensor<48x16xf32>
  %hidden = tp.matmul %x, %side : (tensor<2x8x16xf32>, tensor<48x16xf32>) -> tensor<2x8x48xf32>
  %up = tp.param @up : tensor<64x16xf32>
  %u = tp.matmul %x, %up : (tensor<2x8x16xf32>, tensor<64x16xf32>) -> tensor<2x8x64xf32>
  %g = tp.gelu %u : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %down = tp.param @down : tensor<16x64xf32>
  %y = tp.matmul %g, %down : (tensor<2x8x64xf32>, tensor<16x64xf32>) -> tensor<2x8x16xf32>
  %logits = tp.matmul %y, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
  %sum, %count = tp.cross_entropy %logits, %labels : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %hidden : tensor<f32>, tensor<2x8x48xf32>
}

// -----

// A summand that leaves and is used, a constant in the forward, a frozen
// weight, what nothing reads, and a table that is read twice.
// CHECK-LABEL: func.func @more
// CHECK-SAME: tp.counted = {bytes = {{[1-9]}}
// CHECK-NOT: tp.relu
// CHECK: tp.next
// CHECK-NOT: tp.matmul_wgrad {{.*}} tensor<64x16xf32>
tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @up : tensor<64x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>, frozen}
tp.parameter @down : tensor<16x64xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @more(%ids: tensor<2x8xi32>, %labels: tensor<2x8xi32>) -> (tensor<2x8x16xf32> {tp.role = "hidden"}, tensor<f32> {tp.role = "loss"}, tensor<2x8x32xf32> {tp.role = "logits"}) {
  %table = tp.param @wte : tensor<32x16xf32>
  %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
  %two = tp.constant {value = 2.0 : f64} : () -> tensor<f32>
  %s = tp.mul %x, %two : (tensor<2x8x16xf32>, tensor<f32>) -> tensor<2x8x16xf32>
  %up = tp.param @up : tensor<64x16xf32>
  %u = tp.matmul %s, %up : (tensor<2x8x16xf32>, tensor<64x16xf32>) -> tensor<2x8x64xf32>
  %unread = tp.relu %u : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %g = tp.gelu %u : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
  %down = tp.param @down : tensor<16x64xf32>
  %y = tp.matmul %g, %down : (tensor<2x8x64xf32>, tensor<16x64xf32>) -> tensor<2x8x16xf32>
  %again = tp.param @wte : tensor<32x16xf32>
  %logits = tp.matmul %y, %again : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
  %sum, %count = tp.cross_entropy %logits, %labels : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %y, %loss, %logits : tensor<2x8x16xf32>, tensor<f32>, tensor<2x8x32xf32>
}

// -----

// The hidden values, in blocks with padding, leave whole, and so does a norm of
// them, which no gradient goes through: they are gathered though blocks with
// padding have no gradient of a gather, and the backward knows nothing of it.
// CHECK-LABEL: func.func @padded
// CHECK-SAME: tp.counted = {bytes = {{[1-9]}}
// CHECK: %[[H:.*]] = tp.relu
// CHECK: %[[ALL:.*]] = tp.all_gather %[[H]] {{.*}} : tensor<6x12xf32> -> tensor<6x23xf32>
// CHECK: tp.rms_norm %[[ALL]],
// CHECK: tp.output "result1", %[[ALL]]
// CHECK: tp.next
// CHECK-NOT: tp.local_slice
// CHECK-NOT: tp.all_gather
tp.parameter @up : tensor<23x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @down : tensor<10x23xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @gamma : tensor<23xf32> {id = 2 : i64, init = #tp.init<ones>}
func.func @padded(%x: tensor<6x16xf32>, %labels: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}, tensor<6x23xf32>, tensor<6x23xf32>) {
  %up = tp.param @up : tensor<23x16xf32>
  %u = tp.matmul %x, %up : (tensor<6x16xf32>, tensor<23x16xf32>) -> tensor<6x23xf32>
  %h = tp.relu %u : (tensor<6x23xf32>) -> tensor<6x23xf32>
  %gamma = tp.param @gamma : tensor<23xf32>
  %n = tp.rms_norm %h, %gamma {eps = 0.5 : f64} : (tensor<6x23xf32>, tensor<23xf32>) -> tensor<6x23xf32>
  %down = tp.param @down : tensor<10x23xf32>
  %y = tp.matmul %h, %down : (tensor<6x23xf32>, tensor<10x23xf32>) -> tensor<6x10xf32>
  %sum, %count = tp.cross_entropy %y, %labels : (tensor<6x10xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %h, %n : tensor<f32>, tensor<6x23xf32>, tensor<6x23xf32>
}

// -----

// A value that the backward reads by itself and behind tp.stop_gradient, which
// is no memory of its own: here the table's rows, whole and split.
// CHECK-LABEL: func.func @stopped
// CHECK-SAME: tp.counted = {bytes = {{[0-9]}}
// CHECK-NOT: tp.stop_gradient
tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @a : tensor<12x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @b : tensor<12x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @c : tensor<12x12xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @d : tensor<32x12xf32> {id = 4 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @stopped(%ids: tensor<2x8xi32>, %labels: tensor<2x8xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %table = tp.param @wte : tensor<32x16xf32>
  %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
  %s1 = tp.stop_gradient %x : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %s2 = tp.stop_gradient %s1 : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
  %a = tp.param @a : tensor<12x16xf32>
  %b = tp.param @b : tensor<12x16xf32>
  %c = tp.param @c : tensor<12x12xf32>
  %u = tp.matmul %x, %a : (tensor<2x8x16xf32>, tensor<12x16xf32>) -> tensor<2x8x12xf32>
  %v = tp.matmul %s2, %b : (tensor<2x8x16xf32>, tensor<12x16xf32>) -> tensor<2x8x12xf32>
  %h = tp.silu %u : (tensor<2x8x12xf32>) -> tensor<2x8x12xf32>
  %s3 = tp.stop_gradient %h : (tensor<2x8x12xf32>) -> tensor<2x8x12xf32>
  %w = tp.mul %v, %s3 : (tensor<2x8x12xf32>, tensor<2x8x12xf32>) -> tensor<2x8x12xf32>
  %y = tp.add %w, %h : (tensor<2x8x12xf32>, tensor<2x8x12xf32>) -> tensor<2x8x12xf32>
  %z = tp.matmul %y, %c : (tensor<2x8x12xf32>, tensor<12x12xf32>) -> tensor<2x8x12xf32>
  %d = tp.param @d : tensor<32x12xf32>
  %logits = tp.matmul %z, %d : (tensor<2x8x12xf32>, tensor<32x12xf32>) -> tensor<2x8x32xf32>
  %sum, %count = tp.cross_entropy %logits, %labels : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
