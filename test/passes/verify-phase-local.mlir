// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-verify-phase=phase=local
//
// The local phase: no layouts, no changes of layout, every op has a lowering.

tp.parameter @w : tensor<6xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @legal() {
  %w = tp.param @w : tensor<6xf32>
  %s = tp.sum_squares %w : (tensor<6xf32>) -> tensor<3xf32>
  %t = tp.all_reduce %s over ["tp"] : tensor<3xf32> -> tensor<3xf32>
  tp.output "t", %t : tensor<3xf32>
  tp.update @w, %w : tensor<6xf32>
  return
}

// -----

func.func @composite(%x: tensor<6x9xf32>, %l: tensor<6xi32>) {
  // expected-error@+1 {{'tp.cross_entropy' op has no lowering to local code}}
  %s, %n = tp.cross_entropy %x, %l : (tensor<6x9xf32>, tensor<6xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
func.func @change_of_layout(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.f' op has no lowering to local code}}
  %c = tp.f %x over ["tp"] : tensor<6xf32, #r1> -> tensor<6xf32, #c1>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @layout(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.relu' op has a tensor with a layout, which phase 'local' must not have}}
  %y = tp.relu %x : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  return
}
