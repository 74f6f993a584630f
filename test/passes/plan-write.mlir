// RUN: rm -rf %t && mkdir %t
// RUN: tp-opt %s --tp-complete-inputs --tp-shard="mesh=tp=2 pin=wte=0:tp" --tp-insert-conjugates --tp-differentiate --tp-optimize --tp-partition --tp-fuse --lower-to-plan --plan-expand-attention --plan-assign-streams --plan-place --plan-compile-kernels --plan-verify -o %t/plan.mlir
// RUN: tp-opt %t/plan.mlir --plan-write="output=%t/step.plan" -o /dev/null
// RUN: tp-run train %t/step.plan --seed 1 --steps 0 --save %t/saved
// RUN: ls %t/saved | FileCheck %s --check-prefix=SAVED
// RUN: not tp-opt %t/plan.mlir --plan-write="output=%t/nowhere/step.plan" 2>&1 | FileCheck %s --check-prefix=FOLDER
//
// Pass by pass, and by way of a text file, to a plan that tp-run reads. A file that cannot be written is
// an error and leaves nothing behind.

// SAVED: model.safetensors
// FOLDER: error: plan-write: {{.*}}nowhere/step.plan
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w1 : tensor<24x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @b1 : tensor<24xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w2 : tensor<16x24xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">},
                  %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<24x16xf32>
    %u = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<24x16xf32>) -> tensor<2x8x24xf32>
    %b1 = tp.param @b1 : tensor<24xf32>
    %v = tp.add %u, %b1 : (tensor<2x8x24xf32>, tensor<24xf32>) -> tensor<2x8x24xf32>
    %g = tp.gelu %v {tanh} : (tensor<2x8x24xf32>) -> tensor<2x8x24xf32>
    %w2 = tp.param @w2 : tensor<16x24xf32>
    %y = tp.matmul %g, %w2 : (tensor<2x8x24xf32>, tensor<16x24xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
