// RUN: tp-opt %s | tp-opt | FileCheck %s
//
// Layouts in types, each change of layout, and the collectives on local tensors.

#mesh = #tp.mesh<"dp"=2 batch, "tp"=4>
#r2 = #tp.layout<#mesh, [_, _]>
#c2 = #tp.layout<#mesh, [_, _] copied "tp">
#p2 = #tp.layout<#mesh, [_, _] partial "tp">
#m2 = #tp.layout<#mesh, [_, _] partial_max "tp">
#cc2 = #tp.layout<#mesh, [_, _] copied ("dp", "tp")>
#rows = #tp.layout<#mesh, [{6 pad 8 over "tp"}, _]>
#columns = #tp.layout<#mesh, [_, {60 pad 80 over "tp"}]>
#inner = #tp.layout<#mesh, [{2, 8 over "tp"}] partial "dp">
#folded = #tp.layout<#mesh, [_, {6 pad 8 over "tp", 10}]>
#both = #tp.layout<#mesh, [{16 over ("dp", "tp")}]>

// The mesh and every layout once; aliases say what they hold.
// CHECK-DAG: #mesh = #tp.mesh<"dp"=2 batch, "tp"=4>
// CHECK-DAG: #r2 = #tp.layout<#mesh, [_, _]>
// CHECK-DAG: #c2_tp = #tp.layout<#mesh, [_, _] copied "tp">
// CHECK-DAG: #p2_tp = #tp.layout<#mesh, [_, _] partial "tp">
// CHECK-DAG: #pmax2_tp = #tp.layout<#mesh, [_, _] partial_max "tp">
// CHECK-DAG: #c2_dp_tp = #tp.layout<#mesh, [_, _] copied ("dp", "tp")>
// CHECK-DAG: #s2_tp_d0_6 = #tp.layout<#mesh, [{6 pad 8 over "tp"}, _]>
// CHECK-DAG: #s2_tp_d1_60 = #tp.layout<#mesh, [_, {60 pad 80 over "tp"}]>
// CHECK-DAG: #s1_tp_d0_8_x_dp = #tp.layout<#mesh, [{2, 8 over "tp"}] partial "dp">
// CHECK-DAG: #s1_dp_tp_d0_16 = #tp.layout<#mesh, [{16 over ("dp", "tp")}]>

// Heads times head size is the folded type.
// CHECK-LABEL: func.func @canonical
// CHECK-SAME: tensor<6x60xf32, #s2_tp_d1_60>, %{{.*}}: tensor<6x60xf32, #s2_tp_d1_60>
func.func @canonical(%a: tensor<6x60xf32, #folded>, %b: tensor<6x60xf32, #columns>) {
  return
}

// CHECK-LABEL: func.func @blocks
// CHECK-SAME: tensor<16xf32, #s1_tp_d0_8_x_dp>, %{{.*}}: tensor<16xf32, #s1_dp_tp_d0_16>
func.func @blocks(%a: tensor<16xf32, #inner>, %b: tensor<16xf32, #both>) {
  return
}

// CHECK-LABEL: func.func @changes
func.func @changes(%r: tensor<6x60xf32, #r2>, %p: tensor<6x60xf32, #p2>, %s: tensor<6x60xf32, #rows>, %m: tensor<6x60xf32, #m2>) {
  // CHECK: tp.f %{{.*}} over ["tp"] {reason = "tp.matmul wants C"} : tensor<6x60xf32, #r2> -> tensor<6x60xf32, #c2_tp>
  %1 = tp.f %r over ["tp"] {reason = "tp.matmul wants C"} : tensor<6x60xf32, #r2> -> tensor<6x60xf32, #c2>
  // CHECK: tp.f %{{.*}} over ["dp", "tp"] : tensor<6x60xf32, #r2> -> tensor<6x60xf32, #c2_dp_tp>
  %2 = tp.f %r over ["dp", "tp"] : tensor<6x60xf32, #r2> -> tensor<6x60xf32, #cc2>
  // CHECK: tp.g %{{.*}} over ["tp"] : tensor<6x60xf32, #p2_tp> -> tensor<6x60xf32, #r2>
  %3 = tp.g %p over ["tp"] : tensor<6x60xf32, #p2> -> tensor<6x60xf32, #r2>
  // CHECK: tp.g_max %{{.*}} over ["tp"] : tensor<6x60xf32, #pmax2_tp> -> tensor<6x60xf32, #r2>
  %4 = tp.g_max %m over ["tp"] : tensor<6x60xf32, #m2> -> tensor<6x60xf32, #r2>
  // CHECK: tp.gather %{{.*}} over ["tp"] : tensor<6x60xf32, #s2_tp_d0_6> -> tensor<6x60xf32, #c2_tp>
  %5 = tp.gather %s over ["tp"] : tensor<6x60xf32, #rows> -> tensor<6x60xf32, #c2>
  // CHECK: tp.scatter %{{.*}} over ["tp"] : tensor<6x60xf32, #p2_tp> -> tensor<6x60xf32, #s2_tp_d0_6>
  %6 = tp.scatter %p over ["tp"] : tensor<6x60xf32, #p2> -> tensor<6x60xf32, #rows>
  // CHECK: tp.slice %{{.*}} over ["tp"] : tensor<6x60xf32, #r2> -> tensor<6x60xf32, #s2_tp_d0_6>
  %7 = tp.slice %r over ["tp"] : tensor<6x60xf32, #r2> -> tensor<6x60xf32, #rows>
  // CHECK: tp.unslice %{{.*}} over ["tp"] : tensor<6x60xf32, #s2_tp_d0_6> -> tensor<6x60xf32, #r2>
  %8 = tp.unslice %s over ["tp"] : tensor<6x60xf32, #rows> -> tensor<6x60xf32, #r2>
  // CHECK: tp.all_to_all %{{.*}} over ["tp"] : tensor<6x60xf32, #s2_tp_d0_6> -> tensor<6x60xf32, #s2_tp_d1_60>
  %9 = tp.all_to_all %s over ["tp"] : tensor<6x60xf32, #rows> -> tensor<6x60xf32, #columns>
  return
}

// CHECK-LABEL: func.func @local
func.func @local(%x: tensor<2x60xf32>, %w: tensor<6x60xf32>) {
  // CHECK: tp.all_reduce %{{.*}} over ["tp"] : tensor<2x60xf32> -> tensor<2x60xf32>
  %1 = tp.all_reduce %x over ["tp"] : tensor<2x60xf32> -> tensor<2x60xf32>
  // CHECK: tp.all_reduce %{{.*}} over ["tp"] {reduction = #tp.reduction<max>} : tensor<2x60xf32> -> tensor<2x60xf32>
  %2 = tp.all_reduce %x over ["tp"] {reduction = #tp.reduction<max>} : tensor<2x60xf32> -> tensor<2x60xf32>
  // CHECK: tp.all_gather %{{.*}} over ["tp"] {dim = 0 : i64} : tensor<2x60xf32> -> tensor<6x60xf32>
  %3 = tp.all_gather %x over ["tp"] {dim = 0 : i64} : tensor<2x60xf32> -> tensor<6x60xf32>
  // CHECK: tp.reduce_scatter %{{.*}} over ["tp"] {dim = 0 : i64} : tensor<6x60xf32> -> tensor<2x60xf32>
  %4 = tp.reduce_scatter %w over ["tp"] {dim = 0 : i64} : tensor<6x60xf32> -> tensor<2x60xf32>
  // CHECK: tp.local_slice %{{.*}} over ["tp"] {dim = 0 : i64, layout = #s2_tp_d0_6} : tensor<6x60xf32> -> tensor<2x60xf32>
  %5 = tp.local_slice %w over ["tp"] {dim = 0 : i64, layout = #rows} : tensor<6x60xf32> -> tensor<2x60xf32>
  // CHECK: tp.mask_padding %{{.*}} with 0.000000e+00 {layout = #s2_tp_d0_6} : tensor<2x60xf32> -> tensor<2x60xf32>
  %6 = tp.mask_padding %x with 0.0 {layout = #rows} : tensor<2x60xf32> -> tensor<2x60xf32>
  return
}
