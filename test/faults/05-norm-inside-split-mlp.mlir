// RUN: %python %S/equal.py %s %t
//
// Fault 5: a layer norm of the hidden 64 right before the second matmul, which
// would be split by rows: its statistics are those of all 64, whatever is chosen.
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w1 : tensor<64x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @gamma : tensor<64xf32> {id = 2 : i64, init = #tp.init<normal 1.0, 0.5>}
  tp.parameter @beta : tensor<64xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w2 : tensor<16x64xf32> {id = 4 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<64x16xf32>
    %u = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<64x16xf32>) -> tensor<2x8x64xf32>
    %g = tp.gelu %u : (tensor<2x8x64xf32>) -> tensor<2x8x64xf32>
    %gamma = tp.param @gamma : tensor<64xf32>
    %beta = tp.param @beta : tensor<64xf32>
    %n = tp.layer_norm %g, %gamma, %beta {eps = 1.0e-5 : f64} : (tensor<2x8x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2x8x64xf32>
    %w2 = tp.param @w2 : tensor<16x64xf32>
    %y = tp.matmul %n, %w2 : (tensor<2x8x64xf32>, tensor<16x64xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
