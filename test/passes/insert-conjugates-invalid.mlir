// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --tp-insert-conjugates
//
// What tp-insert-conjugates refuses.

// expected-error@+1 {{tp-insert-conjugates: the module has no tp.mesh; run tp-shard first}}
module {
  func.func @no_mesh(%x: tensor<6xf32>) {
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
#c1 = #tp.layout<#mesh, [_] copied "tp">
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{no changes of layout lead from C to what this value's consumers want}}
  func.func @copied_to_replicated(%x: tensor<6xf32, #c1>) {
    %y = tp.relu %x {tp.ways = {tp = "replicated"}} : (tensor<6xf32, #c1>) -> tensor<6xf32, #r1>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
#r1 = #tp.layout<#mesh, [_]>
module attributes {tp.mesh = #mesh} {
  func.func @no_ways(%x: tensor<6xf32, #r1>) {
    // expected-error@+1 {{'tp.relu' op has no ways; run tp-shard before tp-insert-conjugates}}
    %y = tp.relu %x : (tensor<6xf32, #r1>) -> tensor<6xf32, #r1>
    return
  }
}
