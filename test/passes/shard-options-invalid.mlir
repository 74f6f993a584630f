// RUN: not tp-opt %s --tp-shard="mesh=tp:heads=2" 2>&1 | FileCheck %s --check-prefix=ROLE
// RUN: not tp-opt %s --tp-shard="mesh=tp=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not tp-opt %s --tp-shard="mesh=2" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not tp-opt %s --tp-shard="mesh=" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not tp-opt %s --tp-shard="mesh=dp=2" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not tp-opt %s --tp-shard="mesh=tp=2,ep=2" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not tp-opt %s --tp-shard="mesh=tp=1024" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 topology=nowhere.yaml" 2>&1 | FileCheck %s --check-prefix=TOPOLOGY
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=-1:tp" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin==0:tp" 2>&1 | FileCheck %s --check-prefix=NAMELESS
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=0:" 2>&1 | FileCheck %s --check-prefix=AXISLESS
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=0:tp pin=w=1:tp" 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=w=0:tp pin=w=0:tp" -o /dev/null
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=v=0:tp" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=0:ep" 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=w=2:tp" 2>&1 | FileCheck %s --check-prefix=DIMENSION
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=unread=0:tp" 2>&1 | FileCheck %s --check-prefix=UNREAD
//
// Options that cannot work, each with its message.

// ROLE: error: tp-shard: mesh axis 'tp': role 'heads' is not one of batch, feature
// SIZE: error: tp-shard: mesh axis 'tp': size '0' is not a number from 1 to 65536
// NUMBER: error: tp-shard: mesh axis '2': wanted NAME=SIZE, as in tp=4
// EMPTY: error: tp-shard: mesh axis '': wanted NAME=SIZE, as in tp=4
// BATCH: error: tp-shard: mesh 'dp=2': one feature axis is supported so far, as in tp=4; batch axes and several axes are not
// AXES: error: tp-shard: mesh 'tp=2,ep=2': one feature axis is supported so far, as in tp=4; batch axes and several axes are not
// RANKS: error: tp-shard: the mesh has 1024 ranks, but topology 'default' holds 64 (level 'memory'); use a smaller mesh or another topology
// TOPOLOGY: error: tp-shard: nowhere.yaml{{.*}}: cannot read the topology: No such file or directory
// FORM: error: pin 'w': wanted PARAM=DIM:AXIS, as in transformer.wte.weight=0:tp
// NEGATIVE: error: pin 'w=-1:tp': wanted PARAM=DIM:AXIS, as in transformer.wte.weight=0:tp
// NAMELESS: error: pin '=0:tp': wanted PARAM=DIM:AXIS, as in transformer.wte.weight=0:tp
// AXISLESS: error: pin 'w=0:': wanted PARAM=DIM:AXIS, as in transformer.wte.weight=0:tp
// TWO: error: pin 'w=1:tp': 'w' is already pinned on dimension 0
// NAME: error: pin 'v=0:tp': no parameter is called 'v'; tp-import prints their names
// AXIS: error: pin 'w=0:ep': the mesh has no axis 'ep'
// DIMENSION: error: pin 'w=2:tp': 'w' has 2 dimensions
// UNREAD: error: pin 'unread=0:tp': the step never reads 'unread'
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @unread : tensor<8xf32> {id = 1 : i64, init = #tp.init<zeros>}
func.func @main(%x: tensor<6x4xf32>) -> tensor<6x8xf32> {
  %w = tp.param @w : tensor<8x4xf32>
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
