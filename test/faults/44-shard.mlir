// RUN: not tp-opt %s --tp-shard="mesh=tp=2" -split-input-file 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=0:xy" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=2:tp" 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not tp-opt %s --tp-shard="mesh=tp=2,ep=2" 2>&1 | FileCheck %s --check-prefix=MESH
//
// Fault 44, what tp-shard refuses: an op that it does not know, an axis or a
// dimension that does not exist, a mesh that it cannot plan for yet.

// OP: error: 'arith.negf' op has no factor rule, so tp-shard cannot tell how to split it; express it by tp ops
// AXIS: error: {{.*}}xy
// DIM: error: {{.*}}2
// MESH: error: {{.*}}ep
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %w = tp.param @w : tensor<8x4xf32>
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32>
  %z = arith.negf %y : tensor<6x8xf32>
  return %z : tensor<6x8xf32>
}
