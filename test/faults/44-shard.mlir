// RUN: not tp-opt %s --allow-unregistered-dialect --tp-shard="mesh=tp=2" 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not tp-opt %s --allow-unregistered-dialect --tp-shard="mesh=tp=2,ep=2" 2>&1 | FileCheck %s --check-prefix=MESH
//
// Fault 44, what tp-shard refuses: an op that it does not know, and a mesh that
// it cannot plan for yet.

// OP: error: 'other.negate' op has no factor rule, so tp-shard cannot tell how to split it; express it by tp ops
// MESH: error: {{.*}}ep
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %w = tp.param @w : tensor<8x4xf32>
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32>
  %z = "other.negate"(%y) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %z : tensor<6x8xf32>
}
