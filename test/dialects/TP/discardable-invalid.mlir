// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Discardable attributes of the dialect: each has its type and its place.

func.func @unknown(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op has the attribute "tp.vocab", which the tp dialect does not know; remove it}}
  %y = tp.relu %x {tp.vocab = 32 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

// expected-error@+1 {{'builtin.module' op has the attribute "tp.way", which the tp dialect does not know; remove it}}
module @unknown attributes {tp.way = {}} {
}

// -----

func.func @ways_are_no_dictionary(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op "tp.ways" is a dictionary from axes to names of ways, on an op with a factor rule}}
  %y = tp.relu %x {tp.ways = "k"} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @a_way_is_no_name(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op "tp.ways" is a dictionary from axes to names of ways, on an op with a factor rule}}
  %y = tp.relu %x {tp.ways = {tp = 1 : i64}} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @ways_of_an_op_without_rule(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.all_reduce' op "tp.ways" is a dictionary from axes to names of ways, on an op with a factor rule}}
  %y = tp.all_reduce %x over ["tp"] {tp.ways = {tp = "replicated"}} : tensor<6xf32> -> tensor<6xf32>
  return
}

// -----

func.func @kernel_below_zero(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op "tp.kernel" is a number from 0 on, an i64, on an op that lowers to rows}}
  %y = tp.relu %x {tp.kernel = -1 : i64} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @kernel_of_32_bits(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op "tp.kernel" is a number from 0 on, an i64, on an op that lowers to rows}}
  %y = tp.relu %x {tp.kernel = 0 : i32} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @kernel_is_no_number(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op "tp.kernel" is a number from 0 on, an i64, on an op that lowers to rows}}
  %y = tp.relu %x {tp.kernel = "0"} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @kernel_of_a_matmul(%x: tensor<6x4xf32>, %w: tensor<5x4xf32>) {
  // expected-error@+1 {{'tp.matmul' op "tp.kernel" is a number from 0 on, an i64, on an op that lowers to rows}}
  %y = tp.matmul %x, %w {tp.kernel = 0 : i64} : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  return
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.mesh" is a #tp.mesh on a module}}
module @mesh_is_none attributes {tp.mesh = "tp=2"} {
}

// -----

func.func @mesh_of_an_op(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op "tp.mesh" is a #tp.mesh on a module}}
  %y = tp.relu %x {tp.mesh = #tp.mesh<"tp"=2>} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.topology" is a dictionary on a module}}
module @topology attributes {tp.topology = "fast"} {
}

// -----

// expected-error@+1 {{'func.func' op "tp.predicted" is a dictionary on a function}}
func.func @predicted() attributes {tp.predicted = 1 : i64} {
  return
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.counted" is a dictionary on a function}}
module @counted attributes {tp.counted = {}} {
}

// -----

// expected-error@+1 {{'func.func' op "tp.forward" is a unit attribute on a function with a body of one block}}
func.func @forward_is_no_unit() attributes {tp.forward = true} {
  return
}

// -----

// expected-error@+1 {{'func.func' op "tp.forward" is a unit attribute on a function with a body of one block}}
func.func @forward_with_phases() attributes {tp.forward} {
  tp.next ^backward
^backward:
  return
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.forward" is a unit attribute on a function with a body of one block}}
module @forward attributes {tp.forward} {
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.optimizer" is a dictionary of f64 on a module}}
module @optimizer_is_no_dictionary attributes {tp.optimizer = "adamw"} {
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.optimizer" is a dictionary of f64 on a module}}
module @optimizer_of_f32 attributes {tp.optimizer = {beta1 = 0.9 : f32}} {
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.config" is a string, or a resource of bytes, on a module}}
module @config_is_no_text attributes {tp.config = {}} {
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.config" is a string, or a resource of bytes, on a module}}
module @config_of_floats attributes {tp.config = dense_resource<config> : tensor<2xf32>} {
}

// -----

// expected-error@+1 {{'builtin.module' op "tp.model_type" is a string on a module}}
module @model_type attributes {tp.model_type = 3 : i64} {
}

// -----

func.func @model_type_of_an_op(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op "tp.model_type" is a string on a module}}
  %y = tp.relu %x {tp.model_type = "gpt2"} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @role_of_an_op(%x: tensor<6xf32>) {
  // expected-error@+1 {{'tp.relu' op has the attribute "tp.role", which the tp dialect does not know; remove it}}
  %y = tp.relu %x {tp.role = "loss"} : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

// expected-error@+1 {{'func.func' op result 0 has the attribute "tp.role" = 1 : i64; of the tp dialect only tp.role, a string, may stand there}}
func.func private @role_of_a_result(tensor<f32>) -> (tensor<f32> {tp.role = 1 : i64})
