// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --plan-expand-attention
//
// A tile whose kernel cannot be.

plan.program "tile_too_large" phases ["forward"] {
  %a = plan.buffer 64 : !plan.buffer<f32>
  // expected-error@+1 {{'plan.attention' op cannot become a kernel: row kernel: more than 2^56 elements}}
  plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 2147483648, 2147483648, 1] scale 1.0
  plan.end
}

// -----

plan.program "gradient_too_large" phases ["backward"] {
  %a = plan.buffer 64 : !plan.buffer<f32>
  // expected-error@+1 {{'plan.attention_grad' op cannot become a kernel: row kernel: more than 2^56 elements}}
  plan.attention_grad %a : f32, %a : f32, %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32, %a : f32 sizes [1, 1, 1, 2147483648, 2147483648, 1] scale 1.0
  plan.end
}
