// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=first=0:tp pin=second=1:tp pin=side=0:tp" --tp-insert-conjugates --tp-differentiate --tp-optimize --tp-partition --tp-count | FileCheck %s
// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=first=0:tp pin=second=1:tp pin=side=0:tp" | FileCheck %s --check-prefix=SHARD
// RUN: tp-opt %s --tp-shard=mesh=tp=1 --tp-insert-conjugates --tp-differentiate --tp-optimize --tp-partition --tp-count | FileCheck %s --check-prefix=ONE
//
// The graph of count.mlir with results that do not reach the loss: the hidden
// values, and a head of its own on them. They cost no backward, and tp-count
// finds what tp-shard predicted, which is the step of count.mlir and beside it
// - 2*6*10*7 flops of the side head,
// - 168 bytes sent to gather its 6x14 result; its input, copied to the ranks
//   that share the head, needs no gradient and so no all-reduce,
// - no bytes saved;
// - 2051200 ps: 688 bytes of memory at 20 a ns, and an all-gather of 2 ranks:
//   one message of 2 us and 168 bytes at 10 a ns.

// SHARD: %[[H:.*]] = tp.matmul {{.*}} -> tensor<6x10xf32, #p2_tp>
// SHARD: tp.matmul %[[H]], %{{.*}} {tp.ways = {tp = "k"}} : {{.*}} -> tensor<6x14xf32, #s2_tp_d1_14>
// SHARD: tp.cross_entropy %[[H]],

// CHECK: tp.counted = {bytes = 420 : i64, collectives = 3 : i64, flops = 9768 : i64, picoseconds = 10933000 : i64, saved_bytes = 868 : i64,
// CHECK-SAME: tp.predicted = {bytes = 420 : i64, collectives = 3 : i64, flops = 9768 : i64, picoseconds = 10933000 : i64, saved_bytes = 868 : i64,
// The parameter of the side head is not trained.
// CHECK-NOT: tp.state @side
// CHECK: tp.output "result1"
// CHECK: tp.output "result2"
// CHECK: tp.next ^bb1
// CHECK-NOT: gradient @side
// CHECK-NOT: tp.update @side

// ONE: tp.counted = {bytes = 0 : i64, collectives = 0 : i64, flops = 19536 : i64, picoseconds = {{[0-9]+}} : i64, saved_bytes = 1444 : i64,
tp.parameter @first : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @second : tensor<10x24xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @side : tensor<14x10xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @main(%x: tensor<6x16xf32>, %labels: tensor<6xi32>)
    -> (tensor<f32> {tp.role = "loss"}, tensor<6x10xf32>, tensor<6x14xf32>) {
  %a = tp.param @first : tensor<24x16xf32>
  %b = tp.param @second : tensor<10x24xf32>
  %u = tp.matmul %x, %a : (tensor<6x16xf32>, tensor<24x16xf32>) -> tensor<6x24xf32>
  %r = tp.relu %u : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %y = tp.matmul %r, %b : (tensor<6x24xf32>, tensor<10x24xf32>) -> tensor<6x10xf32>
  %w = tp.param @side : tensor<14x10xf32>
  %z = tp.matmul %y, %w : (tensor<6x10xf32>, tensor<14x10xf32>) -> tensor<6x14xf32>
  %sum, %count = tp.cross_entropy %y, %labels : (tensor<6x10xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %y, %z : tensor<f32>, tensor<6x10xf32>, tensor<6x14xf32>
}
