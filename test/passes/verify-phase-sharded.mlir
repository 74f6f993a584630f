// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-verify-phase=phase=sharded
//
// The sharded phase: every tensor has a layout; ops may still have their ways.

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @legal(%x: tensor<6xf32, #r1>) -> tensor<6xf32, #r1> {
  %y = tp.relu %x {tp.ways = {tp = "replicated"}} : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  return %y : tensor<6xf32, #r1>
}

// -----

func.func @no_layout(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op has a tensor without a layout, which phase 'sharded' must not have}}
  %y = tp.relu %x : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @no_layout_of_a_result(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error@+1 {{'func.return' op has a tensor without a layout, which phase 'sharded' must not have}}
  return %x : tensor<6xf32>
}
