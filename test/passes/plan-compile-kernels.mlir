// RUN: tp-opt %s --split-input-file --plan-compile-kernels | FileCheck %s
//
// Texts become one object; what the launches need stays.

// CHECK: tp.parameter
// CHECK-NEXT: plan.kernel @zero [f32 write 12] ints 1{{$}}
// CHECK-NEXT: plan.kernel @copy [f32 read 8, f32 write 8 over [0]]{{$}}
// CHECK-NEXT: plan.object "{{.+}}" "{{.*}}" = dense_resource<object> : tensor<{{[0-9]+}}xi8>
// CHECK-NEXT: plan.program
tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
plan.kernel @zero [f32 write 12] ints 1 {
  "kernel rows [] cols 3 ints 1"
  "  arg0: f32 write offset 0 rows [] col 1"
  "  %0 = int_arg 0 : i64 scalar"
  "  %1 = cast %0 : f32 scalar"
  "  store arg0 offset 0 %1"
}
plan.kernel @copy [f32 read 8, f32 write 8 over [0]] {
  "kernel rows [] cols 2 ints 0"
  "  arg0: f32 read offset 0 rows [] col 1"
  "  arg1: f32 write offset 0 rows [] col 1"
  "  %0 = load arg0 offset 0 : f32 col"
  "  store arg1 offset 0 %0"
}
plan.program "p" phases ["forward"] {
  plan.end
}

// -----

// Nothing to compile.
// CHECK-NOT: plan.object
plan.program "p" phases ["forward"] {
  plan.end
}

// -----

// Without a program the object stands at the end.
// CHECK: plan.kernel @one
// CHECK-NEXT: plan.object
plan.kernel @one [f32 write 4] {
  "kernel rows [] cols 1 ints 0"
  "  arg0: f32 write offset 0 rows [] col 1"
  "  %0 = const 3f800000 (1.000000e+00) : f32 scalar"
  "  store arg0 offset 0 %0"
}
