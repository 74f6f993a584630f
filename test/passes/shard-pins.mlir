// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=up=0:tp pin=down=1:tp" | FileCheck %s --check-prefix=MLP
// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=down=0:tp" | FileCheck %s --check-prefix=COLUMNS
// RUN: tp-opt %s --tp-shard="mesh=tp=2 pin=up.bias=0:tp" | FileCheck %s --check-prefix=BIAS
// RUN: tp-opt %s --tp-shard="mesh=tp=1 pin=up=0:tp" | FileCheck %s --check-prefix=ONE
//
// A pinned layout is obeyed, and what the user left open follows from it.

// MLP-DAG: #[[OUT:.*]] = #tp.layout<#mesh, [{24 over "tp"}, _]>
// MLP-DAG: #[[IN:.*]] = #tp.layout<#mesh, [_, {24 over "tp"}]>
// MLP: tp.parameter @up : tensor<24x16xf32, #[[OUT]]>
// MLP: tp.parameter @down : tensor<10x24xf32, #[[IN]]>

// COLUMNS: #[[OUT:.*]] = #tp.layout<#mesh, [{10 over "tp"}, _]>
// COLUMNS: tp.parameter @down : tensor<10x24xf32, #[[OUT]]>
// COLUMNS: tp.matmul %{{.*}}, %{{.*}} {tp.ways = {tp = "k"}} {{.*}} -> tensor<6x10xf32

// BIAS: #[[OUT:.*]] = #tp.layout<#mesh, [{24 over "tp"}, _]>
// BIAS: tp.parameter @up : tensor<24x16xf32, #[[OUT]]>

// One rank has the whole whatever is pinned, so that numbers are equal to the bit.
// ONE-NOT: over "tp"
// ONE: tp.parameter @up : tensor<24x16xf32, #r2>
tp.parameter @up : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @up.bias : tensor<24xf32> {id = 1 : i64, init = #tp.init<zeros>}
tp.parameter @down : tensor<10x24xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @main(%x: tensor<6x16xf32>) -> tensor<6x10xf32> {
  %up = tp.param @up : tensor<24x16xf32>
  %u = tp.matmul %x, %up : (tensor<6x16xf32>, tensor<24x16xf32>) -> tensor<6x24xf32>
  %b = tp.param @up.bias : tensor<24xf32>
  %v = tp.add %u, %b : (tensor<6x24xf32>, tensor<24xf32>) -> tensor<6x24xf32>
  %g = tp.relu %v : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %down = tp.param @down : tensor<10x24xf32>
  %y = tp.matmul %g, %down : (tensor<6x24xf32>, tensor<10x24xf32>) -> tensor<6x10xf32>
  return %y : tensor<6x10xf32>
}
