// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=0:xy" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=2:tp" 2>&1 | FileCheck %s --check-prefix=DIM
//
// Fault 44: an axis and a dimension that do not exist.

// AXIS: error: {{.*}}xy
// DIM: error: {{.*}}2
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %w = tp.param @w : tensor<8x4xf32>
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
