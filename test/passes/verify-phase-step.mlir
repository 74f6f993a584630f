// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-verify-phase=phase=step
//
// The step phase: every tensor has a layout, and no op has its ways.

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
func.func @legal(%x: tensor<6xf32, #r1>) -> tensor<6xf32, #c1> {
  %c = tp.f %x over ["tp"] : tensor<6xf32, #r1> -> tensor<6xf32, #c1>
  %y = tp.relu %c : (tensor<6xf32, #c1>) -> tensor<6xf32, #c1>
  return %y : tensor<6xf32, #c1>
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @ways(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.relu' op still has its ways; run tp-insert-conjugates}}
  %y = tp.relu %x {ways = {tp = "replicated"}} : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  return
}

// -----

func.func @no_layout(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op has a tensor without a layout, which phase 'step' must not have}}
  %y = tp.relu %x : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

// expected-error@+1 {{has 4 blocks; the phases forward, backward and update are 3}}
func.func @four_phases() {
  tp.next ^second
^second:
  tp.next ^third
^third:
  tp.next ^fourth
^fourth:
  return
}

// -----

// expected-error@+1 {{has a block that ends in neither tp.next (a phase that another one follows) nor return (the last one)}}
func.func @returns_early() {
  return
^second:
  return
}
