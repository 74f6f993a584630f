// RUN: tp-opt %s --split-input-file --plan-place | FileCheck %s
//
// When two buffers may be one: an all-reduce over what nothing reads later, and
// new contents of a symbol over old ones that nothing reads any more.

// CHECK-LABEL: plan.program "all_reduce"
plan.program "all_reduce" phases ["forward"] {
  %x = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %x : f32 bytes 8 with 0
  // CHECK: plan.all_reduce sum of 2 %[[X:.*]] : f32 to %[[X]] : f32 over
  plan.all_reduce sum of 2 %x : f32 to %y : f32 over ["tp"] payload 8
  // CHECK-NEXT: plan.output "y" %[[X]] : f32
  plan.output "y" %y : f32 as tensor<2xf32>
  plan.end
}

// -----

// The summand is read once more: it stays as it is. The second all-reduce is the
// last to read it.

// CHECK-LABEL: plan.program "read_later"
plan.program "read_later" phases ["forward"] {
  %x = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 8 : !plan.buffer<f32>
  %z = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %x : f32 bytes 8 with 0
  // CHECK: %[[X:.*]] = plan.buffer 8 at 0
  // CHECK-NEXT: %[[Y:.*]] = plan.buffer 8 at 64
  // CHECK-NEXT: plan.fill %[[X]]
  // CHECK-NEXT: plan.all_reduce sum of 2 %[[X]] : f32 to %[[Y]] : f32 over
  // CHECK-NEXT: plan.all_reduce max of 2 %[[X]] : f32 to %[[X]] : f32 over
  plan.all_reduce sum of 2 %x : f32 to %y : f32 over ["tp"] payload 8
  plan.all_reduce max of 2 %x : f32 to %z : f32 over ["tp"] payload 8
  // CHECK-NEXT: plan.output "y" %[[Y]]
  // CHECK-NEXT: plan.output "z" %[[X]]
  plan.output "y" %y : f32 as tensor<2xf32>
  plan.output "z" %z : f32 as tensor<2xf32>
  plan.end
}

// -----

// Two tensors share %x (one is a reshape of the other, which is no instruction):
// a read of either one later keeps the buffer.

// CHECK-LABEL: plan.program "shared_buffer"
plan.program "shared_buffer" phases ["forward"] {
  %x = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 8 : !plan.buffer<f32>
  %z = plan.buffer 4 : !plan.buffer<f32>
  plan.fill %x : f32 bytes 8 with 0
  // CHECK: %[[X:.*]] = plan.buffer 8 at 0
  // CHECK: %[[Y:.*]] = plan.buffer 8 at 64
  // CHECK: plan.all_reduce sum of 2 %[[X]] : f32 to %[[Y]] : f32 over
  plan.all_reduce sum of 2 %x : f32 to %y : f32 over ["tp"] payload 8
  plan.copy %x[4] : f32 to %z : f32 bytes 4
  plan.output "y" %y : f32 as tensor<2xf32>
  plan.output "z" %z : f32 as tensor<f32>
  plan.end
}

// -----

// An input is never written, an output keeps its contents.

// CHECK-LABEL: plan.program "kept"
plan.program "kept" phases ["forward"] {
  %x = plan.input 8 "x" role "" as tensor<2xf32> : !plan.buffer<f32>
  %y = plan.buffer 8 : !plan.buffer<f32>
  %z = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: %[[X:.*]] = plan.input 8 "x"
  // CHECK-NEXT: %[[Y:.*]] = plan.buffer 8 at 0
  // CHECK-NEXT: %[[Z:.*]] = plan.buffer 8 at 64
  // CHECK: plan.all_reduce sum of 2 %[[X]] : f32 to %[[Y]] : f32 over
  // CHECK-NEXT: plan.all_reduce sum of 2 %[[Y]] : f32 to %[[Z]] : f32 over
  plan.all_reduce sum of 2 %x : f32 to %y : f32 over ["tp"] payload 8
  plan.all_reduce sum of 2 %y : f32 to %z : f32 over ["tp"] payload 8
  // CHECK-NEXT: plan.output "y" %[[Y]]
  // CHECK-NEXT: plan.output "z" %[[Z]]
  plan.output "y" %y : f32 as tensor<2xf32>
  plan.output "z" %z : f32 as tensor<2xf32>
  plan.end
}

// -----

// New weights and moments, written by a kernel that reads the old ones element
// by element: the copies go.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.state @m of @w "m" : tensor<2xf32>
plan.kernel @step [f32 read 8, f32 read 8, f32 write 8 over [0, 1], f32 write 8 over [0, 1]]
// CHECK-LABEL: plan.program "update"
plan.program "update" phases ["update"] {
  // CHECK: %[[W:.*]] = plan.global @w
  // CHECK: %[[M:.*]] = plan.global @m
  %w = plan.global @w : !plan.buffer<f32>
  %m = plan.global @m : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  %new_m = plan.buffer 8 : !plan.buffer<f32>
  // CHECK-NEXT: plan.launch @step(%[[W]] : f32 for 8, %[[M]] : f32 for 8, %[[W]] : f32 for 8, %[[M]] : f32 for 8)
  // CHECK-NEXT: plan.end
  plan.launch @step(%w : f32 for 8, %m : f32 for 8, %new_w : f32 for 8, %new_m : f32 for 8)
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.copy %new_m : f32 to %m : f32 bytes 8
  plan.end
}

// -----

// A later instruction still reads the old weights: the new ones wait.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
plan.kernel @step [f32 read 8, f32 write 8 over [0]]
// CHECK-LABEL: plan.program "old_weights_read"
plan.program "old_weights_read" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.launch @step(%[[W:.*]] : f32 for 8, %[[NEW:.*]] : f32 for 8)
  // CHECK-NEXT: plan.copy %[[W]] : f32 to %[[Y:.*]] : f32 bytes 8
  // CHECK-NEXT: plan.copy %[[NEW]] : f32 to %[[W]] : f32 bytes 8
  plan.launch @step(%w : f32 for 8, %new_w : f32 for 8)
  plan.copy %w : f32 to %y : f32 bytes 8
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.output "y" %y : f32 as tensor<2xf32>
  plan.end
}

// -----

// The kernel gathers from the old weights while it writes the new ones.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
plan.kernel @gather [f32 read 8, f32 write 8]
// CHECK-LABEL: plan.program "not_in_place"
plan.program "not_in_place" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.launch @gather(%[[W:.*]] : f32 for 8, %[[NEW:.*]] : f32 for 8)
  // CHECK-NEXT: plan.copy %[[NEW]] : f32 to %[[W]] : f32 bytes 8
  plan.launch @gather(%w : f32 for 8, %new_w : f32 for 8)
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.end
}

// -----

// What is begun early, here a sum, would spoil old weights that are read before
// it is ready.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
plan.kernel @sum [f32 read 8, f32 accumulate 8]
// CHECK-LABEL: plan.program "begun_early"
plan.program "begun_early" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.fill %[[NEW:.*]] : f32 bytes 8 with 0
  // CHECK-NEXT: plan.launch @sum(%[[W:.*]] : f32 for 8, %[[NEW]] : f32 for 8)
  // CHECK-NEXT: plan.copy %[[NEW]] : f32 to %[[W]] : f32 bytes 8
  plan.fill %new_w : f32 bytes 8 with 0
  plan.launch @sum(%w : f32 for 8, %new_w : f32 for 8)
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.end
}

// -----

// The old weights are read before anything of the new ones is written: all of
// the sum can stand where the weights are.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
plan.kernel @sum [f32 read 8, f32 accumulate 8]
// CHECK-LABEL: plan.program "read_before"
plan.program "read_before" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %x = plan.buffer 8 : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.copy %[[W:.*]] : f32 to %[[X:.*]] : f32 bytes 8
  // CHECK-NEXT: plan.fill %[[W]] : f32 bytes 8 with 0
  // CHECK-NEXT: plan.launch @sum(%[[X]] : f32 for 8, %[[W]] : f32 for 8)
  // CHECK-NEXT: plan.end
  plan.copy %w : f32 to %x : f32 bytes 8
  plan.fill %new_w : f32 bytes 8 with 0
  plan.launch @sum(%x : f32 for 8, %new_w : f32 for 8)
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.end
}

// -----

// The source of the copy leaves the program too: it may, being the same.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "read_after"
plan.program "read_after" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.fill %[[W:.*]] : f32 bytes 8 with 1
  // CHECK-NEXT: plan.output "new" %[[W]]
  plan.fill %new_w : f32 bytes 8 with 1
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.output "new" %new_w : f32 as tensor<2xf32>
  plan.end
}

// -----

// Part of a buffer is not the buffer.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "part"
plan.program "part" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new_w = plan.buffer 12 : !plan.buffer<f32>
  // CHECK: plan.fill %[[NEW:.*]] : f32 bytes 12 with 1
  // CHECK-NEXT: plan.copy %[[NEW]][4] : f32 to %{{.*}} : f32 bytes 8
  plan.fill %new_w : f32 bytes 12 with 1
  plan.copy %new_w[4] : f32 to %w : f32 bytes 8
  plan.end
}

// -----

// Another stream reads the old weights, and nothing says that it has done so.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "unordered"
plan.program "unordered" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.copy %[[W:.*]] : f32 to %{{.*}} : f32 bytes 8 stream 1
  // CHECK: plan.fill %[[NEW:.*]] : f32 bytes 8 with 1
  // CHECK: plan.copy %[[NEW]] : f32 to %[[W]] : f32 bytes 8
  plan.copy %w : f32 to %y : f32 bytes 8 stream 1
  plan.record 0 stream 1
  plan.fill %new_w : f32 bytes 8 with 1
  plan.wait 0
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.end
}

// -----

// What the all-reduce has made over its operand lives to the end, being an
// output: another buffer has other bytes.

// CHECK-LABEL: plan.program "output_in_place"
plan.program "output_in_place" phases ["forward"] {
  %x = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 8 : !plan.buffer<f32>
  %z = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: %[[X:.*]] = plan.buffer 8 at 0
  // CHECK-NEXT: %[[Z:.*]] = plan.buffer 8 at 64
  // CHECK: plan.all_reduce sum of 2 %[[X]] : f32 to %[[X]] : f32 over
  // CHECK-NEXT: plan.fill %[[Z]]
  // CHECK-NEXT: plan.output "y" %[[X]]
  plan.fill %x : f32 bytes 8 with 0
  plan.all_reduce sum of 2 %x : f32 to %y : f32 over ["tp"] payload 8
  plan.fill %z : f32 bytes 8 with 0
  plan.output "y" %y : f32 as tensor<2xf32>
  plan.end
}

// -----

// Half of a buffer is summed into the other half of another one: these are no
// equal places.

// CHECK-LABEL: plan.program "halves"
plan.program "halves" phases ["forward"] {
  %x = plan.buffer 16 : !plan.buffer<f32>
  %y = plan.buffer 16 : !plan.buffer<f32>
  // CHECK: %[[X:.*]] = plan.buffer 16 at 0
  // CHECK-NEXT: %[[Y:.*]] = plan.buffer 16 at 64
  // CHECK: plan.all_reduce sum of 2 %[[X]][8] : f32 to %[[Y]] : f32 over
  plan.fill %x : f32 bytes 16 with 0
  plan.all_reduce sum of 2 %x[8] : f32 to %y : f32 over ["tp"] payload 8
  plan.output "y" %y : f32 as tensor<2xf32>
  plan.end
}

// -----

// The source of the copy is read behind it, and the target changes: they are
// not the same to the end.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "changed_after"
plan.program "changed_after" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: %[[W:.*]] = plan.global @w
  // CHECK: %[[NEW:.*]] = plan.buffer 8
  // CHECK: plan.fill %[[NEW]] : f32 bytes 8 with 1
  // CHECK-NEXT: plan.copy %[[NEW]] : f32 to %[[W]] : f32 bytes 8
  // CHECK-NEXT: plan.fill %[[W]] : f32 bytes 4 with 2
  // CHECK-NEXT: plan.output "new" %[[NEW]]
  plan.fill %new_w : f32 bytes 8 with 1
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.fill %w : f32 bytes 4 with 2
  plan.output "new" %new_w : f32 as tensor<2xf32>
  plan.end
}

// -----

// The source of the copy is used for something else afterwards.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "written_after"
plan.program "written_after" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new_w = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: %[[W:.*]] = plan.global @w
  // CHECK: %[[NEW:.*]] = plan.buffer 8
  // CHECK: plan.fill %[[NEW]] : f32 bytes 8 with 1
  // CHECK-NEXT: plan.copy %[[NEW]] : f32 to %[[W]] : f32 bytes 8
  // CHECK-NEXT: plan.fill %[[NEW]] : f32 bytes 8 with 2
  plan.fill %new_w : f32 bytes 8 with 1
  plan.copy %new_w : f32 to %w : f32 bytes 8
  plan.fill %new_w : f32 bytes 8 with 2
  plan.end
}

// -----

// An all-reduce that is over its operand already, or whose operands are not two
// whole buffers of one size and type, stays as it is.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "operands"
plan.program "operands" phases ["forward"] {
  // CHECK: %[[W:.*]] = plan.global @w
  // CHECK-NEXT: %[[A:.*]] = plan.buffer 8 at
  // CHECK-NEXT: %[[B:.*]] = plan.buffer 8 at
  // CHECK-NEXT: %[[C:.*]] = plan.buffer 16 at
  // CHECK-NEXT: %[[D:.*]] = plan.buffer 8 at
  // CHECK-NEXT: %[[E:.*]] = plan.buffer 8 at
  // CHECK-NEXT: %[[F:.*]] = plan.buffer 16 at
  // CHECK-NEXT: %[[G:.*]] = plan.buffer 16 at
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  %b = plan.buffer 8 : !plan.buffer<f32>
  %c = plan.buffer 16 : !plan.buffer<f32>
  %d = plan.buffer 8 : !plan.buffer<f32>
  %e = plan.buffer 8 : !plan.buffer<i32>
  %f = plan.buffer 16 : !plan.buffer<f32>
  %g = plan.buffer 16 : !plan.buffer<f32>
  // CHECK: plan.all_reduce sum of 2 %[[A]] : f32 to %[[A]] : f32
  plan.fill %a : f32 bytes 8 with 0
  plan.all_reduce sum of 2 %a : f32 to %a : f32 over ["tp"] payload 8
  // CHECK: plan.all_reduce sum of 2 %[[A]] : f32 to %[[W]] : f32
  plan.all_reduce sum of 2 %a : f32 to %w : f32 over ["tp"] payload 8
  // CHECK: plan.all_reduce sum of 2 %[[B]] : f32 to %[[C]] : f32
  plan.fill %b : f32 bytes 8 with 0
  plan.all_reduce sum of 2 %b : f32 to %c : f32 over ["tp"] payload 8
  // CHECK: plan.all_reduce sum of 2 %[[D]] : f32 to %[[E]] : i32
  plan.fill %d : f32 bytes 8 with 0
  plan.all_reduce sum of 2 %d : f32 to %e : i32 over ["tp"] payload 8
  // CHECK: plan.all_reduce sum of 2 %[[F]] : f32 to %[[G]][8] : f32
  plan.fill %f : f32 bytes 16 with 0
  plan.all_reduce sum of 2 %f : f32 to %g[8] : f32 over ["tp"] payload 8
  plan.end
}

// -----

// Copies between other places than two whole buffers of one type: to itself,
// to another type, to a part, and to what nothing writes.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @v : tensor<4xf32> {id = 1 : i64, init = #tp.init<zeros>}
plan.constant @c = dense<1.0> : tensor<2xf32>
// CHECK-LABEL: plan.program "copies"
plan.program "copies" phases ["update"] {
  // CHECK: %[[A:.*]] = plan.buffer 8 at
  // CHECK: %[[I:.*]] = plan.buffer 8 at
  // CHECK: %[[P:.*]] = plan.buffer 8 at
  // CHECK: %[[Q:.*]] = plan.buffer 8 at
  %w = plan.global @w : !plan.buffer<f32>
  %v = plan.global @v : !plan.buffer<f32>
  %c = plan.global @c : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  %i = plan.buffer 8 : !plan.buffer<i32>
  %p = plan.buffer 8 : !plan.buffer<f32>
  %q = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.copy %[[A]] : f32 to %[[A]] : f32 bytes 8
  plan.fill %a : f32 bytes 8 with 0
  plan.copy %a : f32 to %a : f32 bytes 8
  // CHECK: plan.copy %[[I]] : i32 to %w : f32 bytes 8
  plan.fill %i : i32 bytes 8 with 0
  plan.copy %i : i32 to %w : f32 bytes 8
  // CHECK: plan.copy %[[P]] : f32 to %v[8] : f32 bytes 8
  plan.fill %p : f32 bytes 8 with 0
  plan.copy %p : f32 to %v[8] : f32 bytes 8
  // CHECK: plan.copy %[[Q]] : f32 to %c : f32 bytes 8
  plan.fill %q : f32 bytes 8 with 0
  plan.copy %q : f32 to %c : f32 bytes 8
  plan.end
}

// -----

// The source of the copy is read behind it: with the target as it is, the
// target may be read instead; changed, it may not.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @v : tensor<2xf32> {id = 1 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "source_read_after"
plan.program "source_read_after" phases ["update"] {
  // CHECK: %[[NEW:.*]] = plan.buffer 8 at
  // CHECK-NEXT: %[[Y:.*]] = plan.buffer 4 at
  %w = plan.global @w : !plan.buffer<f32>
  %v = plan.global @v : !plan.buffer<f32>
  %same = plan.buffer 8 : !plan.buffer<f32>
  %new = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 4 : !plan.buffer<f32>
  // CHECK-NEXT: plan.fill %w : f32 bytes 8 with 1
  // CHECK-NEXT: plan.copy %w[4] : f32 to %[[Y]] : f32 bytes 4
  plan.fill %same : f32 bytes 8 with 1
  plan.copy %same : f32 to %w : f32 bytes 8
  plan.copy %same[4] : f32 to %y : f32 bytes 4
  // CHECK-NEXT: plan.fill %[[NEW]] : f32 bytes 8 with 1
  // CHECK-NEXT: plan.copy %[[NEW]] : f32 to %v : f32 bytes 8
  // CHECK-NEXT: plan.fill %v : f32 bytes 8 with 2
  // CHECK-NEXT: plan.copy %[[NEW]][4] : f32 to %[[Y]] : f32 bytes 4
  plan.fill %new : f32 bytes 8 with 1
  plan.copy %new : f32 to %v : f32 bytes 8
  plan.fill %v : f32 bytes 8 with 2
  plan.copy %new[4] : f32 to %y : f32 bytes 4
  plan.end
}

// -----

// Another stream reads the source while it is copied: nothing says when.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "source_read_meanwhile"
plan.program "source_read_meanwhile" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 4 : !plan.buffer<f32>
  // CHECK: plan.copy %[[NEW:.*]] : f32 to %w : f32 bytes 8
  plan.fill %new : f32 bytes 8 with 1
  plan.record 0
  plan.copy %new : f32 to %w : f32 bytes 8
  plan.wait 0 stream 1
  plan.copy %new[4] : f32 to %y : f32 bytes 4 stream 1
  plan.end
}

// -----

// The second iteration reads what the first one was given: it is not written
// over, alone in the loop or not.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @v : tensor<2xf32> {id = 1 : i64, init = #tp.init<zeros>}
plan.kernel @step [f32 read 8, f32 write 8 over [0]]
// CHECK-LABEL: plan.program "in_a_loop"
plan.program "in_a_loop" phases ["update"] {
  // CHECK: %[[A:.*]] = plan.buffer 8 at
  // CHECK: %[[B:.*]] = plan.buffer 8 at
  %w = plan.global @w : !plan.buffer<f32>
  %v = plan.global @v : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  %b = plan.buffer 8 : !plan.buffer<f32>
  %c = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.launch @step(%w : f32 for 8, %[[A]] : f32 for 8)
  plan.loop 2 {
    plan.launch @step(%w : f32 for 8, %a : f32 for 8)
  }
  // CHECK: plan.copy %[[A]] : f32 to %w : f32 bytes 8
  plan.copy %a : f32 to %w : f32 bytes 8
  // CHECK: plan.launch @step(%v : f32 for 8, %[[B]] : f32 for 8)
  plan.loop 2 {
    plan.launch @step(%v : f32 for 8, %b : f32 for 8)
    plan.fill %c : f32 bytes 8 with 0
  }
  // CHECK: plan.copy %[[B]] : f32 to %v : f32 bytes 8
  plan.copy %b : f32 to %v : f32 bytes 8
  plan.end
}

// -----

// A loop's copies, and its all-reduces, stay too.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "copied_in_a_loop"
plan.program "copied_in_a_loop" phases ["update"] {
  // CHECK: %[[A:.*]] = plan.buffer 8 at
  // CHECK: %[[B:.*]] = plan.buffer 8 at
  // CHECK: %[[C:.*]] = plan.buffer 8 at
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  %b = plan.buffer 8 : !plan.buffer<f32>
  %c = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 8 with 1
  // CHECK: plan.copy %[[A]] : f32 to %w : f32 bytes 8
  plan.loop 2 {
    plan.copy %a : f32 to %w : f32 bytes 8
  }
  plan.fill %b : f32 bytes 8 with 1
  // CHECK: plan.all_reduce sum of 2 %[[B]] : f32 to %[[C]] : f32
  plan.loop 2 {
    plan.all_reduce sum of 2 %b : f32 to %c : f32 over ["tp"] payload 8
  }
  plan.end
}

// -----

// Old weights that are read from their middle, or written, by the instruction
// that makes the new ones; new ones that begin in the middle of their buffer.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
plan.kernel @part [f32 read 4, f32 write 4 over [0]]
plan.kernel @both [f32 accumulate 8, f32 write 8 over [0]]
// CHECK-LABEL: plan.program "middle_read"
plan.program "middle_read" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.launch @part(%w[4] : f32 for 4, %[[A:.*]] : f32 for 4)
  // CHECK-NEXT: plan.fill %[[A]]
  // CHECK-NEXT: plan.copy %[[A]] : f32 to %w : f32 bytes 8
  plan.launch @part(%w[4] : f32 for 4, %a : f32 for 4)
  plan.fill %a[4] : f32 bytes 4 with 0
  plan.copy %a : f32 to %w : f32 bytes 8
  plan.end
}
// CHECK-LABEL: plan.program "middle_written"
plan.program "middle_written" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.launch @part(%w : f32 for 4, %[[A:.*]][4] : f32 for 4)
  // CHECK-NEXT: plan.fill %[[A]]
  // CHECK-NEXT: plan.copy %[[A]] : f32 to %w : f32 bytes 8
  plan.launch @part(%w : f32 for 4, %a[4] : f32 for 4)
  plan.fill %a : f32 bytes 4 with 0
  plan.copy %a : f32 to %w : f32 bytes 8
  plan.end
}
// CHECK-LABEL: plan.program "written"
plan.program "written" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.launch @both(%w : f32 for 8, %[[A:.*]] : f32 for 8)
  // CHECK-NEXT: plan.copy %[[A]] : f32 to %w : f32 bytes 8
  plan.launch @both(%w : f32 for 8, %a : f32 for 8)
  plan.copy %a : f32 to %w : f32 bytes 8
  plan.end
}

// -----

// A sum over the old weights, which may be over its operand, is the new ones.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "summed_weights"
plan.program "summed_weights" phases ["update"] {
  %w = plan.global @w : !plan.buffer<f32>
  %new = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.all_reduce sum of 2 %w : f32 to %w : f32 over
  // CHECK-NEXT: plan.end
  plan.all_reduce sum of 2 %w : f32 to %new : f32 over ["tp"] payload 8
  plan.copy %new : f32 to %w : f32 bytes 8
  plan.end
}

// -----

// An argument that its kernel does not declare may be read and written.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
tp.parameter @v : tensor<2xf32> {id = 1 : i64, init = #tp.init<zeros>}
plan.kernel @few [f32 read 8]
// CHECK-LABEL: plan.program "undeclared"
plan.program "undeclared" phases ["update"] {
  // CHECK: %[[A:.*]] = plan.buffer 8 at
  // CHECK: %[[B:.*]] = plan.buffer 8 at
  %w = plan.global @w : !plan.buffer<f32>
  %v = plan.global @v : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  %b = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.launch @few(%w : f32 for 8, %[[A]] : f32 for 8)
  // CHECK-NEXT: plan.copy %[[A]] : f32 to %w : f32 bytes 8
  plan.launch @few(%w : f32 for 8, %a : f32 for 8)
  plan.copy %a : f32 to %w : f32 bytes 8
  // CHECK: plan.copy %[[B]] : f32 to %v : f32 bytes 8
  // CHECK-NEXT: plan.launch @few(%w : f32 for 8, %[[B]] : f32 for 8)
  plan.fill %b : f32 bytes 8 with 0
  plan.copy %b : f32 to %v : f32 bytes 8
  plan.launch @few(%w : f32 for 8, %b : f32 for 8)
  plan.end
}

// -----

// What an instruction behind the copy reads may be the target instead; what it
// writes may not.

tp.parameter @w : tensor<2xf32> {id = 0 : i64, init = #tp.init<zeros>}
// CHECK-LABEL: plan.program "read_behind"
plan.program "read_behind" phases ["update"] {
  // CHECK: %[[X:.*]] = plan.buffer 8 at
  // CHECK-NEXT: plan.fill %w
  // CHECK-NEXT: plan.all_to_all 1 x 1 of 2 %w : f32 to %[[X]] : f32
  // CHECK-NEXT: plan.attention %w : f32, %w : f32, %w : f32 to %[[X]] : f32, %[[X]] : f32
  // CHECK-NEXT: plan.attention_grad %w : f32, %w : f32, %w : f32, %w : f32, %w : f32 to %[[X]] : f32, %[[X]] : f32, %[[X]] : f32
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  %x = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 8 with 0
  plan.copy %a : f32 to %w : f32 bytes 8
  plan.all_to_all 1 x 1 of 2 %a : f32 to %x : f32 over ["tp"] payload 8
  plan.attention %a : f32, %a : f32, %a : f32 to %x : f32, %x : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
  plan.attention_grad %a : f32, %a : f32, %a : f32, %a : f32, %a : f32 to %x : f32, %x : f32, %x : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
  plan.end
}
// CHECK-LABEL: plan.program "exchanged_behind"
plan.program "exchanged_behind" phases ["update"] {
  // CHECK: plan.copy
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 8 with 0
  plan.copy %a : f32 to %w : f32 bytes 8
  plan.all_to_all 1 x 1 of 2 %w : f32 to %a : f32 over ["tp"] payload 8
  plan.end
}
// CHECK-LABEL: plan.program "attention_behind"
plan.program "attention_behind" phases ["update"] {
  // CHECK: plan.copy
  // CHECK: plan.copy
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  %b = plan.buffer 8 : !plan.buffer<f32>
  %x = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 8 with 0
  plan.copy %a : f32 to %w : f32 bytes 8
  plan.attention %w : f32, %w : f32, %w : f32 to %a : f32, %x : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
  plan.fill %b : f32 bytes 8 with 0
  plan.copy %b : f32 to %w : f32 bytes 8
  plan.attention %w : f32, %w : f32, %w : f32 to %x : f32, %b : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
  plan.end
}
// CHECK-LABEL: plan.program "gradient_behind"
plan.program "gradient_behind" phases ["update"] {
  // CHECK: plan.copy
  // CHECK: plan.copy
  // CHECK: plan.copy
  %w = plan.global @w : !plan.buffer<f32>
  %a = plan.buffer 8 : !plan.buffer<f32>
  %b = plan.buffer 8 : !plan.buffer<f32>
  %c = plan.buffer 8 : !plan.buffer<f32>
  %x = plan.buffer 8 : !plan.buffer<f32>
  plan.fill %a : f32 bytes 8 with 0
  plan.copy %a : f32 to %w : f32 bytes 8
  plan.attention_grad %w : f32, %w : f32, %w : f32, %w : f32, %w : f32 to %a : f32, %x : f32, %x : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
  plan.fill %b : f32 bytes 8 with 0
  plan.copy %b : f32 to %w : f32 bytes 8
  plan.attention_grad %w : f32, %w : f32, %w : f32, %w : f32, %w : f32 to %x : f32, %b : f32, %x : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
  plan.fill %c : f32 bytes 8 with 0
  plan.copy %c : f32 to %w : f32 bytes 8
  plan.attention_grad %w : f32, %w : f32, %w : f32, %w : f32, %w : f32 to %x : f32, %x : f32, %c : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
  plan.end
}
