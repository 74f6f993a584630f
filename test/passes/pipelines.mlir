// RUN: rm -rf %t && mkdir %t
// RUN: tp-opt %s --tp-step="mesh=tp=2 pin=w1=0:tp beta1=0.5 beta2=0.75 eps=1e-3 weight-decay=0.125 clip-grad-norm=2.0 keep-gradients" -o %t/step.mlir
// RUN: tp-opt %s --tp-verify-phase=phase=graph --tp-complete-inputs --tp-shard="mesh=tp=2 pin=w1=0:tp" --tp-insert-conjugates --tp-differentiate --tp-optimize="beta1=0.5 beta2=0.75 eps=1e-3 weight-decay=0.125 clip-grad-norm=2.0 keep-gradients" -o %t/step-by-hand.mlir
// RUN: diff %t/step.mlir %t/step-by-hand.mlir
// RUN: FileCheck %s --input-file=%t/step.mlir
// RUN: tp-opt %t/step.mlir --tp-to-plan="output=%t/pipeline.plan" -o %t/plan.mlir
// RUN: tp-opt %t/step.mlir --tp-partition --tp-fuse --tp-count --lower-to-plan --plan-expand-attention --plan-assign-streams --plan-place --plan-compile-kernels --plan-verify --plan-write="output=%t/by-hand.plan" -o %t/plan-by-hand.mlir
// RUN: diff %t/plan.mlir %t/plan-by-hand.mlir
// RUN: cmp %t/pipeline.plan %t/by-hand.plan
// RUN: tp-compile %s --mesh tp=2 --pin w1=0:tp --beta1 0.5 --beta2 0.75 --eps 1e-3 --weight-decay 0.125 --clip-grad-norm 2.0 --outputs gradients --quiet -o %t/compiled.plan
// RUN: cmp %t/pipeline.plan %t/compiled.plan
// RUN: tp-opt %t/step.mlir --tp-to-plan | FileCheck %s --check-prefix=PLAN
// RUN: not tp-opt %s --tp-step="mesh=tp" 2>&1 | FileCheck %s --check-prefix=MESH
//
// The registered pipelines do what their passes do one by one, and what
// tp-compile does; every option arrives. Without an output nothing is written.

// CHECK: tp.optimizer = {beta1 = 5.000000e-01 : f64, beta2 = 7.500000e-01 : f64, clip_grad_norm = 2.000000e+00 : f64, eps = 1.000000e-03 : f64, weight_decay = 1.250000e-01 : f64}
// CHECK: tp.parameter @w1 : tensor<24x16xf32, #s2_tp_d0_24>
// CHECK: tp.output "gradient" gradient @w1
// PLAN: plan.program "train"
// MESH: error: tp-shard: mesh axis 'tp': wanted NAME=SIZE
module attributes {tp.model_type = "graph"} {
  tp.parameter @w1 : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w2 : tensor<16x24xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%x: tensor<6x16xf32>, %labels: tensor<6xi32> {tp.input = #tp.input<data "labels", low = 0, high = 16>}) -> (tensor<f32> {tp.role = "loss"}) {
    %w1 = tp.param @w1 : tensor<24x16xf32>
    %w2 = tp.param @w2 : tensor<16x24xf32>
    %0 = tp.matmul %x, %w1 : (tensor<6x16xf32>, tensor<24x16xf32>) -> tensor<6x24xf32>
    %1 = tp.gelu %0 : (tensor<6x24xf32>) -> tensor<6x24xf32>
    %2 = tp.matmul %1, %w2 : (tensor<6x24xf32>, tensor<16x24xf32>) -> tensor<6x16xf32>
    %sum, %count = tp.cross_entropy %2, %labels : (tensor<6x16xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
