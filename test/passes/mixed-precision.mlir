// RUN: tp-opt %s --split-input-file --tp-mixed-precision | FileCheck %s
//
// Which values are bf16. Contractions take and give it, norms neither; the
// residual stream is f32 since it meets a value that begins so.

// CHECK-DAG: tp.parameter @g : tensor<4xf32>
tp.parameter @g : tensor<4xf32> {id = 0 : i64, init = #tp.init<ones>}
// CHECK-DAG: tp.parameter @up : tensor<8x4xbf16>
tp.parameter @up : tensor<8x4xf32> {id = 1 : i64, init = #tp.init<zeros>}
// CHECK-DAG: tp.parameter @b : tensor<8xbf16>
tp.parameter @b : tensor<8xf32> {id = 2 : i64, init = #tp.init<zeros>}
// CHECK-DAG: tp.parameter @down : tensor<4x8xbf16>
tp.parameter @down : tensor<4x8xf32> {id = 3 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: func.func @layer(
// CHECK-SAME: %[[X:.*]]: tensor<3x4xf32>
// CHECK: %[[N:.*]] = tp.rms_norm %[[X]], {{.*}} -> tensor<3x4xf32>
// CHECK-NEXT: %[[NN:.*]] = tp.cast %[[N]] : (tensor<3x4xf32>) -> tensor<3x4xbf16>
// CHECK: %[[U:.*]] = tp.matmul %[[NN]], {{.*}} -> tensor<3x8xbf16>
// CHECK-NEXT: %[[V:.*]] = tp.add %[[U]], {{.*}} : (tensor<3x8xbf16>, tensor<8xbf16>) -> tensor<3x8xbf16>
// CHECK-NEXT: %[[A:.*]] = tp.gelu %[[V]] : (tensor<3x8xbf16>) -> tensor<3x8xbf16>
// CHECK: %[[D:.*]] = tp.matmul %[[A]], {{.*}} -> tensor<3x4xbf16>
// CHECK-NEXT: %[[W:.*]] = tp.cast %[[D]] : (tensor<3x4xbf16>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[Y:.*]] = tp.add %[[X]], %[[W]] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @layer(%x: tensor<3x4xf32>) -> tensor<3x4xf32> attributes {tp.forward} {
  %g = tp.param @g : tensor<4xf32>
  %up = tp.param @up : tensor<8x4xf32>
  %b = tp.param @b : tensor<8xf32>
  %down = tp.param @down : tensor<4x8xf32>
  %n = tp.rms_norm %x, %g {eps = 0.1 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %u = tp.matmul %n, %up : (tensor<3x4xf32>, tensor<8x4xf32>) -> tensor<3x8xf32>
  %v = tp.add %u, %b : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %a = tp.gelu %v : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %d = tp.matmul %a, %down : (tensor<3x8xf32>, tensor<4x8xf32>) -> tensor<3x4xf32>
  %y = tp.add %x, %d : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// A table that is the head's weight as well is bf16, and its rows are f32 as
// those of another. What nothing contracts stays f32, rows of positions too.

// CHECK-DAG: tp.parameter @table : tensor<10x4xbf16>
tp.parameter @table : tensor<10x4xf32> {id = 0 : i64, init = #tp.init<ones>}
// CHECK-DAG: tp.parameter @places : tensor<7x4xf32>
tp.parameter @places : tensor<7x4xf32> {id = 1 : i64, init = #tp.init<ones>}
// CHECK-LABEL: func.func @tied(
// CHECK: %[[E:.*]] = tp.embedding {{.*}} -> tensor<2x5x4xbf16>
// CHECK-NEXT: %[[X:.*]] = tp.cast %[[E]] : (tensor<2x5x4xbf16>) -> tensor<2x5x4xf32>
// CHECK: %[[Z:.*]] = tp.add %[[X]], {{.*}} -> tensor<2x5x4xf32>
// CHECK-NEXT: %[[N:.*]] = tp.cast %[[Z]] : (tensor<2x5x4xf32>) -> tensor<2x5x4xbf16>
// CHECK: %[[L:.*]] = tp.matmul %[[N]], {{.*}} -> tensor<2x5x10xbf16>
// CHECK: tp.cross_entropy %[[L]], {{.*}} : (tensor<2x5x10xbf16>, tensor<2x5xi32>) -> (tensor<f32>, tensor<f32>)
func.func @tied(%ids: tensor<2x5xi32>, %labels: tensor<2x5xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %t = tp.param @table : tensor<10x4xf32>
  %p = tp.param @places : tensor<7x4xf32>
  %x = tp.embedding %ids, %t : (tensor<2x5xi32>, tensor<10x4xf32>) -> tensor<2x5x4xf32>
  %r = tp.take_rows %p : (tensor<7x4xf32>) -> tensor<5x4xf32>
  %z = tp.add %x, %r : (tensor<2x5x4xf32>, tensor<5x4xf32>) -> tensor<2x5x4xf32>
  %l = tp.matmul %z, %t : (tensor<2x5x4xf32>, tensor<10x4xf32>) -> tensor<2x5x10xf32>
  %sum, %count = tp.cross_entropy %l, %labels : (tensor<2x5x10xf32>, tensor<2x5xi32>) -> (tensor<f32>, tensor<f32>)
  return %sum : tensor<f32>
}

// -----

// A parameter without gradient would have no float32 copy to be saved: it stays
// f32 where others are trained, and is cast where it is used.

// CHECK-DAG: tp.parameter @frozen : tensor<4x4xf32>
tp.parameter @frozen : tensor<4x4xf32> {id = 0 : i64, init = #tp.init<ones>, frozen}
// CHECK-DAG: tp.parameter @trained : tensor<4x4xbf16>
tp.parameter @trained : tensor<4x4xf32> {id = 1 : i64, init = #tp.init<ones>}
// CHECK-LABEL: func.func @step(
// CHECK: %[[F:.*]] = tp.param @frozen : tensor<4x4xf32>
// CHECK-NEXT: %[[N:.*]] = tp.cast %[[F]] : (tensor<4x4xf32>) -> tensor<4x4xbf16>
// CHECK: tp.matmul {{.*}}, %[[N]] : {{.*}} -> tensor<3x4xbf16>
func.func @step(%x: tensor<3x4xf32>, %labels: tensor<3xi32>) -> (tensor<f32> {tp.role = "loss"}) {
  %f = tp.param @frozen : tensor<4x4xf32>
  %t = tp.param @trained : tensor<4x4xf32>
  %u = tp.matmul %x, %t : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %v = tp.matmul %u, %f : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %sum, %count = tp.cross_entropy %v, %labels : (tensor<3x4xf32>, tensor<3xi32>) -> (tensor<f32>, tensor<f32>)
  return %sum : tensor<f32>
}
// It is the same in a function that is only evaluated, which gives its results
// in their types.
// CHECK-LABEL: func.func @evaluate(
// CHECK: tp.param @trained : tensor<4x4xbf16>
// CHECK: %[[Y:.*]] = tp.matmul {{.*}} -> tensor<3x4xbf16>
// CHECK: %[[R:.*]] = tp.cast %[[Y]] : (tensor<3x4xbf16>) -> tensor<3x4xf32>
// CHECK: return %[[R]] : tensor<3x4xf32>
func.func @evaluate(%x: tensor<3x4xf32>) -> (tensor<3x4xf32> {tp.role = "y"}) attributes {tp.forward} {
  %t = tp.param @trained : tensor<4x4xf32>
  %y = tp.matmul %x, %t : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Attention is a contraction, but for its rows' logarithms; a norm of heads is
// none, and its weight stays f32. A reshaped parameter is that parameter.

// CHECK-DAG: tp.parameter @q : tensor<2x4x6xbf16>
tp.parameter @q : tensor<2x4x6xf32> {id = 0 : i64, init = #tp.init<ones>}
// CHECK-DAG: tp.parameter @g : tensor<4xf32>
tp.parameter @g : tensor<4xf32> {id = 1 : i64, init = #tp.init<ones>}
// CHECK-LABEL: func.func @heads(
// CHECK: tp.reshape {{.*}} : (tensor<2x4x6xbf16>) -> tensor<8x6xbf16>
// CHECK: %[[H:.*]] = tp.reshape {{.*}} -> tensor<3x5x2x1x4xbf16>
// CHECK: %[[W:.*]] = tp.cast %[[H]] : (tensor<3x5x2x1x4xbf16>) -> tensor<3x5x2x1x4xf32>
// CHECK: %[[N:.*]] = tp.rms_norm %[[W]], {{.*}} -> tensor<3x5x2x1x4xf32>
// CHECK: %[[NN:.*]] = tp.cast %[[N]]
// CHECK: tp.attention %[[NN]], %[[K:.*]], %[[K]] {{.*}} -> (tensor<3x5x2x1x4xbf16>, tensor<3x5x2x1xf32>)
func.func @heads(%x: tensor<3x5x6xf32>, %k: tensor<3x5x2x4xf32>) -> tensor<3x5x2x1x4xf32> attributes {tp.forward} {
  %q = tp.param @q : tensor<2x4x6xf32>
  %g = tp.param @g : tensor<4xf32>
  %w = tp.reshape %q : (tensor<2x4x6xf32>) -> tensor<8x6xf32>
  %y = tp.matmul %x, %w : (tensor<3x5x6xf32>, tensor<8x6xf32>) -> tensor<3x5x8xf32>
  %h = tp.reshape %y : (tensor<3x5x8xf32>) -> tensor<3x5x2x1x4xf32>
  %n = tp.rms_norm %h, %g {eps = 0.1 : f64} : (tensor<3x5x2x1x4xf32>, tensor<4xf32>) -> tensor<3x5x2x1x4xf32>
  %a, %lse = tp.attention %n, %k, %k {scale = 0.5 : f64} : (tensor<3x5x2x1x4xf32>, tensor<3x5x2x4xf32>, tensor<3x5x2x4xf32>) -> (tensor<3x5x2x1x4xf32>, tensor<3x5x2x1xf32>)
  return %a : tensor<3x5x2x1x4xf32>
}

// -----

// Types go by what an op allows, not by what it is called: a loss in parts
// takes bf16 logits as they are, and statistics of rows stay f32.

// CHECK-LABEL: func.func @parts(
// CHECK: %[[Y:.*]] = tp.matmul {{.*}} -> tensor<6x10xbf16>
// CHECK: tp.row_max %[[Y]] : (tensor<6x10xbf16>) -> tensor<6xf32>
// CHECK: tp.sum_exp %[[Y]], {{.*}} : (tensor<6x10xbf16>, tensor<6xf32>) -> tensor<6xf32>
// CHECK: tp.pick %[[Y]], {{.*}} -> tensor<6xf32>
// CHECK-NOT: tp.cast
// CHECK: return
func.func @parts(%x: tensor<6x4xf32>, %w: tensor<10x4xf32>, %l: tensor<6xi32>) -> tensor<f32> attributes {tp.forward} {
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<10x4xf32>) -> tensor<6x10xf32>
  %m = tp.row_max %y : (tensor<6x10xf32>) -> tensor<6xf32>
  %e = tp.sum_exp %y, %m : (tensor<6x10xf32>, tensor<6xf32>) -> tensor<6xf32>
  %p = tp.pick %y, %l : (tensor<6x10xf32>, tensor<6xi32>) -> tensor<6xf32>
  %s, %c = tp.token_loss %m, %e, %p, %l {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return %s : tensor<f32>
}

// -----

// What allows no one type for its floats keeps those that it has.

// CHECK-LABEL: func.func @mixed(
// CHECK: %[[W:.*]] = tp.cast %{{.*}} : (tensor<2x3x2x1x4xbf16>) -> tensor<2x3x2x1x4xf32>
// CHECK: tp.attention_grad %[[W]], {{.*}} -> (tensor<2x3x2x1x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>)
func.func @mixed(%x: tensor<2x3x8xf32>, %w: tensor<8x8xf32>, %k: tensor<2x3x2x4xf32>, %lse: tensor<2x3x2x1xf32>) -> tensor<2x3x2x1x4xf32> attributes {tp.forward} {
  %y = tp.matmul %x, %w : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
  %q = tp.reshape %y : (tensor<2x3x8xf32>) -> tensor<2x3x2x1x4xf32>
  %d:3 = tp.attention_grad %q, %k, %k, %lse, %q {scale = 0.5 : f64} : (tensor<2x3x2x1x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x1xf32>, tensor<2x3x2x1x4xf32>) -> (tensor<2x3x2x1x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>)
  return %d#0 : tensor<2x3x2x1x4xf32>
}

// -----

// An op of parameters alone whose result is a statistic keeps that in f32,
// though it takes the parameter as it is stored.

// CHECK-LABEL: func.func @statistics_of_parameters(
// CHECK: tp.row_max {{.*}} : (tensor<8x4xbf16>) -> tensor<8xf32>
// CHECK: tp.sum_leading {{.*}} : (tensor<8x4xbf16>) -> tensor<4xf32>
// CHECK: tp.sum_squares {{.*}} : (tensor<8x4xbf16>) -> tensor<3xf32>
// CHECK: tp.scale {{.*}} : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<ones>}
func.func @statistics_of_parameters(%x: tensor<3x4xf32>) -> (tensor<3x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<3xf32>, tensor<8x4xf32>) attributes {tp.forward} {
  %w = tp.param @w : tensor<8x4xf32>
  %y = tp.matmul %x, %w : (tensor<3x4xf32>, tensor<8x4xf32>) -> tensor<3x8xf32>
  %m = tp.row_max %w : (tensor<8x4xf32>) -> tensor<8xf32>
  %s = tp.sum_leading %w : (tensor<8x4xf32>) -> tensor<4xf32>
  %q = tp.sum_squares %w : (tensor<8x4xf32>) -> tensor<3xf32>
  %k = tp.scale %w {factor = 2.0 : f64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y, %m, %s, %q, %k : tensor<3x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<3xf32>, tensor<8x4xf32>
}
