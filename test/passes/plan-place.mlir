// RUN: tp-opt %s --split-input-file --plan-place | FileCheck %s
//
// Places: symbols one behind the other, buffers in an arena by their lives.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // Parameters first, then state; each at a multiple of 64 bytes.
  // CHECK: tp.parameter @a {{.*}}plan.offset = 0 : i64
  tp.parameter @a : tensor<17xf32> {id = 0 : i64, init = #tp.init<zeros>}
  // CHECK: tp.state @a.m {{.*}}plan.offset = 192 : i64
  tp.state @a.m of @a "m" : tensor<17xf32>
  // CHECK: tp.parameter @b {{.*}}plan.offset = 128 : i64
  tp.parameter @b : tensor<3xf32> {id = 1 : i64, init = #tp.init<zeros>}
  // CHECK: plan.constant @t at 0
  plan.constant @t = dense<1.0> : tensor<17xf32>
  // CHECK: plan.constant @u at 128
  plan.constant @u = dense<2.0> : tensor<1xf32>

  // The arena: 64 + 128 bytes at most live at once.
  // CHECK: plan.program "lives" phases ["forward"] scratch 256 input 192 {
  plan.program "lives" phases ["forward"] {
    // CHECK: plan.input {{.*}} at 0 :
    %i = plan.input 68 "i" role "" as tensor<17xf32> : !plan.buffer<f32>
    // CHECK: plan.input {{.*}} at 128 :
    %j = plan.input 4 "j" role "" as tensor<1xf32> : !plan.buffer<f32>
    // CHECK: plan.buffer 64 at 0
    %a = plan.buffer 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0
    // CHECK: plan.buffer 68 at 64
    %b = plan.buffer 68 : !plan.buffer<f32>
    plan.copy %i : f32 to %b : f32 bytes 68
    // The last access of %a: its bytes are free for what comes behind.
    plan.copy %a : f32 to %b : f32 bytes 64
    // CHECK: plan.buffer 4 at 0
    %c = plan.buffer 4 : !plan.buffer<f32>
    plan.copy %b : f32 to %c : f32 bytes 4
    // Both operands of one instruction live: 64 bytes at 0 are taken, so %d is
    // where %b ends.
    // CHECK: plan.buffer 64 at 192
    %d = plan.buffer 64 : !plan.buffer<f32>
    plan.copy %b : f32 to %d : f32 bytes 64
    plan.copy %c : f32 to %d : f32 bytes 4
    // CHECK: plan.output
    plan.output "d" %d : f32 as tensor<16xf32>
    plan.end
  }
}

// -----

// An output lives to the end, wherever it was made last.

// CHECK-LABEL: plan.program "output"
plan.program "output" phases ["forward"] {
  // CHECK: plan.buffer 4 at 0
  %a = plan.buffer 4 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 4 with 0
  // CHECK: plan.buffer 4 at 64
  %b = plan.buffer 4 : !plan.buffer<f32>
  plan.fill %b : f32 bytes 4 with 0
  plan.output "a" %a : f32 as tensor<f32>
  plan.end
}

// -----

// What a loop touches lives from its first to its last iteration.

// CHECK-LABEL: plan.program "loop"
plan.program "loop" phases ["forward"] {
  // CHECK: plan.buffer 8 at 0
  // CHECK: plan.buffer 8 at 64
  // CHECK: plan.buffer 8 at 128
  %a = plan.buffer 8 : !plan.buffer<f32>
  %b = plan.buffer 8 : !plan.buffer<f32>
  %c = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 8 with 0
  plan.loop 2 {
    plan.copy %a : f32 to %b[4 * l0] : f32 bytes 4
    plan.fill %c : f32 bytes 8 with 0
  }
  plan.end
}

// -----

// Phases: what the forward leaves for later is saved, what the backward leaves
// for the update are gradients; outputs are neither.

// CHECK: plan.program "phases" {{.*}} saves 8 gradients 4 {
plan.program "phases" phases ["forward", "backward", "update"] {
  %saved = plan.buffer 8 : !plan.buffer<f32>
  %used = plan.buffer 16 : !plan.buffer<f32>
  %loss = plan.buffer 4 : !plan.buffer<f32>
  %gradient = plan.buffer 4 : !plan.buffer<f32>
  plan.fill %saved : f32 bytes 8 with 0
  plan.fill %used : f32 bytes 16 with 0
  plan.fill %loss : f32 bytes 4 with 0
  plan.next ^backward
^backward:
  plan.copy %saved : f32 to %gradient : f32 bytes 4
  plan.next ^update
^update:
  plan.all_reduce sum of 1 %gradient : f32 to %loss : f32 over ["tp"] payload 4
  plan.output "loss" role "loss" %loss : f32 as tensor<f32>
  plan.end
}

// -----

// On two streams the bytes of %a are free only behind the wait for its last
// access: %b, which runs before it, has other ones; %c has them again.

// CHECK-LABEL: plan.program "streams"
plan.program "streams" phases ["forward"] {
  %a = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.buffer 8 at 0
  // CHECK: plan.buffer 8 at 64
  // CHECK: plan.buffer 8 at 0
  plan.fill %a : f32 bytes 8 with 0 stream 1
  plan.record 0 stream 1
  %b = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %b : f32 bytes 8 with 0
  plan.wait 0
  %c = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %c : f32 bytes 8 with 0
  plan.copy %b : f32 to %c : f32 bytes 4
  plan.end
}

// -----

// An event says what its own stream has done. Behind the wait for stream 1 its
// bytes are free; what stream 2 does without a wait keeps its own.

// CHECK-LABEL: plan.program "events"
plan.program "events" phases ["forward"] {
  // CHECK: plan.buffer 4 at 0
  // CHECK: plan.buffer 8 at 64
  // CHECK: plan.buffer 16 at 128
  // CHECK: plan.buffer 8 at 64
  // CHECK: plan.buffer 16 at 64
  %z = plan.buffer 4 : !plan.buffer<f32>
  plan.fill %z : f32 bytes 4 with 0
  %a = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 8 with 0 stream 1
  %b = plan.buffer 16 : !plan.buffer<f32>
  plan.fill %b : f32 bytes 16 with 0 stream 2
  plan.record 0 stream 1
  plan.wait 0
  %c = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %c : f32 bytes 8 with 0
  %d = plan.buffer 16 : !plan.buffer<f32>
  plan.fill %d : f32 bytes 16 with 0
  plan.output "z" %z : f32 as tensor<f32>
  plan.end
}

// -----

// Without an update nothing is left for it: what the backward makes leaves the
// program, and is no gradient in memory.

// CHECK: plan.program "no_update" phases ["forward", "backward"] scratch 128 saves 8 {
plan.program "no_update" phases ["forward", "backward"] {
  %saved = plan.buffer 8 : !plan.buffer<f32>
  %gradient = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %saved : f32 bytes 8 with 0
  plan.next ^backward
^backward:
  plan.all_reduce sum of 1 %saved : f32 to %gradient[4] : f32 over ["tp"] payload 4
  plan.output "g" role "gradient" %gradient : f32 as tensor<2xf32>
  plan.end
}
