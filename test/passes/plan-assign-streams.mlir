// RUN: tp-opt %s --plan-assign-streams | FileCheck %s
//
// On a CPU there is one stream, and nobody to wait for.

plan.program "p" phases ["forward"] {
  %x = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: %[[X:.*]] = plan.buffer
  // CHECK-NEXT: plan.fill %[[X]] : f32 bytes 8 with 1{{$}}
  plan.fill %x : f32 bytes 8 with 1 stream 1
  // CHECK-NEXT: plan.loop 2 {
  plan.loop 2 {
    plan.record 4 stream 1
    plan.wait 4
    // CHECK-NEXT: plan.fill %[[X]][4 * l0] : f32 bytes 4 with 2 "name"
    plan.fill %x[4 * l0] : f32 bytes 4 with 2 stream 3 "name"
  }
  // CHECK-NEXT: }
  // CHECK-NEXT: plan.end
  plan.end
}
