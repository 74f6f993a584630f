// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Constraints of the changes of layout, by their numbers.

// C1
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @c1_shape(%x: tensor<6x10xf32, #r2>) {
  // expected-error@+1 {{'tp.f' op C1: changes the layout only, but the shape or element type differs}}
  %y = tp.f %x over ["tp"] : tensor<6x10xf32, #r2> -> tensor<10x6xf32, #c2>
  return
}

// -----

// C1
#mesh = #tp.mesh<"tp"=2>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @c1_no_layout(%x: tensor<6x10xf32>) {
  // expected-error@+1 {{'tp.f' op C1: operand and result need layouts on one mesh}}
  %y = tp.f %x over ["tp"] : tensor<6x10xf32> -> tensor<6x10xf32, #c2>
  return
}

// -----

// C1
#mesh2 = #tp.mesh<"tp"=2>
#mesh4 = #tp.mesh<"tp"=4>
#r2 = #tp.layout<#mesh2, [_, _]>
#c2 = #tp.layout<#mesh4, [_, _] copied "tp">
func.func @c1_two_meshes(%x: tensor<6x10xf32, #r2>) {
  // expected-error@+1 {{'tp.f' op C1: operand and result need layouts on one mesh}}
  %y = tp.f %x over ["tp"] : tensor<6x10xf32, #r2> -> tensor<6x10xf32, #c2>
  return
}

// -----

// C2
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @c2_unknown_axis(%x: tensor<6x10xf32, #r2>) {
  // expected-error@+1 {{'tp.f' op C2: the mesh has no axis "dp"}}
  %y = tp.f %x over ["dp"] : tensor<6x10xf32, #r2> -> tensor<6x10xf32, #c2>
  return
}

// -----

// C2
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @c2_f_backwards(%x: tensor<6x10xf32, #c2>) {
  // expected-error@+1 {{'tp.f' op C2: on axis "tp" it takes R to C, not C to R}}
  %y = tp.f %x over ["tp"] : tensor<6x10xf32, #c2> -> tensor<6x10xf32, #r2>
  return
}

// -----

// C2
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#s2 = #tp.layout<#mesh, [{6 over "tp"}, _]>
func.func @c2_g_of_a_split(%x: tensor<6x10xf32, #s2>) {
  // expected-error@+1 {{'tp.g' op C2: on axis "tp" it takes P to R, not S(0) to R}}
  %y = tp.g %x over ["tp"] : tensor<6x10xf32, #s2> -> tensor<6x10xf32, #r2>
  return
}

// -----

// C2
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
func.func @c2_g_max_of_a_sum(%x: tensor<6x10xf32, #p2>) {
  // expected-error@+1 {{'tp.g_max' op C2: on axis "tp" it takes P<max> to R, not P to R}}
  %y = tp.g_max %x over ["tp"] : tensor<6x10xf32, #p2> -> tensor<6x10xf32, #r2>
  return
}

// -----

// C2
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#s2 = #tp.layout<#mesh, [{6 over "tp"}, _]>
func.func @c2_gather_to_replicated(%x: tensor<6x10xf32, #s2>) {
  // expected-error@+1 {{'tp.gather' op C2: on axis "tp" it takes S to C, not S(0) to R}}
  %y = tp.gather %x over ["tp"] : tensor<6x10xf32, #s2> -> tensor<6x10xf32, #r2>
  return
}

// -----

// C2
#mesh = #tp.mesh<"tp"=2>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#s2 = #tp.layout<#mesh, [{6 over "tp"}, _]>
func.func @c2_unslice_to_copied(%x: tensor<6x10xf32, #s2>) {
  // expected-error@+1 {{'tp.unslice' op C2: on axis "tp" it takes S to R, not S(0) to C}}
  %y = tp.unslice %x over ["tp"] : tensor<6x10xf32, #s2> -> tensor<6x10xf32, #c2>
  return
}

// -----

// C2: there is no change from C to S.
#mesh = #tp.mesh<"tp"=2>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#s2 = #tp.layout<#mesh, [{6 over "tp"}, _]>
func.func @c2_slice_of_copied(%x: tensor<6x10xf32, #c2>) {
  // expected-error@+1 {{'tp.slice' op C2: on axis "tp" it takes R to S, not C to S(0)}}
  %y = tp.slice %x over ["tp"] : tensor<6x10xf32, #c2> -> tensor<6x10xf32, #s2>
  return
}

// -----

// C2
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#s2 = #tp.layout<#mesh, [{6 over "tp"}, _]>
func.func @c2_scatter_of_replicated(%x: tensor<6x10xf32, #r2>) {
  // expected-error@+1 {{'tp.scatter' op C2: on axis "tp" it takes P to S, not R to S(0)}}
  %y = tp.scatter %x over ["tp"] : tensor<6x10xf32, #r2> -> tensor<6x10xf32, #s2>
  return
}

// -----

// C2
#mesh = #tp.mesh<"tp"=2>
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#s2 = #tp.layout<#mesh, [{6 over "tp"}, _]>
func.func @c2_all_to_all_of_partial(%x: tensor<6x10xf32, #p2>) {
  // expected-error@+1 {{'tp.all_to_all' op C2: on axis "tp" it takes S to S, not P to S(0)}}
  %y = tp.all_to_all %x over ["tp"] : tensor<6x10xf32, #p2> -> tensor<6x10xf32, #s2>
  return
}

// -----

// C3
#mesh = #tp.mesh<"dp"=2 batch, "tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied ("dp", "tp")>
func.func @c3_another_axis(%x: tensor<6x10xf32, #r2>) {
  // expected-error@+1 {{'tp.f' op C3: axis "dp" is not among the op's axes, but changes from R to C}}
  %y = tp.f %x over ["tp"] : tensor<6x10xf32, #r2> -> tensor<6x10xf32, #c2>
  return
}

// -----

// C4: what is left of dp-major blocks without dp is no split over tp.
#mesh = #tp.mesh<"dp"=2 batch, "tp"=2>
#s2 = #tp.layout<#mesh, [{8 over ("dp", "tp")}, _]>
#t2 = #tp.layout<#mesh, [{8 over "tp"}, _] copied "dp">
func.func @c4_major_axis_leaves(%x: tensor<8x10xf32, #s2>) {
  // expected-error@+1 {{'tp.gather' op C4: axes leave and enter dimension 0 only at its minor end; use tp.all_to_all}}
  %y = tp.gather %x over ["dp"] : tensor<8x10xf32, #s2> -> tensor<8x10xf32, #t2>
  return
}

// -----

// C4: nor do blocks over tp become dp-major ones by cutting them.
#mesh = #tp.mesh<"dp"=2 batch, "tp"=2>
#t2 = #tp.layout<#mesh, [{8 over "tp"}, _]>
#s2 = #tp.layout<#mesh, [{8 over ("dp", "tp")}, _]>
func.func @c4_major_axis_enters(%x: tensor<8x10xf32, #t2>) {
  // expected-error@+1 {{'tp.slice' op C4: axes leave and enter dimension 0 only at its minor end; use tp.all_to_all}}
  %y = tp.slice %x over ["dp"] : tensor<8x10xf32, #t2> -> tensor<8x10xf32, #s2>
  return
}

// -----

// C1: the element type is no layout either.
#mesh = #tp.mesh<"tp"=2>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
func.func @c1_element(%x: tensor<6x10xf32, #r2>) {
  // expected-error@+1 {{'tp.f' op C1: changes the layout only, but the shape or element type differs}}
  %y = tp.f %x over ["tp"] : tensor<6x10xf32, #r2> -> tensor<6x10xbf16, #c2>
  return
}

// -----

// Collectives on local tensors: a block is a part of the whole along one
// dimension, and blocks of all ranks make the whole.
#mesh = #tp.mesh<"dp"=2 batch, "tp"=3>
module attributes {tp.mesh = #mesh} {
  func.func @good(%x: tensor<2x10xf32>, %y: tensor<6x10xf32>, %z: tensor<5x10xf32>) {
    %0 = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<2x10xf32> -> tensor<6x10xf32>
    %1 = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<2x10xf32> -> tensor<5x10xf32>
    %2 = tp.reduce_scatter %y over ["tp"] {dim = 0 : i64} : tensor<6x10xf32> -> tensor<2x10xf32>
    %3 = tp.reduce_scatter %z over ["tp"] {dim = 0 : i64} : tensor<5x10xf32> -> tensor<2x10xf32>
    %4 = tp.all_gather %x over ["dp", "tp"] {dim = 0 : i64} : tensor<2x10xf32> -> tensor<12x10xf32>
    return
  }
}

// -----

func.func @gather_no_dimension(%x: tensor<2x10xf32>) {
  // expected-error@+1 {{'tp.all_gather' op C1: there is no dimension 2}}
  %0 = tp.all_gather %x over ["tp"] {dim = 2 : i64} : tensor<2x10xf32> -> tensor<6x10xf32>
  return
}

// -----

func.func @gather_rank(%x: tensor<2x10xf32>) {
  // expected-error@+1 {{'tp.all_gather' op C2: the block is not a part of the whole}}
  %0 = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<2x10xf32> -> tensor<6x10x1xf32>
  return
}

// -----

func.func @gather_element(%x: tensor<2x10xf32>) {
  // expected-error@+1 {{'tp.all_gather' op C2: the block is not a part of the whole}}
  %0 = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<2x10xf32> -> tensor<6x10xbf16>
  return
}

// -----

func.func @gather_smaller(%x: tensor<2x10xf32>) {
  // expected-error@+1 {{'tp.all_gather' op C2: the block is not a part of the whole}}
  %0 = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<2x10xf32> -> tensor<1x10xf32>
  return
}

// -----

func.func @gather_other_dimension(%x: tensor<2x10xf32>) {
  // expected-error@+1 {{'tp.all_gather' op C2: operand and result differ along dimension 1, but blocks are joined along 0}}
  %0 = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<2x10xf32> -> tensor<6x12xf32>
  return
}

// -----

func.func @scatter_larger(%x: tensor<6x10xf32>) {
  // expected-error@+1 {{'tp.reduce_scatter' op C2: the block is not a part of the whole}}
  %0 = tp.reduce_scatter %x over ["tp"] {dim = 0 : i64} : tensor<6x10xf32> -> tensor<7x10xf32>
  return
}

// -----

#mesh = #tp.mesh<"dp"=2 batch, "tp"=3>
module attributes {tp.mesh = #mesh} {
  func.func @gather_too_few(%x: tensor<2x10xf32>) {
    // expected-error@+1 {{'tp.all_gather' op C3: 3 blocks of 2 along dimension 0 do not make 7}}
    %0 = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<2x10xf32> -> tensor<7x10xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"dp"=2 batch, "tp"=3>
module attributes {tp.mesh = #mesh} {
  func.func @scatter_too_few(%x: tensor<13x10xf32>) {
    // expected-error@+1 {{'tp.reduce_scatter' op C3: 6 blocks of 2 along dimension 0 do not make 13}}
    %0 = tp.reduce_scatter %x over ["dp", "tp"] {dim = 0 : i64} : tensor<13x10xf32> -> tensor<2x10xf32>
    return
  }
}

// -----

func.func @reduce_type(%x: tensor<6x10xf32>) {
  // expected-error@+1 {{'tp.all_reduce' op C1: operand and result have different types}}
  %0 = tp.all_reduce %x over ["tp"] : tensor<6x10xf32> -> tensor<6x10xbf16>
  return
}

// -----

// A slice's layout says what is cut, over which axes, and of how much.
#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
module attributes {tp.mesh = #mesh} {
  func.func @slice_of_another_whole(%x: tensor<5x10xf32>) {
    // expected-error@+1 {{'tp.local_slice' op C3: cuts dimension 0 of 'tensor<5x10xf32>' over ["tp"], but its layout is #tp.layout<#tp.mesh<"tp"=2>, [{6 over "tp"}, _]>}}
    %0 = tp.local_slice %x over ["tp"] {dim = 0 : i64, layout = #rows} : tensor<5x10xf32> -> tensor<3x10xf32>
    return
  }
}
