// RUN: tp-opt %s --verify-diagnostics --mlir-print-op-on-diagnostic=false --plan-compile-kernels
//
// Kernels are compiled once.

// expected-error@+1 {{'plan.kernel' op has no text to compile; it is compiled already}}
plan.kernel @compiled [f32 read 8]
