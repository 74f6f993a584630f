// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --plan-verify
//
// Orders that a placed plan must keep: streams that touch the same bytes, and collectives on all ranks.
// test/runs/refused-plans.py makes files of these: tp-run refuses them in the same words.

// The wait for event 0 is missing.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "wait_removed" phases ["forward"] scratch 128 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 stream 1 "first"
    plan.record 0 stream 1 "record"
    // expected-error@+1 {{'plan.copy' op reads bytes of buffer 0 (a) without waiting for instruction 0 (first) on stream 1, which uses them too}}
    plan.copy %a : f32 to %b : f32 bytes 64 "second"
    plan.end
  }
}

// -----

// Bytes given to another buffer before the other stream is done with them.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "bytes_given_away" phases ["forward"] scratch 64 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 0 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 stream 1 "first"
    // expected-error@+1 {{'plan.fill' op writes bytes of buffer 1 (b) without waiting for instruction 0 (first) on stream 1, which uses them too}}
    plan.fill %b : f32 bytes 64 with 0 "second"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "never_recorded" phases ["forward"] {
    // expected-error@+1 {{'plan.wait' op waits for event 3, which no instruction before it records}}
    plan.wait 3 "first"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "recorded_twice" phases ["forward"] {
    plan.record 3 "first"
    // expected-error@+1 {{'plan.record' op records event 3, as instruction 0 does}}
    plan.record 3 "second"
    plan.end
  }
}

// -----

// One communicator on two streams: nothing says which ranks meet first where.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "collectives_without_order" phases ["forward"] scratch 128 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    plan.all_reduce sum of 16 %a : f32 to %a : f32 over ["tp"] payload 64 "second"
    plan.fill %b : f32 bytes 64 with 0 stream 1 "third"
    // expected-error@+1 {{'plan.all_reduce' op does not wait for instruction 1 (second), the collective over the same axes before it}}
    plan.all_reduce sum of 16 %b : f32 to %b : f32 over ["tp"] payload 64 stream 1 "fourth"
    plan.end
  }
}

// -----

// Rank 1 sums 32 elements first, rank 0 16.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "other_order" ranks [0] phases ["forward"] scratch 192 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 128 "b" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    plan.fill %b : f32 bytes 128 with 0 "second"
    // expected-error@+1 {{'plan.all_reduce' op is the collective of rank 0 where rank 1 has another, instruction 2 (large)}}
    plan.all_reduce sum of 16 %a : f32 to %a : f32 over ["tp"] payload 64 "small"
    plan.all_reduce sum of 32 %b : f32 to %b : f32 over ["tp"] payload 128 "large"
    plan.end
  }
  plan.program "other_order" ranks [1] phases ["forward"] scratch 192 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 128 "b" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    plan.fill %b : f32 bytes 128 with 0 "second"
    plan.all_reduce sum of 32 %b : f32 to %b : f32 over ["tp"] payload 128 "large"
    plan.all_reduce sum of 16 %a : f32 to %a : f32 over ["tp"] payload 64 "small"
    plan.end
  }
}

// -----

// Rank 1 has nobody to meet.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{'plan.program' op rank 1 has no program of this name}}
  plan.program "rank_without_program" ranks [0] phases ["forward"] {
    plan.end
  }
}
