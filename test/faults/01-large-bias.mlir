// RUN: %python %S/equal.py %s %t --split w1=0 b1=0 w2=1 --whole b2
//
// Fault 1: the bias of the row-split matmul, of 300, counts once and not once a
// rank; so does its gradient, and the column-split bias is cut with its rows.
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w1 : tensor<64x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @b1 : tensor<64xf32> {id = 2 : i64, init = #tp.init<constant 2.0>}
  tp.parameter @w2 : tensor<16x64xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @b2 : tensor<16xf32> {id = 4 : i64, init = #tp.init<constant 300.0>}
  tp.parameter @head : tensor<32x16xf32> {id = 5 : i64, init = #tp.init<normal 0.0, 0.05>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<64x16xf32>
    %u = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<64x16xf32>) -> tensor<2x8x64xf32>
    %b1 = tp.param @b1 : tensor<64xf32>
    %v = tp.add %u, %b1 : (tensor<2x8x64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
    %g = tp.gelu %v : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %w2 = tp.param @w2 : tensor<16x64xf32>
    %y = tp.matmul %g, %w2 : (tensor<2x8x64xf32>, tensor<16x64xf32>) -> tensor<2x8x16xf32>
    %b2 = tp.param @b2 : tensor<16xf32>
    %z = tp.add %y, %b2 : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
    %head = tp.param @head : tensor<32x16xf32>
    %logits = tp.matmul %z, %head : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
