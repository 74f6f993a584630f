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
