// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-partition
//
// What tp-partition refuses.

// expected-error@+1 {{tp-partition: the module has no tp.mesh; run tp-shard first}}
module {
  func.func @no_mesh(%x: tensor<6xf32>) {
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#rows = #tp.layout<#mesh, [{6 over "tp"}, _]>
#columns = #tp.layout<#mesh, [_, {4 over "tp"}]>
module attributes {tp.mesh = #mesh} {
  func.func @all_to_all(%x: tensor<6x4xf32, #rows>) {
    // expected-error@+1 {{'tp.all_to_all' op tp-partition does not lower this change yet}}
    %y = tp.all_to_all %x over ["tp"] : tensor<6x4xf32, #rows> -> tensor<6x4xf32, #columns>
    tp.output "y", %y : tensor<6x4xf32, #columns>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r0 = #tp.layout<#mesh, []>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{tp-partition: the step returns values; run tp-differentiate first, which makes them tp.output}}
  func.func @returns(%x: tensor<f32, #r0>) -> tensor<f32, #r0> {
    return %x : tensor<f32, #r0>
  }
}
