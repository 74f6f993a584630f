// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --allow-unregistered-dialect --tp-shard="mesh=tp=4"
//
// Graphs that tp-shard refuses.

func.func @unknown_op(%x: tensor<6x4xf32>) {
  // expected-error@+1 {{'other.negate' op has no factor rule, so tp-shard cannot tell how to split it; express it by tp ops}}
  %y = "other.negate"(%x) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// -----

// Two groups of keys and values for four ranks.
tp.parameter @q : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @k : tensor<8x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @fewer_groups_than_ranks(%x: tensor<2x5x16xf32>) -> tensor<2x5x2x3x4xf32> {
  %wq = tp.param @q : tensor<24x16xf32>
  %wk = tp.param @k : tensor<8x16xf32>
  // expected-error@+1 {{'tp.matmul' op has 2 units of 12 along dimension 2 (heads or key-value groups), fewer than the 4 ranks of axis "tp"; use at most tp=2}}
  %q = tp.matmul %x, %wq : (tensor<2x5x16xf32>, tensor<24x16xf32>) -> tensor<2x5x24xf32>
  %k = tp.matmul %x, %wk : (tensor<2x5x16xf32>, tensor<8x16xf32>) -> tensor<2x5x8xf32>
  %qh = tp.reshape %q : (tensor<2x5x24xf32>) -> tensor<2x5x2x3x4xf32>
  %kh = tp.reshape %k : (tensor<2x5x8xf32>) -> tensor<2x5x2x4xf32>
  %y, %lse = tp.attention %qh, %kh, %kh {scale = 0.5 : f64} : (tensor<2x5x2x3x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32>) -> (tensor<2x5x2x3x4xf32>, tensor<2x5x2x3xf32>)
  return %y : tensor<2x5x2x3x4xf32>
}

// -----

func.func @first() {
  return
}
// expected-error@+1 {{a module holds one step function, and 'first' is another one}}
func.func @second() {
  return
}

// -----

// expected-error@+1 {{the module has no function: no step}}
module {
}

// -----

// expected-error@+1 {{has no body; a step is a function with one}}
func.func private @external(tensor<6xf32>)

// -----

// A value can be split along each dimension, and the solver holds 16 states.
tp.parameter @w : tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @many() -> tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32> {
  // expected-error@+1 {{a value of type 'tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>' has 17 states on axis "tp", and the solver holds 16; a tensor of fewer dimensions has fewer}}
  %w = tp.param @w : tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>
  return %w : tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>
}
