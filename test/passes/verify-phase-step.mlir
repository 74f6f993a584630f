// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-verify-phase=phase=step
//
// The step phase: every tensor has a layout, and no op has its ways.

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
#s1 = #tp.layout<#mesh, [{6 over "tp"}]>
func.func @legal(%x: tensor<6xf32, #r1>) -> (tensor<6xf32, #r1>, tensor<6xf32, #s1>) {
  %c = tp.f %x over ["tp"] : tensor<6xf32, #r1> -> tensor<6xf32, #c1>
  %y = tp.relu %c : (tensor<6xf32, #c1>) -> tensor<6xf32, #c1>
  %s = tp.slice %x over ["tp"] : tensor<6xf32, #r1> -> tensor<6xf32, #s1>
  return %x, %s : tensor<6xf32, #r1>, tensor<6xf32, #s1>
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @ways(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.relu' op still has its ways; run tp-insert-conjugates}}
  %y = tp.relu %x {tp.ways = {tp = "replicated"}} : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
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

// -----

// The sum of the ranks' summands is the loss, not the summand of rank 0.
#mesh = #tp.mesh<"tp"=2>
#p0 = #tp.layout<#mesh, [] partial "tp">
func.func @partial_loss(%x: tensor<f32, #p0>) -> (tensor<f32, #p0> {tp.role = "loss"}) {
  // expected-error@+1 {{'func.return' op C3: "loss" is P on axis "tp", but what leaves the step is whole (R) or in blocks (S): put tp.g on it}}
  return %x : tensor<f32, #p0>
}

// -----

// A loss that is one rank's share would have each rank's gradient added.
#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
#c0 = #tp.layout<#mesh, [] copied "tp">
func.func @copied_loss(%x: tensor<f32, #r0>) -> (tensor<f32, #c0> {tp.role = "loss"}) {
  %c = tp.f %x over ["tp"] : tensor<f32, #r0> -> tensor<f32, #c0>
  // expected-error@+1 {{'func.return' op C3: "loss" is C on axis "tp", but what leaves the step is whole (R) or in blocks (S): take the value before its tp.f}}
  return %c : tensor<f32, #c0>
}

// -----

#mesh = #tp.mesh<"tp"=2>
#p1 = #tp.layout<#mesh, [_] partial "tp">
func.func @partial_result(%x: tensor<6xf32, #p1>) -> tensor<6xf32, #p1> {
  // expected-error@+1 {{'func.return' op C3: "result0" is P on axis "tp", but what leaves the step is whole (R) or in blocks (S): put tp.g on it}}
  return %x : tensor<6xf32, #p1>
}
