// RUN: %python %S/equal.py %s %t --tp 1 2 4 --split w1=0 s=0 -- --pin w1=0:tp --pin s=0:tp
// RUN: %python %S/equal.py %s %t --split s=0 -- --pin w1=0:tp --pin s=0:tp --clip-grad-norm 1e-3
//
// Fault 22: one scalar a head, cut so that a rank has two or four of the eight,
// counts in the global norm as often as it has elements.
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w1 : tensor<8x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @s : tensor<8xf32> {id = 2 : i64, init = #tp.init<normal 2.0, 1.0>}
  tp.parameter @w2 : tensor<16x8xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<8x16xf32>
    %u = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<8x16xf32>) -> tensor<2x8x8xf32>
    %s = tp.param @s : tensor<8xf32>
    %v = tp.mul %u, %s : (tensor<2x8x8xf32>, tensor<8xf32>) -> tensor<2x8x8xf32>
    %g = tp.gelu %v : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %w2 = tp.param @w2 : tensor<16x8xf32>
    %y = tp.matmul %g, %w2 : (tensor<2x8x8xf32>, tensor<16x8xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
