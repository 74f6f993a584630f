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

// One fewer than ranks.
tp.parameter @w : tensor<15x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @three_heads(%x: tensor<2x16xf32>) -> tensor<2x3x5xf32> {
  %w = tp.param @w : tensor<15x16xf32>
  // expected-error@+1 {{'tp.matmul' op has 3 units of 5 along dimension 1 (heads or key-value groups), fewer than the 4 ranks of axis "tp"; use at most tp=3}}
  %y = tp.matmul %x, %w : (tensor<2x16xf32>, tensor<15x16xf32>) -> tensor<2x15xf32>
  %h = tp.reshape %y : (tensor<2x15xf32>) -> tensor<2x3x5xf32>
  return %h : tensor<2x3x5xf32>
}

// -----

// Six heads of four and four heads of six of one value: a boundary of both is
// one of two.
tp.parameter @w : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @heads_of_two_sizes(%x: tensor<2x16xf32>) -> (tensor<2x6x4xf32>, tensor<2x4x6xf32>) {
  %w = tp.param @w : tensor<24x16xf32>
  // expected-error@+1 {{'tp.matmul' op has 2 units of 12 along dimension 1 (heads or key-value groups), fewer than the 4 ranks of axis "tp"; use at most tp=2}}
  %y = tp.matmul %x, %w : (tensor<2x16xf32>, tensor<24x16xf32>) -> tensor<2x24xf32>
  %a = tp.reshape %y : (tensor<2x24xf32>) -> tensor<2x6x4xf32>
  %b = tp.reshape %y : (tensor<2x24xf32>) -> tensor<2x4x6xf32>
  return %a, %b : tensor<2x6x4xf32>, tensor<2x4x6xf32>
}

// -----

func.func @first() {
  return
}
// expected-error@+1 {{'first' and 'second' are both trained, but one function of a module is; mark what is only evaluated: attributes {tp.forward}}}
func.func @second() {
  return
}

// -----

func.func @first() {
  return
}
// expected-error@+1 {{'helper' is private, but every function becomes a program and none is called; put its ops where they are needed}}
func.func private @helper() {
  return
}

// -----

// Training stores the weight by rows, so that its rows are all that is split;
// an evaluation that wants it whole cannot have it.
// expected-error@+1 {{tp-shard: func.return: none of its 1 choices is feasible: its operands cannot be had in the states that they want; lift a pin or allow another layout; 'whole' reads parameters as the functions before it store them}}
module {
  tp.parameter @w : tensor<4096x8xf32> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @whole() -> tensor<4096x8xf32> attributes {tp.forward} {
    %w = tp.param @w : tensor<4096x8xf32>
    return %w : tensor<4096x8xf32>
  }
  func.func @main(%x: tensor<4096x8xf32>) -> (tensor<4096x4096xf32> {tp.role = "y"}) {
    %w = tp.param @w : tensor<4096x8xf32>
    %y = tp.matmul %x, %w : (tensor<4096x8xf32>, tensor<4096x8xf32>) -> tensor<4096x4096xf32>
    return %y : tensor<4096x4096xf32>
  }
}

// -----

// Heads are those of all functions: the evaluation's two halves of the weight
// cannot be dealt out.
tp.parameter @w : tensor<8x8xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @halves(%x: tensor<3x8xf32>) -> tensor<3x2x4xf32> attributes {tp.forward} {
  %w = tp.param @w : tensor<8x8xf32>
  %y = tp.matmul %x, %w : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %z = tp.reshape %y : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
  return %z : tensor<3x2x4xf32>
}
func.func @main(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %w = tp.param @w : tensor<8x8xf32>
  // expected-error@+1 {{'tp.matmul' op has 2 units of 4 along dimension 1 (heads or key-value groups), fewer than the 4 ranks of axis "tp"; use at most tp=2}}
  %y = tp.matmul %x, %w : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
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

// -----

tp.parameter @w : tensor<6x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.state @w.exp_avg of @w "exp_avg" : tensor<6x4xf32>
func.func @reads_state(%x: tensor<2x4xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'tp.param' op reads @w.exp_avg, which is optimizer state; a graph reads parameters only}}
  %m = tp.param @w.exp_avg : tensor<6x4xf32>
  %y = tp.matmul %x, %m : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
