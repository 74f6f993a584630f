// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --lower-to-plan
//
// What lower-to-plan refuses.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{lower-to-plan: argument 1 must be i32 with the role ids ([batch, seq]) or labels ([batch, seq + 1]) in {tp.input = #tp.input<...>}}}
  func.func @no_role(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %mask: tensor<2x8xf32>) {
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<8x4xf32> {id = 0 : i64, init = #tp.init<zeros>}
  func.func @not_fused(%ids: tensor<2x3xi32> {tp.input = #tp.input<ids "input_ids">}) {
    %w = tp.param @w : tensor<8x4xf32>
    // expected-error@+1 {{'tp.relu' op has no instructions; run tp-fuse before lower-to-plan}}
    %y = tp.relu %w : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  tp.parameter @q : tensor<1x2147483648x1x1x1xf32> {id = 0 : i64, init = #tp.init<zeros>}
  tp.parameter @k : tensor<1x2147483648x1x1xf32> {id = 1 : i64, init = #tp.init<zeros>}
  func.func @tile_too_large(%ids: tensor<2x3xi32> {tp.input = #tp.input<ids "input_ids">}) {
    %q = tp.param @q : tensor<1x2147483648x1x1x1xf32>
    %k = tp.param @k : tensor<1x2147483648x1x1xf32>
    // expected-error@+1 {{'tp.attention' op cannot become a kernel: row kernel: more than 2^56 elements}}
    %y, %lse = tp.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<1x2147483648x1x1x1xf32>, tensor<1x2147483648x1x1xf32>, tensor<1x2147483648x1x1xf32>) -> (tensor<1x2147483648x1x1x1xf32>, tensor<1x2147483648x1x1xf32>)
    return
  }
}
