// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-complete-inputs
//
// Named inputs that cannot be.

// expected-error@+1 {{C1: an input has no name}}
func.func @c1(%x: tensor<6xf32> {tp.input = #tp.input<data "">}) {
  return
}

// -----

// expected-error@+1 {{C2: input "x" needs low and high, and low < high, or neither}}
func.func @c2_one(%x: tensor<6xi32> {tp.input = #tp.input<data "x", low = 3>}) {
  return
}

// -----

// expected-error@+1 {{C2: input "x" needs low and high, and low < high, or neither}}
func.func @c2_empty(%x: tensor<6xi32> {tp.input = #tp.input<data "x", low = 3, high = 3>}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" counts samples along dimension 1, but has 1}}
func.func @c3_batch(%x: tensor<6xf32> {tp.input = #tp.input<data "x", batch = 1>}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" is filled with tokens, so it must be [batch, seq] of integers, not 'tensor<6xi32>'}}
func.func @c3_rank(%x: tensor<6xi32> {tp.input = #tp.input<ids "x">}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" is filled with tokens, so it must be [batch, seq] of integers, not 'tensor<2x6xf32>'}}
func.func @c3_floats(%x: tensor<2x6xf32> {tp.input = #tp.input<labels "x">}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" has a range, but no integers}}
func.func @c3_range_of_floats(%x: tensor<6xf32> {tp.input = #tp.input<data "x", low = 0, high = 2>}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" has a range or padding that 'i32' does not hold}}
func.func @c3_range(%x: tensor<6xi32> {tp.input = #tp.input<data "x", low = 0, high = 4294967296>}) {
  return
}

// -----

// expected-error@+1 {{argument 0 has a tp.input that is no #tp.input<...>}}
func.func @no_input(%x: tensor<6xi32> {tp.input = "ids"}) {
  return
}

// -----

// expected-error@+1 {{argument 0 has the attribute "tp.mesh"; of the tp dialect only tp.input and tp.role may stand there}}
func.func @mesh(%x: tensor<6xi32> {tp.mesh = #tp.mesh<"tp"=2>}) {
  return
}

// -----

// expected-error@+1 {{argument 0 has the tp.role "mask"; wanted "ids" or "labels", and data by tp.input = #tp.input<data "name">}}
func.func @role(%x: tensor<2x6xi32> {tp.role = "mask"}) {
  return
}

// -----

// expected-error@+1 {{C3: input "input_ids" is filled with tokens, so it must be [batch, seq] of integers, not 'tensor<6xi32>'}}
func.func @role_rank(%x: tensor<6xi32> {tp.role = "ids"}) {
  return
}

// -----

// expected-error@+1 {{arguments 0 and 1 are both the input "x"; give one another name in its tp.input}}
func.func @c4_names(%x: tensor<6xf32> {tp.input = #tp.input<data "x">}, %y: tensor<6xf32> {tp.input = #tp.input<data "x">}) {
  return
}

// -----

// expected-error@+1 {{arguments 0 and 1 both have the role ids; one is filled from token files, so make the other one data}}
func.func @c4_roles(%x: tensor<2x6xi32> {tp.input = #tp.input<ids "x">}, %y: tensor<2x6xi32> {tp.input = #tp.input<ids "y">}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" is no ranked tensor but 'tensor<*xf32>'}}
func.func @c3_unranked(%x: tensor<*xf32> {tp.input = #tp.input<data "x">}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" counts samples along dimension -1, but has 2}}
func.func @c3_negative_batch(%x: tensor<2x6xf32> {tp.input = #tp.input<data "x", batch = -1>}) {
  return
}

// -----

// An i1 is 0 or 1.
func.func @truth(%x: tensor<6xi1> {tp.input = #tp.input<data "x", low = 0, high = 2>}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" has a range or padding that 'i1' does not hold}}
func.func @c3_truth(%x: tensor<6xi1> {tp.input = #tp.input<data "x", low = 0, high = 3>}) {
  return
}

// -----

// All of i64 but its largest, which a range does not name.
func.func @long(%x: tensor<6xi64> {tp.input = #tp.input<data "x", low = -9223372036854775808, high = 9223372036854775807>}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" has a range or padding that 'i32' does not hold}}
func.func @c3_low(%x: tensor<6xi32> {tp.input = #tp.input<data "x", low = -2147483649, high = 0>}) {
  return
}

// -----

// expected-error@+1 {{C3: input "x" has a range or padding that 'i32' does not hold}}
func.func @c3_padding(%x: tensor<6xi32> {tp.input = #tp.input<data "x", padding = 2147483648>}) {
  return
}
