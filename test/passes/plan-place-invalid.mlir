// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --plan-place
//
// More than a rank can address.

// expected-error@+1 {{'plan.program' op needs 105553116266496 bytes a rank for activations and temporaries, at most 70368744177664 can be addressed; the largest buffer, of 70368744177664 bytes, is 'h.0.logits', made by h.0 tp.matmul: take a smaller batch or sequence, or more ranks}}
plan.program "too_large" phases ["forward"] {
  %a = plan.buffer 35184372088832 : !plan.buffer<f32>
  %b = plan.buffer 70368744177664 "h.0.logits" : !plan.buffer<f32>
  plan.fill %a : f32 bytes 4 with 0 "tp.relu"
  plan.fill %b : f32 bytes 4 with 0 "h.0 tp.matmul"
  plan.copy %a : f32 to %b : f32 bytes 4
  plan.output "b" %b : f32 as tensor<f32>
  plan.end
}

// -----

// Nothing has a name.

// expected-error@+1 {{'plan.program' op needs 140737488355328 bytes a rank for activations and temporaries, at most 70368744177664 can be addressed; the largest buffer, of 70368744177664 bytes,}}
plan.program "without_names" phases ["forward"] {
  %a = plan.buffer 70368744177664 : !plan.buffer<f32>
  %b = plan.buffer 70368744177664 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 4 with 0
  plan.fill %b : f32 bytes 4 with 0
  plan.copy %a : f32 to %b : f32 bytes 4
  plan.end
}
