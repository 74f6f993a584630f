// RUN: rm -rf %t && split-file %s %t
// RUN: cat %t/symbols %t/evaluate %t/train > %t/both.mlir
// RUN: cat %t/symbols %t/evaluate > %t/alone.mlir
// RUN: tp-opt %t/both.mlir --tp-shard="mesh=tp=4" | FileCheck %s --check-prefix=BOTH
// RUN: tp-opt %t/alone.mlir --tp-shard="mesh=tp=4" | FileCheck %s --check-prefix=ALONE
// RUN: cat %t/weight %t/columns > %t/columns.mlir
// RUN: cat %t/weight %t/columns %t/heads > %t/heads.mlir
// RUN: tp-opt %t/columns.mlir --tp-shard="mesh=tp=4" | FileCheck %s --check-prefix=COLUMNS
// RUN: tp-opt %t/heads.mlir --tp-shard="mesh=tp=4" | FileCheck %s --check-prefix=HEADS
// RUN: tp-opt %t/both.mlir --tp-shard="mesh=tp=4 pin=kinds=1:tp" | FileCheck %s --check-prefix=PINNED
// RUN: not tp-opt %t/both.mlir --tp-shard="mesh=tp=4 pin=unread=0:tp" 2>&1 | FileCheck %s --check-prefix=UNREAD
//
// A symbol is stored in one layout, which training chooses.

// An all-reduce of 2 us a message is not worth it for one row, but training
// reads 4096 of them: it splits, and evaluation works on what is split.
// ALONE: tp.parameter @up : tensor<256x64xf32, #r2>
// ALONE: tp.parameter @down : tensor<64x256xf32, #r2>
// ALONE-NOT: tp.ways = {tp = "h"}
// BOTH: tp.parameter @up : tensor<256x64xf32, #[[ROWS:s2_tp_d0_256]]>
// BOTH: tp.parameter @down : tensor<64x256xf32, #[[COLS:s2_tp_d1_256]]>
// BOTH: tp.parameter @kinds : tensor<8x64xf32, #r2>
// BOTH: tp.parameter @unread : tensor<8xf32, #r1>
// BOTH-LABEL: func.func @evaluate
// BOTH: tp.param @up : tensor<256x64xf32, #[[ROWS]]>
// BOTH: tp.param @down : tensor<64x256xf32, #[[COLS]]>
// BOTH: tp.matmul {{.*}} {tp.ways = {tp = "h"}} {{.*}} -> tensor<1x64xf32, #p2_tp>
// BOTH-LABEL: func.func @main
// BOTH: tp.matmul {{.*}} {tp.ways = {tp = "h"}} {{.*}} -> tensor<4096x64xf32, #p2_tp>

// A pin may name what only evaluation reads, and not what nothing does.
// PINNED: #[[PINNED:.*]] = #tp.layout<#mesh, [_, {64 over "tp"}]>
// PINNED: tp.parameter @kinds : tensor<8x64xf32, #[[PINNED]]>
// UNREAD: error: pin 'unread=0:tp': the step never reads 'unread'

// 60 columns are dealt out as 4 blocks of 15, but of 6 heads, where a function
// sees these, none is cut.
// COLUMNS: #[[BLOCKS:.*]] = #tp.layout<#mesh, [{60 over "tp"}, _]>
// COLUMNS: tp.parameter @w : tensor<60x64xf32, #[[BLOCKS]]>
// HEADS: #[[BLOCKS:.*]] = #tp.layout<#mesh, [{60 pad 80 over "tp"}, _]>
// HEADS: tp.parameter @w : tensor<60x64xf32, #[[BLOCKS]]>
// HEADS-LABEL: func.func @main
// HEADS: tp.param @w : tensor<60x64xf32, #[[BLOCKS]]>
// HEADS-LABEL: func.func @heads
// HEADS: tp.param @w : tensor<60x64xf32, #[[BLOCKS]]>
// HEADS: tp.reshape {{.*}} -> tensor<1x6x10xf32, #{{s3_tp_d1_6}}

//--- symbols
tp.parameter @up : tensor<256x64xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @down : tensor<64x256xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @kinds : tensor<8x64xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @unread : tensor<8xf32> {id = 3 : i64, init = #tp.init<zeros>}

//--- evaluate
func.func @evaluate(%kind: tensor<1xi32>) -> tensor<1x64xf32> attributes {tp.forward} {
  %up = tp.param @up : tensor<256x64xf32>
  %down = tp.param @down : tensor<64x256xf32>
  %kinds = tp.param @kinds : tensor<8x64xf32>
  %x = tp.embedding %kind, %kinds : (tensor<1xi32>, tensor<8x64xf32>) -> tensor<1x64xf32>
  %u = tp.matmul %x, %up : (tensor<1x64xf32>, tensor<256x64xf32>) -> tensor<1x256xf32>
  %r = tp.relu %u : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %y = tp.matmul %r, %down : (tensor<1x256xf32>, tensor<64x256xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

//--- train
func.func @main(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %up = tp.param @up : tensor<256x64xf32>
  %down = tp.param @down : tensor<64x256xf32>
  %u = tp.matmul %x, %up : (tensor<4096x64xf32>, tensor<256x64xf32>) -> tensor<4096x256xf32>
  %r = tp.relu %u : (tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %y = tp.matmul %r, %down : (tensor<4096x256xf32>, tensor<64x256xf32>) -> tensor<4096x64xf32>
  return %y : tensor<4096x64xf32>
}

//--- weight
tp.parameter @w : tensor<60x64xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}

//--- columns
func.func @main(%x: tensor<512x64xf32>) -> (tensor<512x60xf32> {tp.role = "y"}) {
  %w = tp.param @w : tensor<60x64xf32>
  %y = tp.matmul %x, %w : (tensor<512x64xf32>, tensor<60x64xf32>) -> tensor<512x60xf32>
  return %y : tensor<512x60xf32>
}

//--- heads
func.func @heads(%x: tensor<1x64xf32>) -> (tensor<1x6x10xf32> {tp.role = "y"}) attributes {tp.forward} {
  %w = tp.param @w : tensor<60x64xf32>
  %y = tp.matmul %x, %w : (tensor<1x64xf32>, tensor<60x64xf32>) -> tensor<1x60xf32>
  %z = tp.reshape %y : (tensor<1x60xf32>) -> tensor<1x6x10xf32>
  return %z : tensor<1x6x10xf32>
}
