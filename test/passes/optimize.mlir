// RUN: tp-opt %s --split-input-file --tp-optimize="weight-decay=0.5 beta1=0.75 beta2=0.875 eps=0.125 clip-grad-norm=2.0" | FileCheck %s
//
// Gradient norm, clipping and AdamW. The input is what tp-differentiate leaves.

#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#r1 = #tp.layout<#mesh, [_]>
#out = #tp.layout<#mesh, [{8 over "tp"}, _]>
#s1 = #tp.layout<#mesh, [{8 over "tp"}]>
// Squares of what is split meet in one all-reduce of a scalar, those of what is
// replicated count once. Decay goes by the rank in the checkpoint: 2 for the
// weight, 1 for the biases, and 2 for a vector that is a row of a table there.
// CHECK: tp.optimizer = {beta1 = 7.500000e-01 : f64, beta2 = 8.750000e-01 : f64, clip_grad_norm = 2.000000e+00 : f64, eps = 1.250000e-01 : f64, weight_decay = 5.000000e-01 : f64}
// CHECK: tp.parameter @w : tensor<8x4xf32
// CHECK-DAG: tp.state @w.exp_avg of @w "exp_avg" : tensor<8x4xf32, #[[OUT:.*]]>
// CHECK-DAG: tp.state @w.exp_avg_sq of @w "exp_avg_sq" : tensor<8x4xf32, #[[OUT]]>
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[DW:[^:]*]]: tensor<8x4xf32, #{{[^>]*}}>, %[[DB:[^:]*]]: tensor<8xf32, #{{[^>]*}}>, %[[DC:[^:]*]]: tensor<4xf32, #r1>, %[[DROW:[^:]*]]: tensor<4xf32, #r1>
// CHECK: %[[W:.*]] = tp.param @w :
// CHECK: %[[B:.*]] = tp.param @b :
// CHECK: %[[C:.*]] = tp.param @c :
// CHECK: %[[ROW:.*]] = tp.param @row :
// CHECK: %[[S1:.*]] = tp.sum_squares %[[DW]] : {{.*}} -> tensor<3xf32, #p1_tp>
// CHECK: %[[S2:.*]] = tp.sum_squares %[[DB]] : {{.*}} -> tensor<3xf32, #p1_tp>
// CHECK: %[[P:.*]] = tp.add %[[S1]], %[[S2]] : {{.*}} -> tensor<3xf32, #p1_tp>
// CHECK: %[[S3:.*]] = tp.sum_squares %[[DC]] : {{.*}} -> tensor<3xf32, #r1>
// CHECK: %[[S4:.*]] = tp.sum_squares %[[DROW]] : {{.*}} -> tensor<3xf32, #r1>
// CHECK: %[[R:.*]] = tp.add %[[S3]], %[[S4]] : {{.*}} -> tensor<3xf32, #r1>
// CHECK: %[[G:.*]] = tp.g %[[P]] over ["tp"] {reason = "global gradient norm"} : tensor<3xf32, #p1_tp> -> tensor<3xf32, #r1>
// CHECK-NOT: tp.g %
// CHECK: %[[T:.*]] = tp.add %[[G]], %[[R]]
// CHECK: %[[NORM:.*]], %[[SCALE:.*]] = tp.clip %[[T]] {max_norm = 2.000000e+00 : f64}
// CHECK: tp.output "grad_norm", %[[NORM]]
// CHECK: %[[M:.*]] = tp.param @w.exp_avg :
// CHECK: %[[V:.*]] = tp.param @w.exp_avg_sq :
// CHECK: %[[CS:.*]] = tp.f %[[SCALE]] {{.*}} : tensor<f32, #r0> -> tensor<f32, #c0_tp>
// CHECK-NOT: tp.f %
// CHECK: %[[NP:.*]], %[[NM:.*]], %[[NV:.*]] = tp.adamw %[[W]], %[[DW]], %[[M]], %[[V]], %[[CS]] {beta1 = 7.500000e-01 : f64, beta2 = 8.750000e-01 : f64, decay = 5.000000e-01 : f64, eps = 1.250000e-01 : f64}
// CHECK: tp.update @w, %[[NP]]
// CHECK: tp.update @w.exp_avg, %[[NM]]
// CHECK: tp.update @w.exp_avg_sq, %[[NV]]
// CHECK: tp.adamw %[[B]], %[[DB]], %{{.*}}, %{{.*}}, %[[CS]] {{.*}} decay = 0.000000e+00 : f64
// CHECK: tp.adamw %[[C]], %[[DC]], %{{.*}}, %{{.*}}, %[[SCALE]] {{.*}} decay = 0.000000e+00 : f64
// CHECK: tp.adamw %[[ROW]], %[[DROW]], %{{.*}}, %{{.*}}, %[[SCALE]] {{.*}} decay = 5.000000e-01 : f64
// CHECK-NOT: tp.output "gradient"
// CHECK-NOT: tp.update @frozen
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<8x4xf32, #out> {id = 0 : i64, init = #tp.init<zeros>}
  tp.parameter @b : tensor<8xf32, #s1> {id = 1 : i64, init = #tp.init<zeros>}
  tp.parameter @c : tensor<4xf32, #r1> {id = 2 : i64, init = #tp.init<zeros>}
  tp.parameter @row : tensor<4xf32, #r1> {id = 3 : i64, init = #tp.init<zeros>, rank = 2 : i64}
  tp.parameter @frozen : tensor<8xf32, #s1> {id = 4 : i64, init = #tp.init<zeros>, frozen}
  func.func @step(%dw: tensor<8x4xf32, #out>, %db: tensor<8xf32, #s1>, %dc: tensor<4xf32, #r1>, %drow: tensor<4xf32, #r1>) {
    %w = tp.param @w : tensor<8x4xf32, #out>
    %b = tp.param @b : tensor<8xf32, #s1>
    %c = tp.param @c : tensor<4xf32, #r1>
    %row = tp.param @row : tensor<4xf32, #r1>
    %f = tp.param @frozen : tensor<8xf32, #s1>
    tp.output "gradient" gradient @w, %dw : tensor<8x4xf32, #out>
    tp.output "gradient" gradient @b, %db : tensor<8xf32, #s1>
    tp.output "gradient" gradient @c, %dc : tensor<4xf32, #r1>
    tp.output "gradient" gradient @row, %drow : tensor<4xf32, #r1>
    return
  }
}

// -----

// One rank, no layouts: no collective at all.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: tp.{{f|g}} %
// CHECK: tp.adamw
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @whole(%dw: tensor<8x4xf32>) {
  %w = tp.param @w : tensor<8x4xf32>
  tp.output "gradient" gradient @w, %dw : tensor<8x4xf32>
  return
}

// -----

// A parameter in bf16: AdamW moves its master, and the parameter is that,
// rounded.
// CHECK-DAG: tp.parameter @w : tensor<6x4xbf16>
// CHECK-DAG: tp.state @w.master of @w "master" : tensor<6x4xf32> {master}
// CHECK-DAG: tp.state @w.exp_avg of @w "exp_avg" : tensor<6x4xf32>{{$}}
// CHECK-DAG: tp.state @w.exp_avg_sq of @w "exp_avg_sq" : tensor<6x4xf32>{{$}}
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: %[[DW:.*]]: tensor<6x4xf32>
// CHECK-DAG: %[[M:.*]] = tp.param @w.exp_avg : tensor<6x4xf32>
// CHECK-DAG: %[[V:.*]] = tp.param @w.exp_avg_sq : tensor<6x4xf32>
// CHECK-DAG: %[[P:.*]] = tp.param @w.master : tensor<6x4xf32>
// CHECK: %[[NP:.*]], %[[NM:.*]], %[[NV:.*]] = tp.adamw %[[P]], %[[DW]], %[[M]], %[[V]],
// CHECK-NEXT: %[[STORED:.*]] = tp.cast %[[NP]] : (tensor<6x4xf32>) -> tensor<6x4xbf16>
// CHECK-NEXT: tp.update @w, %[[STORED]] : tensor<6x4xbf16>
// CHECK-NEXT: tp.update @w.master, %[[NP]] : tensor<6x4xf32>
// CHECK-NEXT: tp.update @w.exp_avg, %[[NM]]
// CHECK-NEXT: tp.update @w.exp_avg_sq, %[[NV]]
tp.parameter @w : tensor<6x4xbf16> {id = 0 : i64, init = #tp.init<zeros>}
func.func @narrow(%dw: tensor<6x4xf32>) {
  %w = tp.param @w : tensor<6x4xbf16>
  tp.output "gradient" gradient @w, %dw : tensor<6x4xf32>
  return
}
