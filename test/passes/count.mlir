// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=first=0:tp pin=second=1:tp" --tp-insert-conjugates --tp-differentiate --tp-optimize --tp-partition --tp-count | FileCheck %s
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=first=0:tp pin=second=1:tp" --tp-insert-conjugates --tp-differentiate --tp-partition --tp-count 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not tp-opt %s --tp-count 2>&1 | FileCheck %s --check-prefix=MESH
//
// Two matmuls, 24 columns and then 24 rows on two ranks: what one rank does.
// Flops: forward 2*6*16*12 + 2*6*12*10 = 3744, weight gradients the same again,
// and 2*6*10*12 = 1440 for the gradient of the second input.
// Bytes sent: one all-reduce of 6x10 in the forward, which sends 2*(1/2) of 240,
// and the three sums of squares of the norm, 12.
// Saved: 6x12 before and after the ReLU, the 6x10 logits, maximum and sum of 6
// rows, and the number of labels: 217 values.
//
// CHECK: tp.counted = {bytes = 252 : i64, flops = 8928 : i64, saved_bytes = 868 : i64}
// CHECK-SAME: tp.predicted = {bytes = 252 : i64, flops = 8928 : i64, saved_bytes = 868 : i64}

// Without the norm a step is not what was predicted.
// HALF: error: tp-count: counted {bytes = 240 : i64, flops = 8928 : i64, saved_bytes = 868 : i64}, but tp-shard predicted {bytes = 252 : i64, flops = 8928 : i64, saved_bytes = 868 : i64}
// MESH: error: tp-count: the module has no tp.mesh; run tp-shard to tp-partition first
tp.parameter @first : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @second : tensor<10x24xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @main(%x: tensor<6x16xf32>, %labels: tensor<6xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %a = tp.param @first : tensor<24x16xf32>
  %b = tp.param @second : tensor<10x24xf32>
  %u = tp.matmul %x, %a : (tensor<6x16xf32>, tensor<24x16xf32>) -> tensor<6x24xf32>
  %r = tp.relu %u : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %y = tp.matmul %r, %b : (tensor<6x24xf32>, tensor<10x24xf32>) -> tensor<6x10xf32>
  %sum, %count = tp.cross_entropy %y, %labels : (tensor<6x10xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
