// RUN: tp-opt %s | tp-opt | FileCheck %s
// RUN: tp-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CANONICAL
//
// Each graph op on whole tensors, as the importer writes it.

// CHECK: tp.parameter @w : tensor<8x4xf32> {id = 3 : i64, init = #tp.init<normal 0.000000e+00, 2.000000e-02>, rank = 2 : i64}
tp.parameter @w : tensor<8x4xf32> {id = 3 : i64, init = #tp.init<normal 0.000000e+00, 2.000000e-02>, rank = 2 : i64}
// CHECK: tp.parameter @ones : tensor<4xf32> {frozen, id = 4 : i64, init = #tp.init<ones>}
tp.parameter @ones : tensor<4xf32> {frozen, id = 4 : i64, init = #tp.init<ones>}
// CHECK: tp.parameter @half : tensor<4xf32> {id = 5 : i64, init = #tp.init<constant 5.000000e-01>}
tp.parameter @half : tensor<4xf32> {id = 5 : i64, init = #tp.init<constant 5.000000e-01>}
// CHECK: tp.parameter @joined : tensor<5x4xf32> {id = 6 : i64, init = #tp.init<zeros>, source = [#tp.source<"a" : [4, 6] step [1, 2] size [4, 3] perm [1, 0]>, #tp.source<"b" : [8] as [2, 4]>]}
tp.parameter @joined : tensor<5x4xf32> {id = 6 : i64, init = #tp.init<zeros>, source = [#tp.source<"a" : [4, 6] as [4, 6] from [0, 0] step [1, 2] size [4, 3] perm [1, 0]>, #tp.source<"b" : [8] as [2, 4] from [0, 0] step [1, 1] size [2, 4] perm [0, 1]>]}
// CHECK: tp.state @w.exp_avg of @w "exp_avg" : tensor<8x4xf32>
tp.state @w.exp_avg of @w "exp_avg" : tensor<8x4xf32>

// CHECK-LABEL: func.func @symbols
func.func @symbols() {
  // CHECK: %{{.*}} = tp.param @w : tensor<8x4xf32>
  %w = tp.param @w : tensor<8x4xf32>
  // CHECK: tp.output "gradient" gradient @w, %{{.*}} : tensor<8x4xf32>
  tp.output "gradient" gradient @w, %w : tensor<8x4xf32>
  // CHECK: tp.output "logits", %{{.*}} : tensor<8x4xf32>
  tp.output "logits", %w : tensor<8x4xf32>
  // CHECK: tp.update @w.exp_avg, %{{.*}} : tensor<8x4xf32>
  tp.update @w.exp_avg, %w : tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @contractions
func.func @contractions(%x: tensor<2x3x4xf32>, %w: tensor<8x4xf32>, %dy: tensor<2x3x8xf32>) {
  // CHECK: %{{.*}} = tp.matmul %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<8x4xf32>) -> tensor<2x3x8xf32>
  %y = tp.matmul %x, %w : (tensor<2x3x4xf32>, tensor<8x4xf32>) -> tensor<2x3x8xf32>
  // CHECK: %{{.*}} = tp.matmul_dgrad %{{.*}}, %{{.*}} : (tensor<2x3x8xf32>, tensor<8x4xf32>) -> tensor<2x3x4xf32>
  %dx = tp.matmul_dgrad %dy, %w : (tensor<2x3x8xf32>, tensor<8x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.matmul_wgrad %{{.*}}, %{{.*}} : (tensor<2x3x8xf32>, tensor<2x3x4xf32>) -> tensor<8x4xf32>
  %dw = tp.matmul_wgrad %dy, %x : (tensor<2x3x8xf32>, tensor<2x3x4xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @tables
func.func @tables(%ids: tensor<2x3xi32>, %table: tensor<9x4xf32>, %dy: tensor<2x3x4xf32>, %rows: tensor<3x4xf32>, %labels: tensor<2x4xi32>) {
  // CHECK: %{{.*}} = tp.embedding %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<9x4xf32>) -> tensor<2x3x4xf32>
  %y = tp.embedding %ids, %table : (tensor<2x3xi32>, tensor<9x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.embedding_grad %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<9x4xf32>
  %dt = tp.embedding_grad %ids, %dy : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<9x4xf32>
  // CHECK: %{{.*}} = tp.take_rows %{{.*}} : (tensor<9x4xf32>) -> tensor<3x4xf32>
  %p = tp.take_rows %table : (tensor<9x4xf32>) -> tensor<3x4xf32>
  // CHECK: %{{.*}} = tp.pad_rows %{{.*}} : (tensor<3x4xf32>) -> tensor<9x4xf32>
  %dp = tp.pad_rows %rows : (tensor<3x4xf32>) -> tensor<9x4xf32>
  // CHECK: %{{.*}} = tp.shift_labels %{{.*}} : (tensor<2x4xi32>) -> tensor<2x3xi32>
  %l = tp.shift_labels %labels : (tensor<2x4xi32>) -> tensor<2x3xi32>
  return
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<2x3x4xf32>, %b: tensor<4xf32>) {
  // CHECK: %{{.*}} = tp.add %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %1 = tp.add %x, %b : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.mul %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %2 = tp.mul %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.scale %{{.*}} {factor = 2.500000e-01 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %3 = tp.scale %x {factor = 2.500000e-01 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.sum_leading %{{.*}} : (tensor<2x3x4xf32>) -> tensor<4xf32>
  %4 = tp.sum_leading %x : (tensor<2x3x4xf32>) -> tensor<4xf32>
  // CHECK: %{{.*}} = tp.gelu %{{.*}} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %5 = tp.gelu %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.gelu %{{.*}} {tanh} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %6 = tp.gelu %x {tanh} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.gelu_grad %{{.*}}, %{{.*}} {tanh} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %7 = tp.gelu_grad %x, %x {tanh} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.relu %{{.*}} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %8 = tp.relu %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.relu_grad %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %9 = tp.relu_grad %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.silu %{{.*}} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %10 = tp.silu %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.silu_grad %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %11 = tp.silu_grad %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = tp.dropout %{{.*}} {id = 7 : i64, p = 1.000000e-01 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %12 = tp.dropout %x {id = 7 : i64, p = 1.000000e-01 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<2x3x4xf32>, %g: tensor<4xf32>) {
  // CHECK: %{{.*}} = tp.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %y = tp.layer_norm %x, %g, %g {eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = tp.layer_norm_grad %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %dx, %dg, %db = tp.layer_norm_grad %x, %g, %y {eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: %{{.*}} = tp.rms_norm %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %z = tp.rms_norm %x, %g {eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}}, %{{.*}} = tp.rms_norm_grad %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>)
  %rx, %rg = tp.rms_norm_grad %x, %g, %z {eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>)
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%x: tensor<2x3x12xf32>, %k: tensor<2x3x1x4xf32>, %v: tensor<2x3x1x4xf32>) {
  // CHECK: %{{.*}} = tp.reshape %{{.*}} : (tensor<2x3x12xf32>) -> tensor<2x3x1x3x4xf32>
  %h = tp.reshape %x : (tensor<2x3x12xf32>) -> tensor<2x3x1x3x4xf32>
  // CHECK: %{{.*}} = tp.rotary %{{.*}} {frequencies = array<f64: 1.000000e+00, 1.000000e-02>} : (tensor<2x3x1x3x4xf32>) -> tensor<2x3x1x3x4xf32>
  %q = tp.rotary %h {frequencies = array<f64: 1.000000e+00, 1.000000e-02>} : (tensor<2x3x1x3x4xf32>) -> tensor<2x3x1x3x4xf32>
  // CHECK: %{{.*}} = tp.rotary %{{.*}} {frequencies = array<f64: 1.000000e+00, 1.000000e-02>, inverse, scale = 5.000000e-01 : f64} : (tensor<2x3x1x3x4xf32>) -> tensor<2x3x1x3x4xf32>
  %r = tp.rotary %h {frequencies = array<f64: 1.000000e+00, 1.000000e-02>, inverse, scale = 5.000000e-01 : f64} : (tensor<2x3x1x3x4xf32>) -> tensor<2x3x1x3x4xf32>
  // CHECK: %{{.*}}, %{{.*}} = tp.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, dropout = 1.000000e-01 : f64, id = 9 : i64, scale = 5.000000e-01 : f64} : (tensor<2x3x1x3x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x4xf32>) -> (tensor<2x3x1x3x4xf32>, tensor<2x3x1x3xf32>)
  %y, %lse = tp.attention %q, %k, %v {causal, dropout = 1.000000e-01 : f64, id = 9 : i64, scale = 5.000000e-01 : f64} : (tensor<2x3x1x3x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x4xf32>) -> (tensor<2x3x1x3x4xf32>, tensor<2x3x1x3xf32>)
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = tp.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {causal, dropout = 1.000000e-01 : f64, id = 9 : i64, scale = 5.000000e-01 : f64} : (tensor<2x3x1x3x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x3xf32>, tensor<2x3x1x3x4xf32>) -> (tensor<2x3x1x3x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x4xf32>)
  %dq, %dk, %dv = tp.attention_grad %q, %k, %v, %lse, %y {causal, dropout = 1.000000e-01 : f64, id = 9 : i64, scale = 5.000000e-01 : f64} : (tensor<2x3x1x3x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x3xf32>, tensor<2x3x1x3x4xf32>) -> (tensor<2x3x1x3x4xf32>, tensor<2x3x1x4xf32>, tensor<2x3x1x4xf32>)
  return
}

// CHECK-LABEL: func.func @loss
func.func @loss(%x: tensor<2x3x9xf32>, %l: tensor<2x3xi32>) {
  // CHECK: %{{.*}}, %{{.*}} = tp.cross_entropy %{{.*}}, %{{.*}} {ignore = -1 : i64} : (tensor<2x3x9xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<f32>)
  %s, %n = tp.cross_entropy %x, %l {ignore = -1 : i64} : (tensor<2x3x9xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: %{{.*}} = tp.row_max %{{.*}} : (tensor<2x3x9xf32>) -> tensor<2x3xf32>
  %m = tp.row_max %x : (tensor<2x3x9xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = tp.sum_exp %{{.*}}, %{{.*}} : (tensor<2x3x9xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = tp.sum_exp %x, %m : (tensor<2x3x9xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = tp.sum_exp_grad %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3x9xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x9xf32>
  %de = tp.sum_exp_grad %x, %m, %e : (tensor<2x3x9xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x9xf32>
  // CHECK: %{{.*}} = tp.pick %{{.*}}, %{{.*}} : (tensor<2x3x9xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  %p = tp.pick %x, %l : (tensor<2x3x9xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = tp.pick_grad %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x3x9xf32>
  %dp = tp.pick_grad %l, %p : (tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x3x9xf32>
  // CHECK: %{{.*}}, %{{.*}} = tp.token_loss %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {ignore = -100 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<f32>)
  %sum, %count = tp.token_loss %m, %e, %p, %l {ignore = -100 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: %{{.*}}, %{{.*}} = tp.token_loss_grad %{{.*}}, %{{.*}}, %{{.*}} {ignore = -100 : i64} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %ds, %dpick = tp.token_loss_grad %e, %l, %sum {ignore = -100 : i64} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK: %{{.*}} = tp.mean %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %mean = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // CHECK: %{{.*}} = tp.constant {value = 1.000000e+00 : f64} : () -> tensor<f32>
  %one = tp.constant {value = 1.000000e+00 : f64} : () -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @optimizer
func.func @optimizer(%p: tensor<8x4xf32>) {
  // CHECK: %{{.*}} = tp.sum_squares %{{.*}} : (tensor<8x4xf32>) -> tensor<3xf32>
  %s = tp.sum_squares %p : (tensor<8x4xf32>) -> tensor<3xf32>
  // CHECK: %{{.*}}, %{{.*}} = tp.clip %{{.*}} {max_norm = 1.000000e+00 : f64} : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  %norm, %scale = tp.clip %s {max_norm = 1.000000e+00 : f64} : (tensor<3xf32>) -> (tensor<f32>, tensor<f32>)
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = tp.adamw %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {beta1 = 9.000000e-01 : f64, beta2 = 7.500000e-01 : f64, decay = 1.000000e-01 : f64, eps = 1.000000e-08 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  %np, %nm, %nv = tp.adamw %p, %p, %p, %p, %scale {beta1 = 9.000000e-01 : f64, beta2 = 7.500000e-01 : f64, decay = 1.000000e-01 : f64, eps = 1.000000e-08 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
  return
}

// Canonicalization keeps phases apart (a cf.br would be merged away).
// CHECK-LABEL: func.func @phases
// CANONICAL-LABEL: func.func @phases
// CANONICAL: tp.next ^[[BACKWARD:.*]]
// CANONICAL-NEXT: ^[[BACKWARD]]:
// CANONICAL: tp.next ^[[UPDATE:.*]]
// CANONICAL-NEXT: ^[[UPDATE]]:
// CANONICAL-NEXT: return
func.func @phases() {
  // CHECK: tp.next ^[[BACKWARD:.*]]
  tp.next ^backward
// CHECK-NEXT: ^[[BACKWARD]]:
^backward:
  // CHECK-NEXT: %{{.*}} = tp.seed : () -> tensor<f32>
  %0 = tp.seed : () -> tensor<f32>
  tp.output "seed", %0 : tensor<f32>
  // CHECK: tp.next ^[[UPDATE:.*]]
  tp.next ^update
// CHECK-NEXT: ^[[UPDATE]]:
^update:
  return
}
