// RUN: %python %S/equal.py %s %t --split w1=0 w2=1 w3=0 w4=1
//
// Fault 39: dropout of what is split, by columns and by heads, in blocks with
// padding on four ranks: each element's mask is that of its place in the whole
// tensor, and differs from rank to rank.
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w1 : tensor<22x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w2 : tensor<16x22xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w3 : tensor<24x16xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w4 : tensor<16x24xf32> {id = 4 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<22x16xf32>
    %u = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<22x16xf32>) -> tensor<2x8x22xf32>
    %a = tp.dropout %u {p = 0.5 : f64, id = 3 : i64} : (tensor<2x8x22xf32>) -> tensor<2x8x22xf32>
    %w2 = tp.param @w2 : tensor<16x22xf32>
    %v = tp.matmul %a, %w2 : (tensor<2x8x22xf32>, tensor<16x22xf32>) -> tensor<2x8x16xf32>
    %y = tp.add %x, %v : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %w3 = tp.param @w3 : tensor<24x16xf32>
    %p = tp.matmul %y, %w3 : (tensor<2x8x16xf32>, tensor<24x16xf32>) -> tensor<2x8x24xf32>
    %heads = tp.reshape %p : (tensor<2x8x24xf32>) -> tensor<2x8x6x4xf32>
    %b = tp.dropout %heads {p = 0.25 : f64, id = 4 : i64} : (tensor<2x8x6x4xf32>) -> tensor<2x8x6x4xf32>
    %h = tp.reshape %b : (tensor<2x8x6x4xf32>) -> tensor<2x8x24xf32>
    %w4 = tp.param @w4 : tensor<16x24xf32>
    %q = tp.matmul %h, %w4 : (tensor<2x8x24xf32>, tensor<16x24xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %y, %q : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
