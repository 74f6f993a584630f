// RUN: tp-opt %s --split-input-file --tp-complete-inputs --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// What a tp.input says must fit what its integers are used for.

// expected-error@+1 {{input "ids" is said to hold 0 to 29, but indexes 29 rows or columns; give it a range in 0 to 29}}
func.func @too_many(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "ids", low = 0, high = 30>}, %table: tensor<29x31xf32>) {
  %y = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<29x31xf32>) -> tensor<2x8x31xf32>
  return
}

// -----

// expected-error@+1 {{input "ids" is said to hold -1 to 28, but indexes 29 rows or columns; give it a range in 0 to 29}}
func.func @negative(%ids: tensor<2x8xi32> {tp.input = #tp.input<data "ids", batch = 0, low = -1, high = 29>}, %table: tensor<29x31xf32>) {
  %y = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<29x31xf32>) -> tensor<2x8x31xf32>
  return
}

// -----

// expected-error@+1 {{input "labels" has -100 in rows without data, where the loss ignores 0: they would count; make the two equal}}
func.func @padding(%labels: tensor<2x8xi32> {tp.input = #tp.input<labels "labels", padding = -100>}, %y: tensor<2x8x31xf32>) {
  %s:2 = tp.cross_entropy %y, %labels {ignore = 0 : i64} : (tensor<2x8x31xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// expected-error@+1 {{in rows without data, where the loss ignores}}
func.func @two_losses(%labels: tensor<2x8xi32> {tp.role = "labels"}, %y: tensor<2x8x31xf32>) {
  %a:2 = tp.cross_entropy %y, %labels {ignore = -1 : i64} : (tensor<2x8x31xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  %b:2 = tp.cross_entropy %y, %labels {ignore = -2 : i64} : (tensor<2x8x31xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// expected-error@+1 {{argument 0 is 'tensor<2xindex>'; an input holds f32, bf16, i32, i64 or i1}}
func.func @index(%x: tensor<2xindex>) {
  return
}

// -----

// Also where nothing reads it.
// expected-error@+1 {{argument 1 is 'tensor<2xf64>'; an input holds f32, bf16, i32, i64 or i1}}
func.func @double(%x: tensor<2xf32>, %y: tensor<2xf64>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{argument 0 is 'tensor<2xui32>'; an input holds f32, bf16, i32, i64 or i1}}
func.func @unsigned(%x: tensor<2xui32>) {
  return
}
