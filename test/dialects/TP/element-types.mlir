// RUN: tp-opt %s --split-input-file | tp-opt --split-input-file | FileCheck %s
//
// bf16 and i64 wherever a type can stand; sums over rows, statistics and what
// the optimizer keeps are f32 beside them.

// CHECK-LABEL: func.func @contractions(
func.func @contractions(%x: tensor<6x4xbf16>, %w: tensor<10x4xbf16>) {
  // CHECK: tp.matmul {{.*}} -> tensor<6x10xbf16>
  %y = tp.matmul %x, %w : (tensor<6x4xbf16>, tensor<10x4xbf16>) -> tensor<6x10xbf16>
  // CHECK: tp.matmul_dgrad {{.*}} -> tensor<6x4xbf16>
  %dx = tp.matmul_dgrad %y, %w : (tensor<6x10xbf16>, tensor<10x4xbf16>) -> tensor<6x4xbf16>
  // CHECK: tp.matmul_wgrad {{.*}} -> tensor<10x4xbf16>
  %dw = tp.matmul_wgrad %y, %x : (tensor<6x10xbf16>, tensor<6x4xbf16>) -> tensor<10x4xbf16>
  // They add in f32, and may give it.
  // CHECK: tp.matmul {{.*}} -> tensor<6x10xf32>
  %wide = tp.matmul %x, %w : (tensor<6x4xbf16>, tensor<10x4xbf16>) -> tensor<6x10xf32>
  // CHECK: tp.matmul_wgrad {{.*}} -> tensor<10x4xf32>
  %dwide = tp.matmul_wgrad %y, %x : (tensor<6x10xbf16>, tensor<6x4xbf16>) -> tensor<10x4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @tables(
func.func @tables(%ids: tensor<2x6xi64>, %table: tensor<10x4xbf16>, %labels: tensor<2x7xi64>) {
  // CHECK: tp.embedding {{.*}} -> tensor<2x6x4xbf16>
  %y = tp.embedding %ids, %table : (tensor<2x6xi64>, tensor<10x4xbf16>) -> tensor<2x6x4xbf16>
  // CHECK: tp.embedding_grad {{.*}} -> tensor<10x4xf32>
  %d = tp.embedding_grad %ids, %y : (tensor<2x6xi64>, tensor<2x6x4xbf16>) -> tensor<10x4xf32>
  // CHECK: tp.take_rows {{.*}} -> tensor<6x4xbf16>
  %r = tp.take_rows %table : (tensor<10x4xbf16>) -> tensor<6x4xbf16>
  // CHECK: tp.pad_rows {{.*}} -> tensor<10x4xf32>
  %p = tp.pad_rows %r : (tensor<6x4xbf16>) -> tensor<10x4xf32>
  // CHECK: tp.shift_labels {{.*}} -> tensor<2x6xi64>
  %s = tp.shift_labels %labels : (tensor<2x7xi64>) -> tensor<2x6xi64>
  return
}

// -----

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: tensor<6x4xbf16>, %b: tensor<4xbf16>) {
  // CHECK: tp.add {{.*}} -> tensor<6x4xbf16>
  %a = tp.add %x, %b : (tensor<6x4xbf16>, tensor<4xbf16>) -> tensor<6x4xbf16>
  %g = tp.gelu %a : (tensor<6x4xbf16>) -> tensor<6x4xbf16>
  %s = tp.scale %g {factor = 0.5 : f64} : (tensor<6x4xbf16>) -> tensor<6x4xbf16>
  %n = tp.rms_norm %s, %b {eps = 0.1 : f64} : (tensor<6x4xbf16>, tensor<4xbf16>) -> tensor<6x4xbf16>
  // CHECK: tp.cast {{.*}} : (tensor<6x4xbf16>) -> tensor<6x4xf32>
  %y = tp.cast %n : (tensor<6x4xbf16>) -> tensor<6x4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @gradients(
func.func @gradients(%x: tensor<6x4xbf16>, %g: tensor<4xbf16>) {
  %a = tp.gelu_grad %x, %x : (tensor<6x4xbf16>, tensor<6x4xbf16>) -> tensor<6x4xbf16>
  // CHECK: tp.layer_norm_grad {{.*}} -> (tensor<6x4xbf16>, tensor<4xf32>, tensor<4xf32>)
  %l:3 = tp.layer_norm_grad %x, %g, %a {eps = 0.1 : f64} : (tensor<6x4xbf16>, tensor<4xbf16>, tensor<6x4xbf16>) -> (tensor<6x4xbf16>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: tp.rms_norm_grad {{.*}} -> (tensor<6x4xbf16>, tensor<4xf32>)
  %r:2 = tp.rms_norm_grad %x, %g, %a {eps = 0.1 : f64} : (tensor<6x4xbf16>, tensor<4xbf16>, tensor<6x4xbf16>) -> (tensor<6x4xbf16>, tensor<4xf32>)
  // CHECK: tp.sum_leading {{.*}} -> tensor<4xf32>
  %s = tp.sum_leading %x : (tensor<6x4xbf16>) -> tensor<4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @attention(
func.func @attention(%q: tensor<2x3x2x1x4xbf16>, %k: tensor<2x3x2x4xbf16>) {
  // CHECK: tp.attention {{.*}} -> (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x1xf32>)
  %y, %lse = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>) -> (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x1xf32>)
  %d:3 = tp.attention_grad %q, %k, %k, %lse, %y {scale = 0.5 : f64} : (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x1xf32>, tensor<2x3x2x1x4xbf16>) -> (tensor<2x3x2x1x4xbf16>, tensor<2x3x2x4xbf16>, tensor<2x3x2x4xbf16>)
  return
}

// -----

// CHECK-LABEL: func.func @loss(
func.func @loss(%x: tensor<6x10xbf16>, %labels: tensor<6xi64>) {
  // CHECK: tp.cross_entropy {{.*}} -> (tensor<f32>, tensor<f32>)
  %sum, %count = tp.cross_entropy %x, %labels : (tensor<6x10xbf16>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>)
  %max = tp.row_max %x : (tensor<6x10xbf16>) -> tensor<6xf32>
  %e = tp.sum_exp %x, %max : (tensor<6x10xbf16>, tensor<6xf32>) -> tensor<6xf32>
  %p = tp.pick %x, %labels : (tensor<6x10xbf16>, tensor<6xi64>) -> tensor<6xf32>
  %s:2 = tp.token_loss %max, %e, %p, %labels {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>)
  %g:2 = tp.token_loss_grad %e, %labels, %s#0 {ignore = -100 : i64} : (tensor<6xf32>, tensor<6xi64>, tensor<f32>) -> (tensor<6xf32>, tensor<6xf32>)
  // CHECK: tp.sum_exp_grad {{.*}} -> tensor<6x10xbf16>
  %dx = tp.sum_exp_grad %x, %max, %g#0 : (tensor<6x10xbf16>, tensor<6xf32>, tensor<6xf32>) -> tensor<6x10xbf16>
  // CHECK: tp.pick_grad {{.*}} -> tensor<6x10xbf16>
  %dp = tp.pick_grad %labels, %g#1 : (tensor<6xi64>, tensor<6xf32>) -> tensor<6x10xbf16>
  return
}

// -----

// CHECK-LABEL: func.func @optimizer(
func.func @optimizer(%p: tensor<6x4xf32>, %g: tensor<6x4xbf16>) {
  // CHECK: tp.sum_squares {{.*}} : (tensor<6x4xbf16>) -> tensor<3xf32>
  %s = tp.sum_squares %g : (tensor<6x4xbf16>) -> tensor<3xf32>
  %norm, %scale = tp.clip %s : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: tp.adamw
  %n:3 = tp.adamw %p, %g, %p, %p, %scale {beta1 = 0.9 : f64, beta2 = 0.9 : f64, eps = 0.1 : f64, decay = 0.0 : f64} : (tensor<6x4xf32>, tensor<6x4xbf16>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<f32>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>)
  return
}

// -----

// Changes of layout and collectives move any element.
#mesh = #tp.mesh<"tp"=2>
#r = #tp.layout<#mesh, [_, _]>
#s = #tp.layout<#mesh, [_, {4 over "tp"}]>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<6x4xbf16> {id = 0 : i64, init = #tp.init<ones>}
  // CHECK-LABEL: func.func @changes(
  func.func @changes(%ids: tensor<6x4xi64, #s>, %mask: tensor<6x4xi1, #r>) {
    // CHECK: tp.unslice {{.*}} -> tensor<6x4xi64,
    %a = tp.unslice %ids over ["tp"] : tensor<6x4xi64, #s> -> tensor<6x4xi64, #r>
    // CHECK: tp.slice {{.*}} -> tensor<6x4xi1,
    %b = tp.slice %mask over ["tp"] : tensor<6x4xi1, #r> -> tensor<6x4xi1, #s>
    // CHECK: tp.param @w : tensor<6x4xbf16>
    %w = tp.param @w : tensor<6x4xbf16>
    // CHECK: tp.all_reduce {{.*}} -> tensor<6x4xbf16>
    %c = tp.all_reduce %w over ["tp"] : tensor<6x4xbf16> -> tensor<6x4xbf16>
    return
  }
}
