// RUN: tp-opt %s --split-input-file --plan-verify | FileCheck %s
//
// Plans that are right, close to the limits of what plan-verify refuses.

// Two streams that wait for each other, bytes used again behind the wait.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // CHECK: plan.program "streams"
  plan.program "streams" phases ["forward"] scratch 128 {
    %a = plan.buffer 64 at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 at 64 : !plan.buffer<f32>
    %c = plan.buffer 64 at 0 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 stream 1
    plan.record 0 stream 1
    plan.fill %b : f32 bytes 32 with 0
    plan.wait 0
    plan.copy %a : f32 to %b[32] : f32 bytes 32
    plan.record 1
    plan.wait 1 stream 1
    plan.copy %b : f32 to %c : f32 bytes 64 stream 1
    plan.end
  }
}

// -----

// Four loops, the last byte of the last iteration on the last rank.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // CHECK: plan.program "loops"
  plan.program "loops" phases ["forward"] scratch 128 {
    %a = plan.buffer 128 at 0 : !plan.buffer<f32>
    plan.loop 2 {
      plan.loop 2 {
        plan.loop 2 {
          plan.loop 2 {
            plan.fill %a[4 * l0 + 8 * l1 + 16 * l2 + 32 * l3 + 64 * c0] : f32 bytes 4 with 0
          }
        }
      }
    }
    plan.end
  }
}

// -----

// Ranks with programs of their own that meet in the same collectives.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // CHECK: plan.program "ranks"
  plan.program "ranks" ranks [0] phases ["forward"] scratch 128 {
    %a = plan.buffer 64 at 0 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0
    plan.all_reduce sum of 16 %a : f32 to %a : f32 over ["tp"] payload 64
    plan.end
  }
  plan.program "ranks" ranks [1] phases ["forward"] scratch 128 {
    %a = plan.buffer 64 at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 1
    plan.all_reduce sum of 16 %a : f32 to %a : f32 over ["tp"] payload 64
    plan.end
  }
}
