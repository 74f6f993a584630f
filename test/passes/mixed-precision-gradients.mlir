// RUN: rm -rf %t && split-file %s %t
// RUN: tp-compile %t/products.mlir --mesh tp=2 --dtype bf16 --topology %S/../topologies/flat.yaml --quiet -o %t/products.plan
// RUN: tp-opt %t/products.mlir --tp-step="mesh=tp=2 topology=%S/../topologies/flat.yaml dtype=bf16" | FileCheck %s --check-prefix=PRODUCTS
// RUN: tp-compile %t/activated.mlir --mesh tp=2 --dtype bf16 --pin b=1:tp --topology %S/../topologies/flat.yaml --quiet -o %t/activated.plan
// RUN: tp-compile %t/bias.mlir --mesh tp=2 --dtype bf16 --pin up=0:tp --pin down=1:tp --topology %S/../topologies/flat.yaml --quiet -o %t/bias.plan
// RUN: tp-opt %t/bias.mlir --tp-step="mesh=tp=2 pin=up=0:tp pin=down=1:tp dtype=bf16" | FileCheck %s --check-prefix=BIAS
// RUN: not tp-compile %t/rounded.mlir --mesh tp=2 --pin up=0:tp --pin down=1:tp --topology %S/../topologies/flat.yaml --quiet -o %t/rounded.plan 2>&1 | FileCheck %s --check-prefix=ROUNDED
//
// Gradients of values made from parameters alone, in bf16 and split: those of
// parameters are float32 in whatever shape, those of made weights of their type.

// PRODUCTS: tp.matmul_wgrad {{.*}} -> tensor<12x12xbf16
// BIAS: %[[SUM:.*]] = tp.sum_leading {{.*}} -> tensor<16xf32, #[[P:.*]]>
// BIAS: tp.g {{.*}} : tensor<16xf32, #[[P]]> -> tensor<16xf32
// BIAS: tp.reshape {{.*}} : (tensor<16xf32, {{.*}}>) -> tensor<4x4xf32
// ROUNDED: rounded.mlir:15:13: {{.*}}widen the value with tp.cast before it is broadcast

//--- products.mlir
module attributes {tp.model_type = "graph"} {
  tp.parameter @e : tensor<12x12xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.4>}
  tp.parameter @a : tensor<12x12xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.4>}
  tp.parameter @b : tensor<12x12xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.4>}
  func.func @main(%ids: tensor<2x4xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x5xi32> {tp.input = #tp.input<labels "labels">}) -> (tensor<f32> {tp.role = "loss"}) {
    %e = tp.param @e : tensor<12x12xf32>
    %a = tp.param @a : tensor<12x12xf32>
    %b = tp.param @b : tensor<12x12xf32>
    %x = tp.embedding %ids, %e : (tensor<2x4xi32>, tensor<12x12xf32>) -> tensor<2x4x12xf32>
    %w = tp.matmul %a, %b : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
    %w1 = tp.matmul %e, %w : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
    %y = tp.matmul %x, %w1 : (tensor<2x4x12xf32>, tensor<12x12xf32>) -> tensor<2x4x12xf32>
    %z = tp.matmul %y, %w : (tensor<2x4x12xf32>, tensor<12x12xf32>) -> tensor<2x4x12xf32>
    %l = tp.shift_labels %labels : (tensor<2x5xi32>) -> tensor<2x4xi32>
    %sum, %count = tp.cross_entropy %z, %l : (tensor<2x4x12xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

//--- activated.mlir
module attributes {tp.model_type = "graph"} {
  tp.parameter @e : tensor<12x12xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.4>}
  tp.parameter @a : tensor<12x12xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.4>}
  tp.parameter @b : tensor<12x12xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.4>}
  func.func @main(%ids: tensor<2x4xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x5xi32> {tp.input = #tp.input<labels "labels">}) -> (tensor<f32> {tp.role = "loss"}) {
    %e = tp.param @e : tensor<12x12xf32>
    %a = tp.param @a : tensor<12x12xf32>
    %b = tp.param @b : tensor<12x12xf32>
    %x = tp.embedding %ids, %e : (tensor<2x4xi32>, tensor<12x12xf32>) -> tensor<2x4x12xf32>
    %as = tp.silu %a : (tensor<12x12xf32>) -> tensor<12x12xf32>
    %bs = tp.silu %b : (tensor<12x12xf32>) -> tensor<12x12xf32>
    %w = tp.matmul %as, %bs : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
    %z = tp.matmul %x, %w : (tensor<2x4x12xf32>, tensor<12x12xf32>) -> tensor<2x4x12xf32>
    %l = tp.shift_labels %labels : (tensor<2x5xi32>) -> tensor<2x4xi32>
    %sum, %count = tp.cross_entropy %z, %l : (tensor<2x4x12xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

//--- bias.mlir
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @bias : tensor<4x4xf32> {id = 1 : i64, init = #tp.init<normal 1.0, 0.5>}
  tp.parameter @up : tensor<64x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @down : tensor<16x64xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %up = tp.param @up : tensor<64x16xf32>
    %large = tp.scale %up {factor = 0.75 : f64} : (tensor<64x16xf32>) -> tensor<64x16xf32>
    %u = tp.matmul %x, %large : (tensor<2x8x16xf32>, tensor<64x16xf32>) -> tensor<2x8x64xf32>
    %heads = tp.reshape %u : (tensor<2x8x64xf32>) -> tensor<2x8x4x16xf32>
    %bias = tp.param @bias : tensor<4x4xf32>
    %half = tp.reshape %bias : (tensor<4x4xf32>) -> tensor<16xf32>
    %each = tp.add %heads, %half : (tensor<2x8x4x16xf32>, tensor<16xf32>) -> tensor<2x8x4x16xf32>
    %a = tp.silu %each : (tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
    %joined = tp.reshape %a : (tensor<2x8x4x16xf32>) -> tensor<2x8x64xf32>
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

//--- rounded.mlir
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xbf16> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @bias : tensor<16xbf16> {id = 1 : i64, init = #tp.init<normal 1.0, 0.5>}
  tp.parameter @up : tensor<64x16xbf16> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @down : tensor<16x64xbf16> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xbf16>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xbf16>) -> tensor<2x8x16xbf16>
    %up = tp.param @up : tensor<64x16xbf16>
    %large = tp.scale %up {factor = 0.75 : f64} : (tensor<64x16xbf16>) -> tensor<64x16xbf16>
    %u = tp.matmul %x, %large : (tensor<2x8x16xbf16>, tensor<64x16xbf16>) -> tensor<2x8x64xbf16>
    %heads = tp.reshape %u : (tensor<2x8x64xbf16>) -> tensor<2x8x4x16xbf16>
    %bias = tp.param @bias : tensor<16xbf16>
    %half = tp.silu %bias : (tensor<16xbf16>) -> tensor<16xbf16>
    %each = tp.add %heads, %half : (tensor<2x8x4x16xbf16>, tensor<16xbf16>) -> tensor<2x8x4x16xbf16>
    %a = tp.silu %each : (tensor<2x8x4x16xbf16>) -> tensor<2x8x4x16xbf16>
    %joined = tp.reshape %a : (tensor<2x8x4x16xbf16>) -> tensor<2x8x64xbf16>
    %down = tp.param @down : tensor<16x64xbf16>
    %y = tp.matmul %joined, %down : (tensor<2x8x64xbf16>, tensor<16x64xbf16>) -> tensor<2x8x16xbf16>
    %z = tp.add %x, %y : (tensor<2x8x16xbf16>, tensor<2x8x16xbf16>) -> tensor<2x8x16xbf16>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xbf16>, tensor<32x16xbf16>) -> tensor<2x8x32xbf16>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xbf16>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
