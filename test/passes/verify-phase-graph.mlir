// RUN: tp-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-verify-phase=phase=graph
//
// The graph phase: tp ops on whole tensors of static shape, no layouts.

func.func @legal(%x: tensor<6xf32>) -> tensor<6xf32> {
  %y = tp.relu %x : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

func.func @another_dialect(%x: tensor<6xf32>) {
  // expected-error@+1 {{'func.call' op calls a function, but every function is a program by itself; put the callee's ops in its place}}
  func.call @another_dialect(%x) : (tensor<6xf32>) -> ()
  return
}

// -----

// expected-error@+1 {{a value has type 'tensor<?xf32>'; wanted a tensor of static shape, not empty and of at most 2^46 elements}}
func.func @dynamic_shape(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error@+1 {{a value has type 'f32'; wanted a tensor of static shape, not empty and of at most 2^46 elements}}
func.func @no_tensor(%x: f32) -> f32 {
  return %x : f32
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
func.func @layout(%x: tensor<6xf32, #r1>) {
  // expected-error@+1 {{'tp.relu' op has a tensor with a layout, which phase 'graph' must not have}}
  %y = tp.relu %x : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
  return
}

// -----

func.func @ways(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op still has its ways; run tp-insert-conjugates}}
  %y = tp.relu %x {tp.ways = {tp = "replicated"}} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @phases() {
  // expected-error@+1 {{'tp.next' op ends a phase; a graph is forward only, and tp-differentiate makes the other phases}}
  tp.next ^backward
^backward:
  return
}

// -----

func.func @unknown_dialect(%x: tensor<6xf32>) {
  // expected-error@+1 {{'other.negate' op is not a tp op; between import and the kernels only tp ops touch tensors}}
  %y = "other.negate"(%x) : (tensor<6xf32>) -> tensor<6xf32>
  return
}
