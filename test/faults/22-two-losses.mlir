// RUN: %python %S/equal.py %s %t --tp 1 2 4
//
// A loss that is the sum of two means, one scaled: scalars are added, scaled and
// have gradients as any other value, and each mean divides by its own count.
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w1 : tensor<24x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w2 : tensor<16x24xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @head : tensor<32x16xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<24x16xf32>
    %u = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<24x16xf32>) -> tensor<2x8x24xf32>
    %g = tp.gelu %u : (tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
    %w2 = tp.param @w2 : tensor<16x24xf32>
    %y = tp.matmul %g, %w2 : (tensor<2x8x24xf32>, tensor<16x24xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %first = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %sum, %count = tp.cross_entropy %first, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %a = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %head = tp.param @head : tensor<32x16xf32>
    %second = tp.matmul %z, %head : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %sum2, %count2 = tp.cross_entropy %second, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %b = tp.mean %sum2, %count2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %c = tp.scale %b {factor = 0.3 : f64} : (tensor<f32>) -> tensor<f32>
    %loss = tp.add %a, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
