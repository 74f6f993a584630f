// RUN: %python %S/equal.py %s %t --tp 1 2 --split w1=0 w2=1 -- --pin w1=0:tp --pin w2=1:tp
//
// Fault 20: three heads on two ranks, and a bias of each head's columns, which
// the padded head gets too. What is summed over its columns afterwards, the norm
// of w2's gradient, must not see them; nor may the padding of w2 move.
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w1 : tensor<12x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @b : tensor<4xf32> {id = 2 : i64, init = #tp.init<normal 3.0, 0.5>}
  tp.parameter @w2 : tensor<16x12xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<12x16xf32>
    %u = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<12x16xf32>) -> tensor<2x8x12xf32>
    %heads = tp.reshape %u : (tensor<2x8x12xf32>) -> tensor<2x8x3x4xf32>
    %b = tp.param @b : tensor<4xf32>
    %v = tp.add %heads, %b : (tensor<2x8x3x4xf32>, tensor<4xf32>) -> tensor<2x8x3x4xf32>
    %h = tp.reshape %v : (tensor<2x8x3x4xf32>) -> tensor<2x8x12xf32>
    %w2 = tp.param @w2 : tensor<16x12xf32>
    %y = tp.matmul %h, %w2 : (tensor<2x8x12xf32>, tensor<16x12xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
