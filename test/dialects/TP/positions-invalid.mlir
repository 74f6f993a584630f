// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Attributes that say where a block lies in its whole tensor, against the block;
// axes and dimensions of collectives.

#l = #tp.layout<#tp.mesh<"tp"=2>, [_]>
func.func @dropout(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.dropout' op its layout attribute has 1 dimensions, but it says where 'tensor<2x4xf32>' lies in the whole tensor}}
  %y = tp.dropout %x {p = 0.5 : f64, id = 0 : i64, layout = #l} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_]>
func.func @embedding(%ids: tensor<2xi32>, %table: tensor<3x4xf32>) {
  // expected-error@+1 {{'tp.embedding' op its layout attribute has 1 dimensions, but it says where 'tensor<3x4xf32>' lies in the whole tensor}}
  %y = tp.embedding %ids, %table {layout = #l} : (tensor<2xi32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_, _, _]>
func.func @embedding_grad(%ids: tensor<2xi32>, %dy: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.embedding_grad' op its layout attribute has 3 dimensions, but it says where 'tensor<3x4xf32>' lies in the whole tensor}}
  %y = tp.embedding_grad %ids, %dy {layout = #l} : (tensor<2xi32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_]>
func.func @pick(%x: tensor<2x4xf32>, %l: tensor<2xi32>) {
  // expected-error@+1 {{'tp.pick' op its layout attribute has 1 dimensions, but it says where 'tensor<2x4xf32>' lies in the whole tensor}}
  %y = tp.pick %x, %l {layout = #l} : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, []>
func.func @pick_grad(%dy: tensor<2xf32>, %l: tensor<2xi32>) {
  // expected-error@+1 {{'tp.pick_grad' op its layout attribute has 0 dimensions, but it says where 'tensor<2x4xf32>' lies in the whole tensor}}
  %y = tp.pick_grad %l, %dy {layout = #l} : (tensor<2xi32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_, _]>
func.func @attention(%q: tensor<2x3x2x3x4xf32>, %k: tensor<2x3x2x4xf32>) {
  // expected-error@+1 {{'tp.attention' op its layout attribute has 2 dimensions, but it says where 'tensor<2x3x2x3x4xf32>' lies in the whole tensor}}
  %y, %l = tp.attention %q, %k, %k {scale = 0.5 : f64, dropout = 0.1 : f64, layout = #l} : (tensor<2x3x2x3x4xf32>, tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> (tensor<2x3x2x3x4xf32>, tensor<2x3x2x3xf32>)
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_]>
func.func @mask(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.mask_padding' op its layout attribute has 1 dimensions, but it says where 'tensor<2x4xf32>' lies in the whole tensor}}
  %y = tp.mask_padding %x with 0.0 {layout = #l} : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

// tp.mask_padding C1
#l = #tp.layout<#tp.mesh<"tp"=2>, [_, {7 pad 8 over "tp"}]>
func.func @mask_of_another_shape(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.mask_padding' op C1: operand and result have different types}}
  %y = tp.mask_padding %x with 0.0 {layout = #l} : tensor<2x4xf32> -> tensor<4x2xf32>
  return
}

// -----

// tp.mask_padding C2
#l = #tp.layout<#tp.mesh<"tp"=2>, [{7 pad 8 over "tp"}]>
func.func @mask_with_one(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tp.mask_padding' op C2: the fill is 1.000000e+00; wanted 0 or -inf for floats, a number for integers}}
  %y = tp.mask_padding %x with 1.0 {layout = #l} : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [{7 pad 8 over "tp"}]>
func.func @mask_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'tp.mask_padding' op C2: the fill is -INF; wanted 0 or -inf for floats, a number for integers}}
  %y = tp.mask_padding %x with 0xFFF0000000000000 {layout = #l} : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

// tp.mask_padding C3
#l = #tp.layout<#tp.mesh<"tp"=2>, [_, {8 over "tp"}]>
func.func @mask_without_padding(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.mask_padding' op C3: its layout has no padding, so nothing is masked; remove it}}
  %y = tp.mask_padding %x with 0.0 {layout = #l} : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_]>
func.func @slice(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.local_slice' op its layout attribute has 1 dimensions, but it says where 'tensor<2x2xf32>' lies in the whole tensor}}
  %y = tp.local_slice %x over ["tp"] {dim = 1 : i64, layout = #l} : tensor<2x4xf32> -> tensor<2x2xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_, {4 over "tp"}]>
func.func @slice_of_no_dimension(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.local_slice' op C1: there is no dimension 2}}
  %y = tp.local_slice %x over ["tp"] {dim = 2 : i64, layout = #l} : tensor<2x4xf32> -> tensor<2x2xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_, {4 over "tp"}]>
func.func @slice_of_a_negative_dimension(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.local_slice' op C1: there is no dimension -1}}
  %y = tp.local_slice %x over ["tp"] {dim = -1 : i64, layout = #l} : tensor<2x4xf32> -> tensor<2x2xf32>
  return
}

// -----

// tp.local_slice C3: over another axis than the layout, and in another order.
#l = #tp.layout<#tp.mesh<"a"=2, "b"=2>, [{4 over "b"}]>
func.func @slice_over_another_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tp.local_slice' op C3: cuts dimension 0 of 'tensor<4xf32>' over ["a"], but its layout is}}
  %y = tp.local_slice %x over ["a"] {dim = 0 : i64, layout = #l} : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"a"=2, "b"=2>, [{4 over ("a", "b")}]>
func.func @slice_in_another_order(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tp.local_slice' op C3: cuts dimension 0 of 'tensor<4xf32>' over ["b", "a"], but its layout is}}
  %y = tp.local_slice %x over ["b", "a"] {dim = 0 : i64, layout = #l} : tensor<4xf32> -> tensor<1xf32>
  return
}

// -----

// tp.local_slice C3
#l = #tp.layout<#tp.mesh<"tp"=2>, [{4 over "tp"}, _]>
func.func @slice_along_another_dimension(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.local_slice' op C3: cuts dimension 1 of 'tensor<2x4xf32>' over ["tp"], but its layout is #tp.layout<#tp.mesh<"tp"=2>, [{4 over "tp"}, _]>}}
  %y = tp.local_slice %x over ["tp"] {dim = 1 : i64, layout = #l} : tensor<2x4xf32> -> tensor<2x2xf32>
  return
}

// -----

#l = #tp.layout<#tp.mesh<"tp"=2>, [_, {6 over "tp"}]>
func.func @sizes(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'tp.dropout' op its layout attribute gives a rank 3 along dimension 1, but 'tensor<2x4xf32>' has 4}}
  %y = tp.dropout %x {p = 0.5 : f64, id = 0 : i64, layout = #l} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Two runs of 4 elements a rank: an index in the block is no offset from its
// beginning.
#l = #tp.layout<#tp.mesh<"tp"=2>, [_, {2, 8 over "tp"}]>
func.func @pieces(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{'tp.dropout' op its layout attribute splits dimension 1 inside its major factor, so its blocks are in pieces; only one block is known by its place}}
  %y = tp.dropout %x {p = 0.5 : f64, id = 0 : i64, layout = #l} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

#mesh = #tp.mesh<"tp"=2>
#l = #tp.layout<#mesh, [_, {8 over "tp"}]>
#r = #tp.layout<#mesh, [_, _]>
func.func @two_layouts(%x: tensor<2x8xf32, #r>) {
  // expected-error@+1 {{'tp.dropout' op its layout attribute #tp.layout<#tp.mesh<"tp"=2>, [_, {8 over "tp"}]> is not that of the type 'tensor<2x8xf32, #tp.layout<#tp.mesh<"tp"=2>, [_, _]>>'}}
  %y = tp.dropout %x {p = 0.5 : f64, id = 0 : i64, layout = #l} : (tensor<2x8xf32, #r>) -> tensor<2x8xf32, #r>
  return
}

// -----

func.func @no_axis(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tp.all_reduce' op names no axis of the mesh}}
  %y = tp.all_reduce %x over [] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @axis_twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{'tp.all_gather' op names the axis "tp" twice}}
  %y = tp.all_gather %x over ["tp", "tp"] {dim = 0 : i64} : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=2>} {
  func.func @axis_of_no_mesh(%x: tensor<4xf32>) {
    // expected-error@+1 {{'tp.all_reduce' op the mesh has no axis "dp"}}
    %y = tp.all_reduce %x over ["dp"] : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=2>} {
  func.func @slice_over_no_axis(%x: tensor<4xf32>) {
    // expected-error@+1 {{'tp.local_slice' op the mesh has no axis "dp"}}
    %y = tp.local_slice %x over ["dp"] {dim = 0 : i64, layout = #tp.layout<#tp.mesh<"dp"=2>, [{4 over "dp"}]>} : tensor<4xf32> -> tensor<2xf32>
    return
  }
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=2>} {
  func.func @blocks_too_few(%x: tensor<4xf32>) {
    // expected-error@+1 {{'tp.all_gather' op C3: 2 blocks of 4 along dimension 0 do not make 9}}
    %y = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<4xf32> -> tensor<9xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
func.func @change_over_an_axis_twice(%x: tensor<4xf32, #tp.layout<#mesh, [_]>>) {
  // expected-error@+1 {{'tp.f' op C2: names the axis "tp" twice}}
  %y = tp.f %x over ["tp", "tp"] : tensor<4xf32, #tp.layout<#mesh, [_]>> -> tensor<4xf32, #tp.layout<#mesh, [_] copied "tp">>
  return
}
