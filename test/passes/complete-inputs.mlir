// RUN: tp-opt %s --split-input-file --tp-complete-inputs | FileCheck %s
//
// What a tp.input leaves open is decided on whole shapes.

// Tokens count samples along the first dimension, and labels that pad are ignored.
// CHECK-LABEL: func.func @tokens(
// CHECK-SAME: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids", batch = 0, low = 0, high = 29, padding = 0>}
// CHECK-SAME: tensor<2x9xi32> {tp.input = #tp.input<labels "labels", batch = 0, low = 0, high = 31, padding = -100>}
func.func @tokens(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.role = "labels"}, %table: tensor<29x31xf32>) {
  %y = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<29x31xf32>) -> tensor<2x8x31xf32>
  %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
  %sum, %count = tp.cross_entropy %y, %l : (tensor<2x8x31xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

// Tables of different size: each input by what it indexes, the smaller one where
// it indexes two.
// CHECK-LABEL: func.func @two_tables(
// CHECK-SAME: #tp.input<ids "input_ids", batch = 0, low = 0, high = 20, padding = 0>
// CHECK-SAME: #tp.input<data "token_type_ids", batch = 0, low = 0, high = 2, padding = 0>
func.func @two_tables(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %kinds: tensor<2x8xi32> {tp.input = #tp.input<data "token_type_ids", batch = 0>}, %words: tensor<30x4xf32>, %more: tensor<20x4xf32>, %types: tensor<2x4xf32>) {
  %a = tp.embedding %ids, %words : (tensor<2x8xi32>, tensor<30x4xf32>) -> tensor<2x8x4xf32>
  %b = tp.embedding %kinds, %types : (tensor<2x8xi32>, tensor<2x4xf32>) -> tensor<2x8x4xf32>
  %c = tp.embedding %ids, %more : (tensor<2x8xi32>, tensor<20x4xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

// What is said stays; what nothing says is data of any value, whole in every step.
// CHECK-LABEL: func.func @said(
// CHECK-SAME: #tp.input<ids "tokens", batch = 1, low = 3, high = 5, padding = 4>
// CHECK-SAME: tensor<6xi32> {tp.input = #tp.input<data "arg1", low = -2147483648, high = 2147483647, padding = 0>}
// CHECK-SAME: tensor<6xf32> {tp.input = #tp.input<data "arg2", padding = 0>}
func.func @said(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "tokens", batch = 1, low = 3, high = 5, padding = 4>}, %n: tensor<6xi32>, %x: tensor<6xf32>, %table: tensor<29x31xf32>) {
  %y = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<29x31xf32>) -> tensor<2x8x31xf32>
  return
}

// -----

// Rows without data hold what the loss ignores, whatever the labels are called
// and whichever op takes them.
// CHECK-LABEL: func.func @labels_of_all_kinds(
// CHECK-SAME: #tp.input<labels "labels", batch = 0, low = 0, high = 31, padding = 7>
// CHECK-SAME: #tp.input<data "targets", batch = 0, low = 0, high = 31, padding = -100>
// CHECK-SAME: #tp.input<data "parts", batch = 0, low = 0, high = 31, padding = -1>
func.func @labels_of_all_kinds(%labels: tensor<2x9xi32> {tp.role = "labels"}, %targets: tensor<2x8xi32> {tp.input = #tp.input<data "targets", batch = 0>}, %parts: tensor<2x8xi32> {tp.input = #tp.input<data "parts", batch = 0>}, %y: tensor<2x8x31xf32>, %m: tensor<2x8xf32>) {
  %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
  %a:2 = tp.cross_entropy %y, %l {ignore = 7 : i64} : (tensor<2x8x31xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  %b:2 = tp.cross_entropy %y, %targets : (tensor<2x8x31xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  %p = tp.pick %y, %parts : (tensor<2x8x31xf32>, tensor<2x8xi32>) -> tensor<2x8xf32>
  %c:2 = tp.token_loss %m, %m, %p, %parts {ignore = -1 : i64} : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
  return
}
