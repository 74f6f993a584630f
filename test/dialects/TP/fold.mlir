// RUN: tp-opt %s --canonicalize | FileCheck %s
//
// What is undone at once goes away; what leaves a value in another state stays.

#mesh = #tp.mesh<"tp"=2>
#r = #tp.layout<#mesh, [_, _]>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
#columns = #tp.layout<#mesh, [_, {7 pad 8 over "tp"}]>

// CHECK-LABEL: @slice_of_unslice
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @slice_of_unslice(%x: tensor<6x7xf32, #rows>) -> tensor<6x7xf32, #rows> {
  %0 = tp.unslice %x over ["tp"] : tensor<6x7xf32, #rows> -> tensor<6x7xf32, #r>
  %1 = tp.slice %0 over ["tp"] : tensor<6x7xf32, #r> -> tensor<6x7xf32, #rows>
  return %1 : tensor<6x7xf32, #rows>
}

// CHECK-LABEL: @unslice_of_slice
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @unslice_of_slice(%x: tensor<6x7xf32, #r>) -> tensor<6x7xf32, #r> {
  %0 = tp.slice %x over ["tp"] : tensor<6x7xf32, #r> -> tensor<6x7xf32, #columns>
  %1 = tp.unslice %0 over ["tp"] : tensor<6x7xf32, #columns> -> tensor<6x7xf32, #r>
  return %1 : tensor<6x7xf32, #r>
}

// CHECK-LABEL: @there_and_back
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @there_and_back(%x: tensor<6x7xf32, #rows>) -> tensor<6x7xf32, #rows> {
  %0 = tp.all_to_all %x over ["tp"] : tensor<6x7xf32, #rows> -> tensor<6x7xf32, #columns>
  %1 = tp.all_to_all %0 over ["tp"] : tensor<6x7xf32, #columns> -> tensor<6x7xf32, #rows>
  return %1 : tensor<6x7xf32, #rows>
}

// The blocks are others afterwards.
// CHECK-LABEL: @slice_of_another_unslice
// CHECK: tp.unslice
// CHECK: tp.slice
func.func @slice_of_another_unslice(%x: tensor<6x7xf32, #rows>) -> tensor<6x7xf32, #columns> {
  %0 = tp.unslice %x over ["tp"] : tensor<6x7xf32, #rows> -> tensor<6x7xf32, #r>
  %1 = tp.slice %0 over ["tp"] : tensor<6x7xf32, #r> -> tensor<6x7xf32, #columns>
  return %1 : tensor<6x7xf32, #columns>
}

// On one rank R and C hold the same, but the gradient's state is another one:
// tp-partition, where states end, removes such a change.
#one = #tp.mesh<"tp"=1>
#r_one = #tp.layout<#one, [_]>
#c_one = #tp.layout<#one, [_] copied "tp">
// CHECK-LABEL: @axis_of_one_rank
// CHECK: tp.f
func.func @axis_of_one_rank(%x: tensor<5xf32, #r_one>) -> tensor<5xf32, #c_one> {
  %0 = tp.f %x over ["tp"] : tensor<5xf32, #r_one> -> tensor<5xf32, #c_one>
  return %0 : tensor<5xf32, #c_one>
}

// CHECK-LABEL: @reshape_of_reshape
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]]
func.func @reshape_of_reshape(%x: tensor<5x12xf32>) -> tensor<5x12xf32> {
  %0 = tp.reshape %x : (tensor<5x12xf32>) -> tensor<5x3x4xf32>
  %1 = tp.reshape %0 : (tensor<5x3x4xf32>) -> tensor<5x12xf32>
  return %1 : tensor<5x12xf32>
}

// CHECK-LABEL: @reshape_to_the_same
// CHECK-NOT: tp.reshape
func.func @reshape_to_the_same(%x: tensor<5x12xf32>) -> tensor<5x12xf32> {
  %0 = tp.reshape %x : (tensor<5x12xf32>) -> tensor<5x12xf32>
  return %0 : tensor<5x12xf32>
}

// CHECK-LABEL: @reshape_of_another_reshape
// CHECK-COUNT-2: tp.reshape
func.func @reshape_of_another_reshape(%x: tensor<5x12xf32>) -> tensor<60xf32> {
  %0 = tp.reshape %x : (tensor<5x12xf32>) -> tensor<5x3x4xf32>
  %1 = tp.reshape %0 : (tensor<5x3x4xf32>) -> tensor<60xf32>
  return %1 : tensor<60xf32>
}
