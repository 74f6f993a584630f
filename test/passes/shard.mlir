// RUN: tp-opt %s --split-input-file --tp-shard="mesh=tp=2 topology=%topologies/flat.yaml" | FileCheck %s
//
// What is cheapest on two ranks, where a collective costs its bytes alone.

// Columns, then rows: nothing moves between the matmuls. The bias of the first
// goes with its columns, that of the second stays whole.
// CHECK-DAG: #[[OUT:.*]] = #tp.layout<#mesh, [{24 over "tp"}, _]>
// CHECK-DAG: #[[IN:.*]] = #tp.layout<#mesh, [_, {24 over "tp"}]>
// CHECK-DAG: #[[BIAS:.*]] = #tp.layout<#mesh, [{24 over "tp"}]>
// CHECK: module attributes {tp.mesh = #mesh,
// CHECK: tp.parameter @up : tensor<24x16xf32, #[[OUT]]> {
// CHECK: tp.parameter @up.bias : tensor<24xf32, #[[BIAS]]>
// CHECK: tp.parameter @down : tensor<10x24xf32, #[[IN]]>
// CHECK: tp.parameter @down.bias : tensor<10xf32, #r1>
// CHECK-LABEL: func.func @mlp
// CHECK: tp.matmul %{{.*}} {tp.ways = {tp = "k"}} {{.*}} -> tensor<6x24xf32, #[[IN]]>
// CHECK: tp.add %{{.*}} {tp.ways = {tp = "c0"}} {{.*}} -> tensor<6x24xf32, #[[IN]]>
// CHECK: tp.gelu %{{.*}} {tp.ways = {tp = "b1"}} {{.*}} -> tensor<6x24xf32, #[[IN]]>
// CHECK: tp.matmul %{{.*}} {tp.ways = {tp = "h"}} {{.*}} -> tensor<6x10xf32, #p2_tp>
// CHECK: tp.add %{{.*}} {tp.ways = {tp = "replicated"}} {{.*}} -> tensor<6x10xf32, #r2>
tp.parameter @up : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @up.bias : tensor<24xf32> {id = 1 : i64, init = #tp.init<zeros>}
tp.parameter @down : tensor<10x24xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @down.bias : tensor<10xf32> {id = 3 : i64, init = #tp.init<zeros>}
func.func @mlp(%x: tensor<6x16xf32>) -> tensor<6x10xf32> {
  %up = tp.param @up : tensor<24x16xf32>
  %u = tp.matmul %x, %up : (tensor<6x16xf32>, tensor<24x16xf32>) -> tensor<6x24xf32>
  %b = tp.param @up.bias : tensor<24xf32>
  %v = tp.add %u, %b : (tensor<6x24xf32>, tensor<24xf32>) -> tensor<6x24xf32>
  %g = tp.gelu %v : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %down = tp.param @down : tensor<10x24xf32>
  %p = tp.matmul %g, %down : (tensor<6x24xf32>, tensor<10x24xf32>) -> tensor<6x10xf32>
  %c = tp.param @down.bias : tensor<10xf32>
  %y = tp.add %p, %c : (tensor<6x10xf32>, tensor<10xf32>) -> tensor<6x10xf32>
  return %y : tensor<6x10xf32>
}

// -----

// Three key-value groups of 5 elements, and three query heads a group, on two
// ranks: two groups a rank, the last one padding.
// CHECK-DAG: #[[GROUPS:.*]] = #tp.layout<#mesh, [{15 pad 20 over "tp"}, _]>
// CHECK-DAG: #[[HEADS:.*]] = #tp.layout<#mesh, [{45 pad 60 over "tp"}, _]>
// CHECK-DAG: #[[BLOCKS:.*]] = #tp.layout<#mesh, [_, _, {3 pad 4 over "tp"}, _, _]>
// CHECK: tp.parameter @q : tensor<45x16xf32, #[[HEADS]]>
// CHECK: tp.parameter @k : tensor<15x16xf32, #[[GROUPS]]>
// CHECK: tp.parameter @v : tensor<15x16xf32, #[[GROUPS]]>
// CHECK-LABEL: func.func @grouped_heads
// CHECK: tp.attention %{{.*}}tp.ways = {tp = "m"}{{.*}} -> (tensor<2x4x3x3x5xf32, #[[BLOCKS]]>
tp.parameter @q : tensor<45x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @k : tensor<15x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @v : tensor<15x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @o : tensor<16x45xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @grouped_heads(%x: tensor<2x4x16xf32>) -> tensor<2x4x16xf32> {
  %wq = tp.param @q : tensor<45x16xf32>
  %wk = tp.param @k : tensor<15x16xf32>
  %wv = tp.param @v : tensor<15x16xf32>
  %wo = tp.param @o : tensor<16x45xf32>
  %q = tp.matmul %x, %wq : (tensor<2x4x16xf32>, tensor<45x16xf32>) -> tensor<2x4x45xf32>
  %k = tp.matmul %x, %wk : (tensor<2x4x16xf32>, tensor<15x16xf32>) -> tensor<2x4x15xf32>
  %v = tp.matmul %x, %wv : (tensor<2x4x16xf32>, tensor<15x16xf32>) -> tensor<2x4x15xf32>
  %qh = tp.reshape %q : (tensor<2x4x45xf32>) -> tensor<2x4x3x3x5xf32>
  %kh = tp.reshape %k : (tensor<2x4x15xf32>) -> tensor<2x4x3x5xf32>
  %vh = tp.reshape %v : (tensor<2x4x15xf32>) -> tensor<2x4x3x5xf32>
  %a, %lse = tp.attention %qh, %kh, %vh {causal, scale = 0.5 : f64} : (tensor<2x4x3x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>) -> (tensor<2x4x3x3x5xf32>, tensor<2x4x3x3xf32>)
  %h = tp.reshape %a : (tensor<2x4x3x3x5xf32>) -> tensor<2x4x45xf32>
  %y = tp.matmul %h, %wo : (tensor<2x4x45xf32>, tensor<16x45xf32>) -> tensor<2x4x16xf32>
  return %y : tensor<2x4x16xf32>
}

// -----

// A parameter that is read twice has one layout and becomes one read, so that a
// change of it is made once; one that nothing reads stays whole.
// CHECK: tp.parameter @table : tensor<12x16xf32, #[[T:.*]]> {
// CHECK: tp.parameter @unread : tensor<8x4xf32, #r2>
// CHECK-LABEL: func.func @tied
// CHECK: tp.param @table : tensor<12x16xf32, #[[T]]>
// CHECK-NOT: tp.param @table
tp.parameter @table : tensor<12x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @unread : tensor<8x4xf32> {id = 1 : i64, init = #tp.init<zeros>}
func.func @tied(%ids: tensor<2x3xi32>) -> tensor<2x3x12xf32> {
  %a = tp.param @table : tensor<12x16xf32>
  %x = tp.embedding %ids, %a : (tensor<2x3xi32>, tensor<12x16xf32>) -> tensor<2x3x16xf32>
  %b = tp.param @table : tensor<12x16xf32>
  %y = tp.matmul %x, %b : (tensor<2x3x16xf32>, tensor<12x16xf32>) -> tensor<2x3x12xf32>
  return %y : tensor<2x3x12xf32>
}

// -----

// What only vectors have is no feature and stays whole, though in blocks less
// would be written; what is a matrix in the checkpoint is one.
// CHECK: tp.parameter @vector : tensor<32xf32, #r1>
// CHECK: tp.parameter @row : tensor<48xf32, #s1_tp_d0_48>
// CHECK-LABEL: func.func @vectors
// CHECK: tp.gelu %{{.*}} {tp.ways = {tp = "replicated"}} : {{.*}} -> tensor<32xf32, #r1>
// CHECK: tp.gelu %{{.*}} {tp.ways = {tp = "b0"}} : {{.*}} -> tensor<48xf32, #s1_tp_d0_48>
tp.parameter @vector : tensor<32xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @row : tensor<48xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>, rank = 2 : i64}
func.func @vectors() -> (tensor<32xf32> {tp.role = "logits"}, tensor<48xf32> {tp.role = "more"}) {
  %v = tp.param @vector : tensor<32xf32>
  %w = tp.param @row : tensor<48xf32>
  %a = tp.gelu %v : (tensor<32xf32>) -> tensor<32xf32>
  %b = tp.gelu %w : (tensor<48xf32>) -> tensor<48xf32>
  return %a, %b : tensor<32xf32>, tensor<48xf32>
}
