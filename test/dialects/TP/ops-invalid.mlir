// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Constraints of symbols and shapes, by their numbers.

// tp.parameter C1
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{layout has 1 dimensions, the tensor 2}}
tp.parameter @w : tensor<8x4xf32, #tp.layout<#mesh, [_]>> {id = 0 : i64, init = #tp.init<zeros>}

// -----

// tp.parameter C1
#mesh = #tp.mesh<"tp"=2>
// expected-error@+1 {{dimension 0: the factors' product is 6, but the dimension is 8}}
tp.parameter @w : tensor<8x4xf32, #tp.layout<#mesh, [{6 over "tp"}, _]>> {id = 0 : i64, init = #tp.init<zeros>}

// -----

// tp.parameter C2
// expected-error@+1 {{'tp.parameter' op C2: its sources give 24 elements, the parameter has 32}}
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>,
  source = [#tp.source<"w" : [4, 6] as [4, 6] from [0, 0] step [1, 1] size [4, 6] perm [1, 0]>]}

// -----

// tp.parameter C4
#mesh = #tp.mesh<"tp"=2>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
// expected-error@+1 {{'tp.parameter' op C4: a stored layout is split or replicated, never copied or partial}}
tp.parameter @w : tensor<8x4xf32, #c2> {id = 0 : i64, init = #tp.init<zeros>}

// -----

// tp.parameter C4
#mesh = #tp.mesh<"tp"=2>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
// expected-error@+1 {{'tp.parameter' op C4: a stored layout is split or replicated, never copied or partial}}
tp.parameter @w : tensor<8x4xf32, #p2> {id = 0 : i64, init = #tp.init<zeros>}

// -----

// tp.parameter C5
// expected-error@+1 {{'tp.parameter' op C5: 'tensor<f32>' has no dimension, no element, or more than 2^46}}
tp.parameter @w : tensor<f32> {id = 0 : i64, init = #tp.init<zeros>}

// -----

// tp.parameter C5
// expected-error@+1 {{'tp.parameter' op C5: 'tensor<8x0xf32>' has no dimension, no element, or more than 2^46}}
tp.parameter @w : tensor<8x0xf32> {id = 0 : i64, init = #tp.init<zeros>}

// -----

// tp.parameter C5
// expected-error@+1 {{'tp.parameter' op C5: 'tensor<4611686018427387904x3xf32>' has no dimension, no element, or more than 2^46}}
tp.parameter @w : tensor<4611686018427387904x3xf32> {id = 0 : i64, init = #tp.init<zeros>,
  source = [#tp.source<"w" : [4] as [4] from [0] step [1] size [4] perm [0]>]}

// -----

// The sources of a dynamic shape cannot be counted.
// expected-error@+1 {{'tp.parameter' op attribute 'type' failed to satisfy constraint: type attribute of statically shaped tensor of 32-bit float or bfloat16 type values}}
tp.parameter @w : tensor<?xf32> {id = 0 : i64, init = #tp.init<zeros>,
  source = [#tp.source<"w" : [4] as [4] from [0] step [1] size [4] perm [0]>]}

// -----

// expected-error@+1 {{'tp.parameter' op attribute 'whole' failed to satisfy constraint: type attribute of statically shaped tensor of 32-bit float or bfloat16 type values}}
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = i32}

// -----

// tp.parameter C6
#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{8 over "tp"}, _]>
// expected-error@+1 {{'tp.parameter' op C6: 'tensor<8x4xf32>' is not the block that a rank has of 'tensor<8x4xf32, #tp.layout<#tp.mesh<"tp"=2>, [{8 over "tp"}, _]>>'}}
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<8x4xf32, #rows>}

// -----

// tp.parameter C7: both take row 4.
// expected-error@+1 {{'tp.parameter' op C7: two of its sources take the same element of "w"}}
tp.parameter @w : tensor<4x2xf32> {id = 0 : i64, init = #tp.init<zeros>,
  source = [#tp.source<"w" : [6, 2] as [6, 2] from [0, 0] step [4, 1] size [2, 2] perm [0, 1]>,
            #tp.source<"w" : [6, 2] as [6, 2] from [1, 0] step [3, 1] size [2, 2] perm [0, 1]>]}

// -----

// Rows 0 and 4, and rows 1 and 3, of one tensor; the same of another tensor.
tp.parameter @w : tensor<6x2xf32> {id = 0 : i64, init = #tp.init<zeros>,
  source = [#tp.source<"w" : [6, 2] as [6, 2] from [0, 0] step [4, 1] size [2, 2] perm [0, 1]>,
            #tp.source<"w" : [6, 2] as [6, 2] from [1, 0] step [2, 1] size [2, 2] perm [0, 1]>,
            #tp.source<"v" : [6, 2] as [6, 2] from [0, 0] step [4, 1] size [2, 2] perm [0, 1]>]}

// -----

// tp.state C2
#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{8 over "tp"}, _]>
tp.parameter @w : tensor<4x4xf32> {id = 0 : i64, init = #tp.init<zeros>, whole = tensor<8x4xf32, #rows>}
// expected-error@+1 {{'tp.state' op C2: 'tensor<4x4xf32>' is not the block that a rank has of 'tensor<8x4xf32>'}}
tp.state @w.exp_avg of @w "exp_avg" : tensor<4x4xf32> {whole = tensor<8x4xf32>}

// -----

// tp.state C1
// expected-error@+1 {{'tp.state' op C1: @w is not a parameter of this module}}
tp.state @w.exp_avg of @w "exp_avg" : tensor<8x4xf32>

// -----

// tp.state C1
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{'tp.state' op C1: @w is declared as 'tensor<8x4xf32>', but used as 'tensor<4x8xf32>'}}
tp.state @w.exp_avg of @w "exp_avg" : tensor<4x8xf32>

// -----

// tp.state C1: state of a state
tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{'tp.state' op C1: @w.n is not a parameter of this module}}
tp.state @w.m of @w.n "m" : tensor<4xf32>
tp.state @w.n of @w "n" : tensor<4xf32>

// -----

// tp.state C3
tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{'tp.state' op C3: is the master of @w, which is f32 and so its own}}
tp.state @w.master of @w "master" : tensor<4xf32> {master}

// -----

// tp.param C2
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @read() {
  // expected-error@+1 {{'tp.param' op C2: shares of the gradient of a parameter in f32 are not rounded; round_shares is for bf16}}
  %w = tp.param @w {round_shares} : tensor<8x4xf32>
  return
}

// -----

// tp.param C1
func.func @read() {
  // expected-error@+1 {{'tp.param' op C1: @read is not a parameter or state of this module}}
  %w = tp.param @read : tensor<8x4xf32>
  return
}

// -----

// tp.param C1
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @read() {
  // expected-error@+1 {{'tp.param' op C1: @w is declared as 'tensor<8x4xf32>', but used as 'tensor<8x5xf32>'}}
  %w = tp.param @w : tensor<8x5xf32>
  return
}

// -----

// tp.update C1
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @write(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tp.update' op C1: @w is declared as 'tensor<8x4xf32>', but used as 'tensor<4xf32>'}}
  tp.update @w, %x : tensor<4xf32>
  return
}

// -----

// tp.update C2
tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>}
func.func @early_update(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tp.update' op C2: stands before the last phase, where a later one may still read @w}}
  tp.update @w, %x : tensor<4xf32>
  tp.next ^backward
^backward:
  return
}

// -----

// tp.output C1
func.func @unknown_parameter(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tp.output' op C1: @w is not a parameter of this module}}
  tp.output "gradient" gradient @w, %x : tensor<8x4xf32>
  return
}

// -----

// tp.output C1
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
tp.parameter @w : tensor<8x4xf32, #r2> {id = 0 : i64, init = #tp.init<zeros>}
func.func @gradient_of_a_summand(%x: tensor<8x4xf32, #p2>) {
  // expected-error@+1 {{'tp.output' op C1: the gradient of @w has 'tensor<8x4xf32, #tp.layout<#tp.mesh<"tp"=2>, [_, _] partial "tp">>', wanted 'tensor<8x4xf32, #tp.layout<#tp.mesh<"tp"=2>, [_, _]>>'}}
  tp.output "gradient" gradient @w, %x : tensor<8x4xf32, #p2>
  return
}

// -----

// tp.output C2
#mesh = #tp.mesh<"tp"=2>
#s1 = #tp.layout<#mesh, [{8 over "tp"}]>
func.func @whole_of_an_output(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tp.output' op C2: 'tensor<8xf32>' is not the block that a rank has of 'tensor<8xf32, #tp.layout<#tp.mesh<"tp"=2>, [{8 over "tp"}]>>'}}
  tp.output "x", %x {whole = tensor<8xf32, #s1>} : tensor<8xf32>
  return
}

// -----

// tp.output C2
#mesh = #tp.mesh<"tp"=2>
func.func @layout_of_an_output(%x: tensor<8xf32>) {
  // expected-error@+1 {{'tp.output' op C2: its layout attribute #tp.layout<#tp.mesh<"tp"=2>, [_, _]> is not that of 'tensor<8xf32>'}}
  tp.output "x", %x {layout = #tp.layout<#mesh, [_, _]>} : tensor<8xf32>
  return
}

// -----

// tp.output C3
#mesh = #tp.mesh<"tp"=2>
func.func @partial_loss(%x: tensor<f32, #tp.layout<#mesh, [] partial "tp">>) {
  // expected-error@+1 {{'tp.output' op C3: "loss" is P on axis "tp", but what leaves the step is whole (R) or in blocks (S): put tp.g on it}}
  tp.output "loss", %x : tensor<f32, #tp.layout<#mesh, [] partial "tp">>
  return
}

// -----

// tp.output C3: after tp-partition too, where only `whole` tells.
#mesh = #tp.mesh<"tp"=2>
#p0 = #tp.layout<#mesh, [] partial "tp">
func.func @partial_norm(%x: tensor<f32>) {
  // expected-error@+1 {{'tp.output' op C3: "grad_norm" is P on axis "tp", but what leaves the step is whole (R) or in blocks (S): put tp.g on it}}
  tp.output "grad_norm", %x {layout = #p0, whole = tensor<f32, #p0>} : tensor<f32>
  return
}

// -----

// tp.output C3
#mesh = #tp.mesh<"dp"=2, "tp"=2>
func.func @copied_loss(%x: tensor<f32, #tp.layout<#mesh, [] copied "tp">>) {
  // expected-error@+1 {{'tp.output' op C3: "loss" is C on axis "tp", but what leaves the step is whole (R) or in blocks (S): take the value before its tp.f}}
  tp.output "loss", %x : tensor<f32, #tp.layout<#mesh, [] copied "tp">>
  return
}

// -----

// tp.output C3
#mesh = #tp.mesh<"tp"=2>
func.func @partial_maximum(%x: tensor<6xf32, #tp.layout<#mesh, [_] partial_max "tp">>) {
  // expected-error@+1 {{'tp.output' op C3: "y" is P<max> on axis "tp", but what leaves the step is whole (R) or in blocks (S): put tp.g_max on it}}
  tp.output "y", %x : tensor<6xf32, #tp.layout<#mesh, [_] partial_max "tp">>
  return
}

// -----

// tp.output C3
func.func @loss_of_rows(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.output' op C3: "loss" is a scalar, not 'tensor<6xf32>'}}
  tp.output "loss", %x : tensor<6xf32>
  return
}

// -----

// Blocks may leave under a name of their own.
#mesh = #tp.mesh<"tp"=2>
#s1 = #tp.layout<#mesh, [{6 over "tp"}]>
func.func @blocks(%x: tensor<6xf32, #s1>) {
  tp.output "logits", %x : tensor<6xf32, #s1>
  return
}

// -----

// tp.reshape C1
func.func @reshape_elements(%x: tensor<6x10xf32>) {
  // expected-error@+1 {{'tp.reshape' op C1: operand and result hold different numbers of elements}}
  %y = tp.reshape %x : (tensor<6x10xf32>) -> tensor<6x11xf32>
  return
}

// -----

// tp.reshape C1
func.func @reshape_more_dimensions(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.reshape' op C1: operand and result hold different numbers of elements}}
  %y = tp.reshape %x : (tensor<6xf32>) -> tensor<6x2xf32>
  return
}

// -----

// tp.reshape C2
func.func @reshape_mixes(%x: tensor<6x10xf32>) {
  // expected-error@+1 {{'tp.reshape' op C2: dimensions are split and joined at once; use two reshapes}}
  %y = tp.reshape %x : (tensor<6x10xf32>) -> tensor<4x15xf32>
  return
}

// -----

// tp.rotary C1
func.func @rotary_pairs(%x: tensor<2x3x5x8xf32>) {
  // expected-error@+1 {{'tp.rotary' op C1: 3 frequencies rotate 6 elements, but heads have 8}}
  %y = tp.rotary %x {frequencies = array<f64: 1.0, 0.1, 0.01>} : (tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return
}

// -----

// tp.rotary C2
func.func @rotary_frequency(%x: tensor<2x3x5x4xf32>) {
  // expected-error@+1 {{'tp.rotary' op C2: frequency 1 is not finite}}
  %y = tp.rotary %x {frequencies = array<f64: 1.0, 0x7FF0000000000000>} : (tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  return
}

// -----

// Shapes that the op's rule does not allow: the rule names the factor.
func.func @contraction(%x: tensor<6x4xf32>, %w: tensor<8x5xf32>) {
  // expected-error@+1 {{'tp.matmul' op operand 'w' has size 5 along 'h' where 4 is wanted}}
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<8x5xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @result_shape(%x: tensor<6x4xf32>, %w: tensor<8x4xf32>) {
  // expected-error@+1 {{'tp.matmul' op result 'y' has size 9 along 'k' where 8 is wanted}}
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<8x4xf32>) -> tensor<6x9xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<6x4xf32>, %b: tensor<6xf32>) {
  // expected-error@+1 {{'tp.add' op operand 'rhs' has size 6 along 'c0' where 4 is wanted}}
  %y = tp.add %x, %b : (tensor<6x4xf32>, tensor<6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @groups_of_attention(%q: tensor<2x3x2x3x4xf32>, %k: tensor<2x3x3x4xf32>) {
  // expected-error@+1 {{'tp.attention' op operand 'k' has size 3 along 'm' where 2 is wanted}}
  %y, %l = tp.attention %q, %k, %k {scale = 0.5 : f64} : (tensor<2x3x2x3x4xf32>, tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>) -> (tensor<2x3x2x3x4xf32>, tensor<2x3x2x3xf32>)
  return
}

// -----

func.func @rank(%x: tensor<6x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{'tp.matmul' op operand 'w' has 1 dimensions where 'k h' is wanted}}
  %y = tp.matmul %x, %w : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @integers_are_no_floats(%x: tensor<6xi32>) {
  // expected-error@+1 {{'tp.relu' op operand #0 must be statically shaped tensor of 32-bit float or bfloat16 type values, but got 'tensor<6xi32>'}}
  %y = tp.relu %x : (tensor<6xi32>) -> tensor<6xi32>
  return
}

// -----

func.func @next_c1() {
  // expected-error@+1 {{'tp.next' op C1: goes on to another block than the one that follows (which takes no arguments); phases run in their order}}
  tp.next ^third
^second:
  return
^third:
  return
}

// -----

func.func @sum_squares_of_one_kind(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'tp.sum_squares' op result #0 must be 3 sums of squares: tensor<3xf32>, but got 'tensor<f32>'}}
  %y = tp.sum_squares %x : (tensor<8x4xf32>) -> tensor<f32>
  return
}

// -----

func.func @clip_two(%x: tensor<2xf32>) {
  // expected-error@+1 {{'tp.clip' op operand #0 must be 3 sums of squares: tensor<3xf32>, but got 'tensor<2xf32>'}}
  %norm, %scale = tp.clip %x : (tensor<2xf32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @dynamic_shape(%x: tensor<?xf32>) {
  // expected-error@+1 {{'tp.relu' op operand #0 must be statically shaped tensor of 32-bit float or bfloat16 type values, but got 'tensor<?xf32>'}}
  %y = tp.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// tp.parameter C3
// expected-error@+1 {{'tp.parameter' op C3: rank -1 is negative}}
tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>, rank = -1 : i64}

// -----

// tp.parameter C4
#mesh = #tp.mesh<"tp"=2>
#m2 = #tp.layout<#mesh, [_, _] partial_max "tp">
// expected-error@+1 {{'tp.parameter' op C4: a stored layout is split or replicated, never copied or partial}}
tp.parameter @w : tensor<8x4xf32, #m2> {id = 0 : i64, init = #tp.init<zeros>}

// -----

// tp.output C3: blocks of what must be one number.
#mesh = #tp.mesh<"tp"=2>
#c0 = #tp.layout<#mesh, [] copied "tp">
func.func @loss_is_bf16(%x: tensor<bf16>) {
  // expected-error@+1 {{'tp.output' op C3: "loss" is f32, not 'bf16'; put tp.cast on it}}
  tp.output "loss", %x : tensor<bf16>
  return
}

// -----

// tp.next C1
func.func @next_with_arguments() {
  // expected-error@+1 {{'tp.next' op C1: goes on to another block than the one that follows (which takes no arguments); phases run in their order}}
  "tp.next"()[^second] : () -> ()
^second(%x: tensor<6xf32>):
  return
}
