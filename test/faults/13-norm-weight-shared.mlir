// RUN: %python %S/equal.py %s %t --split up=0 down=1 --whole gamma
//
// Fault 13: one norm weight of 16 normalises the rows, which every rank does
// whole, and each head of 16, of which a rank has its own: the gradient of the
// second use alone is summed over the ranks.
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @gamma : tensor<16xf32> {id = 1 : i64, init = #tp.init<normal 1.0, 0.5>}
  tp.parameter @up : tensor<64x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @down : tensor<16x64xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %gamma = tp.param @gamma : tensor<16xf32>
    %n = tp.rms_norm %x, %gamma {eps = 1.0e-6 : f64} : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
    %up = tp.param @up : tensor<64x16xf32>
    %u = tp.matmul %n, %up : (tensor<2x8x16xf32>, tensor<64x16xf32>) -> tensor<2x8x64xf32>
    %heads = tp.reshape %u : (tensor<2x8x64xf32>) -> tensor<2x8x4x16xf32>
    %each = tp.rms_norm %heads, %gamma {eps = 1.0e-6 : f64} : (tensor<2x8x4x16xf32>, tensor<16xf32>) -> tensor<2x8x4x16xf32>
    %joined = tp.reshape %each : (tensor<2x8x4x16xf32>) -> tensor<2x8x64xf32>
    %down = tp.param @down : tensor<16x64xf32>
    %y = tp.matmul %joined, %down : (tensor<2x8x64xf32>, tensor<16x64xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
