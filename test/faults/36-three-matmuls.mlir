// RUN: %python %S/equal.py %s %t --split gate=0 up=0 down=1
//
// Fault 36, three matmuls: gate and up are cut at the same units, 60 of them, 15
// a rank at tp=4.
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @gate : tensor<60x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @up : tensor<60x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @down : tensor<16x60xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %gate = tp.param @gate : tensor<60x16xf32>
    %u = tp.matmul %x, %gate : (tensor<2x8x16xf32>, tensor<60x16xf32>) -> tensor<2x8x60xf32>
    %up = tp.param @up : tensor<60x16xf32>
    %v = tp.matmul %x, %up : (tensor<2x8x16xf32>, tensor<60x16xf32>) -> tensor<2x8x60xf32>
    %s = tp.silu %u : (tensor<2x8x60xf32>) -> tensor<2x8x60xf32>
    %m = tp.mul %s, %v : (tensor<2x8x60xf32>, tensor<2x8x60xf32>) -> tensor<2x8x60xf32>
    %down = tp.param @down : tensor<16x60xf32>
    %y = tp.matmul %m, %down : (tensor<2x8x60xf32>, tensor<16x60xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
