// RUN: tp-opt %s --tp-shard="mesh=tp=2 topology=%S/../topologies/flat.yaml" | FileCheck %s
// RUN: %python %S/equal.py %s %t --tp 1 2
//
// Fault 3: a value times a split sum, before the sum is whole: the product is a
// summand, and so is what the value's gradient is summed from.
// CHECK: tp.mul {{.*}}tp.ways = {tp = "linear in lhs"}
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w1 : tensor<24x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w2 : tensor<16x24xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w3 : tensor<24x16xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w4 : tensor<16x24xf32> {id = 4 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @s : tensor<16xf32> {id = 5 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">},
                  %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<24x16xf32>
    %a = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<24x16xf32>) -> tensor<2x8x24xf32>
    %ag = tp.gelu %a {tanh} : (tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
    %w2 = tp.param @w2 : tensor<16x24xf32>
    %p = tp.matmul %ag, %w2 : (tensor<2x8x24xf32>, tensor<16x24xf32>) -> tensor<2x8x16xf32>
    %w3 = tp.param @w3 : tensor<24x16xf32>
    %b = tp.matmul %x, %w3 : (tensor<2x8x16xf32>, tensor<24x16xf32>) -> tensor<2x8x24xf32>
    %bg = tp.gelu %b {tanh} : (tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
    %w4 = tp.param @w4 : tensor<16x24xf32>
    %q = tp.matmul %bg, %w4 : (tensor<2x8x24xf32>, tensor<16x24xf32>) -> tensor<2x8x16xf32>
    %s = tp.param @s : tensor<16xf32>
    %qs = tp.mul %q, %s : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
    %pq = tp.add %p, %qs : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %g = tp.gelu %pq {tanh} : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %g, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
