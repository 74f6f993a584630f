// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --plan-compile-kernels
//
// Kernels are compiled once.

// expected-error@+1 {{'plan.kernel' op has no text to compile; it is compiled already}}
plan.kernel @compiled [f32 read 8]

// -----

// A name that no symbol of an object has.

// expected-error@below {{plan-compile-kernels: row kernel: symbol 'a b' is no C identifier}}
module {
  plan.kernel @"a b" [f32 write 4] {
    "kernel rows [] cols 1 ints 0"
    "  arg0: f32 write offset 0 rows [] col 1"
    "  %0 = const 00000000 (0.000000e+00) : f32 scalar"
    "  store arg0 offset 0 %0"
  }
}
