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

// -----

// Ids key the draws of initial values.
tp.parameter @a : tensor<6xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
// expected-error@+1 {{'tp.parameter' op has the id 3 of @a; both would be drawn alike, so give it another one}}
tp.parameter @b : tensor<7xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
  return %x : tensor<6xf32>
}

// -----

// Values inside a function as its arguments.
func.func @dynamic_result(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error@+1 {{a value has type 'tensor<?xf32>'; wanted a tensor of static shape, not empty and of at most 2^46 elements}}
  %0 = "test.op"(%x) : (tensor<6xf32>) -> tensor<?xf32>
  return %x : tensor<6xf32>
}

// -----

// expected-error@+1 {{a value has type 'tensor<2x0xf32>'; wanted a tensor of static shape, not empty and of at most 2^46 elements}}
func.func @empty(%x: tensor<2x0xf32>) {
  return
}

// -----

// expected-error@+1 {{a value has type 'tensor<2x35184372088833xf32>'; wanted a tensor of static shape, not empty and of at most 2^46 elements}}
func.func @too_large(%x: tensor<2x35184372088833xf32>) {
  return
}

// -----

// 2^46 elements are the most.
func.func @largest(%x: tensor<2x35184372088832xf32>) {
  return
}

// -----

// A product that wraps around to 0.
// expected-error@+1 {{a value has type 'tensor<4294967296x4294967296xf32>'; wanted a tensor of static shape, not empty and of at most 2^46 elements}}
func.func @wrapping(%x: tensor<4294967296x4294967296xf32>) {
  return
}
