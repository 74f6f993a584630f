// RUN: tp-opt %s --tp-complete-inputs --tp-shard="mesh=tp=2" --tp-verify-phase="phase=sharded" --tp-insert-conjugates --tp-verify-phase="phase=step" --tp-differentiate --tp-optimize="clip-grad-norm=1.0" --tp-verify-phase="phase=step" --tp-partition --tp-verify-phase="phase=local" --tp-count --tp-fuse --tp-verify-phase="phase=local" | FileCheck %s
//
// A step whose layers are in bf16 and whose parameters are in f32, split over
// two ranks: layouts are chosen for bf16 values as for f32 ones, and what is
// predicted of them is counted.

// CHECK-DAG: tp.parameter @up : tensor<1024x64xf32>
// CHECK-DAG: tp.parameter @down : tensor<64x1024xf32>
tp.parameter @t : tensor<10x64xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.02>}
tp.parameter @g : tensor<64xf32> {id = 1 : i64, init = #tp.init<ones>}
tp.parameter @up : tensor<2048x64xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.02>}
tp.parameter @b : tensor<2048xf32> {id = 3 : i64, init = #tp.init<zeros>}
tp.parameter @down : tensor<64x2048xf32> {id = 4 : i64, init = #tp.init<normal 0.0, 0.02>}
// CHECK-LABEL: func.func @main(
// CHECK: tp.matmul {{.*}} -> tensor<2x6x1024xbf16>
// CHECK: %[[P:.*]] = tp.matmul {{.*}} -> tensor<2x6x64xbf16>
// CHECK: tp.all_reduce %[[P]] over ["tp"] {{.*}} : tensor<2x6x64xbf16> -> tensor<2x6x64xbf16>
// CHECK: tp.matmul_wgrad {{.*}} -> tensor<64x1024xf32>
// CHECK: tp.sum_leading {{.*}} : (tensor<2x6x1024xbf16>) -> tensor<1024xf32>
// CHECK: tp.adamw {{.*}} : (tensor<1024x64xf32>, tensor<1024x64xf32>,
func.func @main(%ids: tensor<2x6xi64> {tp.role = "ids"}, %labels: tensor<2x7xi64> {tp.role = "labels"}) -> (tensor<f32> {tp.role = "loss"}) {
  %t = tp.param @t : tensor<10x64xf32>
  %g = tp.param @g : tensor<64xf32>
  %up = tp.param @up : tensor<2048x64xf32>
  %b = tp.param @b : tensor<2048xf32>
  %down = tp.param @down : tensor<64x2048xf32>
  %tn = tp.cast %t : (tensor<10x64xf32>) -> tensor<10x64xbf16>
  %gn = tp.cast %g : (tensor<64xf32>) -> tensor<64xbf16>
  %upn = tp.cast %up : (tensor<2048x64xf32>) -> tensor<2048x64xbf16>
  %bn = tp.cast %b : (tensor<2048xf32>) -> tensor<2048xbf16>
  %downn = tp.cast %down : (tensor<64x2048xf32>) -> tensor<64x2048xbf16>
  %x = tp.embedding %ids, %tn : (tensor<2x6xi64>, tensor<10x64xbf16>) -> tensor<2x6x64xbf16>
  %n = tp.rms_norm %x, %gn {eps = 0.1 : f64} : (tensor<2x6x64xbf16>, tensor<64xbf16>) -> tensor<2x6x64xbf16>
  %u = tp.matmul %n, %upn : (tensor<2x6x64xbf16>, tensor<2048x64xbf16>) -> tensor<2x6x2048xbf16>
  %v = tp.add %u, %bn : (tensor<2x6x2048xbf16>, tensor<2048xbf16>) -> tensor<2x6x2048xbf16>
  %a = tp.gelu %v : (tensor<2x6x2048xbf16>) -> tensor<2x6x2048xbf16>
  %d = tp.matmul %a, %downn : (tensor<2x6x2048xbf16>, tensor<64x2048xbf16>) -> tensor<2x6x64xbf16>
  %y = tp.add %x, %d : (tensor<2x6x64xbf16>, tensor<2x6x64xbf16>) -> tensor<2x6x64xbf16>
  %logits = tp.matmul %y, %tn : (tensor<2x6x64xbf16>, tensor<10x64xbf16>) -> tensor<2x6x10xbf16>
  %l = tp.shift_labels %labels : (tensor<2x7xi64>) -> tensor<2x6xi64>
  %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x6x10xbf16>, tensor<2x6xi64>) -> (tensor<f32>, tensor<f32>)
  %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
