// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --lower-to-plan
//
// What lower-to-plan refuses.

// expected-error@+1 {{lower-to-plan: the module has no tp.mesh; run tp-shard to tp-fuse first}}
module {
  func.func @no_mesh() {
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @not_fused() {
    %w = tp.param @w : tensor<8x4xf32>
    // expected-error@+1 {{'tp.relu' op has no instructions; run tp-fuse before lower-to-plan}}
    %y = tp.relu %w : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{is forward only, but called 'train' as the program to train with is; give it another name}}
  func.func @train() attributes {tp.forward} {
    return
  }
}
