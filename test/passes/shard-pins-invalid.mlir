// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=first=1:tp" 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=loose=0:tp" 2>&1 | FileCheck %s --check-prefix=LOOSE
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=down.bias=0:tp pin=first=0:tp pin=down=1:tp pin=table=0:tp" 2>&1 | FileCheck %s --check-prefix=PAIR
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=table=1:tp pin=down=0:tp" 2>&1 | FileCheck %s --check-prefix=TIED
// RUN: not tp-opt %s --tp-shard="mesh=tp=2 pin=scale=0:tp pin=first=1:tp" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: tp-opt %s --tp-shard="mesh=tp=4 pin=short=0:tp" | FileCheck %s --check-prefix=SHORT
//
// Pins that cannot be obeyed. The error has the layer, the dimension's length
// and what works, each of which tp-shard takes.

// The input is whole, so nothing splits the first matmul's inner dimension.
// ROWS: error: {{.*}}tp-shard: pin 'first=1:tp' (6 over 2 ranks) cannot hold: tp.matmul "h.0.up" has no way for that; in place of 'first=1:tp', first=0:tp or no pin works

// LOOSE: error: tp-shard: pin 'loose=0:tp' (9 over 2 ranks) cannot hold: axis tp splits dimensions that ops tie to one of a parameter of rank 2 or more, and this is none; in place of 'loose=0:tp', no pin works

// Either is fine alone: a sum of partial products takes a whole bias. The pins
// that are fine with both are not named.
// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=down.bias=0:tp pin=first=0:tp pin=table=0:tp" -o /dev/null
// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=down=1:tp pin=first=0:tp pin=table=0:tp" -o /dev/null
// PAIR: error: {{.*}}tp-shard: pins 'down=1:tp' (14 over 2 ranks) and 'down.bias=0:tp' (10 over 2 ranks) contradict each other: tp.add "h.0.down" has no way for that; in place of 'down=1:tp', down=0:tp or no pin works; in place of 'down.bias=0:tp', no pin works
// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=down.bias=0:tp pin=first=0:tp pin=down=0:tp pin=table=0:tp" -o /dev/null

// A table is read twice, and one of its readers does not take its columns.
// TIED: error: {{.*}}tp-shard: pin 'table=1:tp' (10 over 2 ranks) cannot hold: tp.matmul "lm_head" has no way for that; in place of 'table=1:tp', table=0:tp or no pin works

// Of two conflicts one is told: each of its pins is needed for it.
// TWICE: error: tp-shard: pin 'scale=0:tp' (6 over 2 ranks) cannot hold: tp.mul has no way for that; in place of 'scale=0:tp', no pin works

// Ranks may be left without a block.
// SHORT-DAG: #[[S:.*]] = #tp.layout<#mesh, [{3 pad 4 over "tp"}, _]>
// SHORT-DAG: tp.parameter @short : tensor<3x10xf32, #[[S]]>
tp.parameter @scale : tensor<6xf32> {id = 0 : i64, init = #tp.init<ones>}
tp.parameter @first : tensor<14x6xf32> {id = 1 : i64, init = #tp.init<zeros>}
tp.parameter @down : tensor<10x14xf32> {id = 2 : i64, init = #tp.init<zeros>}
tp.parameter @down.bias : tensor<10xf32> {id = 3 : i64, init = #tp.init<zeros>}
tp.parameter @table : tensor<22x10xf32> {id = 4 : i64, init = #tp.init<zeros>}
tp.parameter @short : tensor<3x10xf32> {id = 5 : i64, init = #tp.init<zeros>}
tp.parameter @loose : tensor<9xf32> {id = 6 : i64, init = #tp.init<ones>}
func.func @main(%x: tensor<4x6xf32>, %ids: tensor<4xi32>, %q: tensor<4x10xf32>, %v: tensor<9xf32>) -> (tensor<4x22xf32>, tensor<4x10xf32>, tensor<4x3xf32>, tensor<9xf32>) {
  %scale = tp.param @scale : tensor<6xf32>
  %n = tp.mul %x, %scale : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %first = tp.param @first : tensor<14x6xf32>
  %u = tp.matmul %n, %first : (tensor<4x6xf32>, tensor<14x6xf32>) -> tensor<4x14xf32> loc("h.0.up")
  %g = tp.relu %u : (tensor<4x14xf32>) -> tensor<4x14xf32>
  %down = tp.param @down : tensor<10x14xf32>
  %d = tp.matmul %g, %down : (tensor<4x14xf32>, tensor<10x14xf32>) -> tensor<4x10xf32> loc("h.0.down")
  %bias = tp.param @down.bias : tensor<10xf32>
  %y = tp.add %d, %bias : (tensor<4x10xf32>, tensor<10xf32>) -> tensor<4x10xf32> loc("h.0.down")
  %table = tp.param @table : tensor<22x10xf32>
  %e = tp.embedding %ids, %table : (tensor<4xi32>, tensor<22x10xf32>) -> tensor<4x10xf32> loc("wte")
  %r = tp.relu %y : (tensor<4x10xf32>) -> tensor<4x10xf32>
  %z = tp.add %r, %e : (tensor<4x10xf32>, tensor<4x10xf32>) -> tensor<4x10xf32>
  %logits = tp.matmul %q, %table : (tensor<4x10xf32>, tensor<22x10xf32>) -> tensor<4x22xf32> loc("lm_head")
  %short = tp.param @short : tensor<3x10xf32>
  %s = tp.matmul %r, %short : (tensor<4x10xf32>, tensor<3x10xf32>) -> tensor<4x3xf32>
  %loose = tp.param @loose : tensor<9xf32>
  %w = tp.mul %v, %loose : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  return %logits, %z, %s, %w : tensor<4x22xf32>, tensor<4x10xf32>, tensor<4x3xf32>, tensor<9xf32>
}
