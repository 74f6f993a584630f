// RUN: rm -rf %t && mkdir %t
// RUN: tp-translate --mlir-to-plan %s -o %t/a.plan
// RUN: tp-translate --plan-to-mlir %t/a.plan -o %t/a.mlir
// RUN: FileCheck %s --input-file=%t/a.mlir
// RUN: tp-translate --mlir-to-plan %t/a.mlir -o %t/b.plan && cmp %t/a.plan %t/b.plan
//
// Every instruction of a plan file, and elements of each type, as IR and as
// tables: nothing is lost on either way.

#mesh = #tp.mesh<"dp"=2 batch, "tp"=3>
// CHECK: #mesh = #tp.mesh<"dp"=2 batch, "tp"=3>
// Numbers of the optimizer that are left out are 0.
// CHECK: tp.optimizer = {beta1 = 9.000000e-01 : f64, beta2 = 0.000000e+00 : f64, clip_grad_norm = 0.000000e+00 : f64, eps = 1.000000e-08 : f64, weight_decay = 0.000000e+00 : f64}
module attributes {tp.mesh = #mesh, tp.optimizer = {beta1 = 0.9, eps = 1.0e-8}} {
  // CHECK: tp.parameter @w : tensor<16xf32> {{.*}}plan.offset = 0
  tp.parameter @w : tensor<16xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.offset = 0 : i64}
  // CHECK: tp.state @m of @w "moment" : tensor<16xf32> {{.*}}plan.offset = 64
  tp.state @m of @w "moment" : tensor<16xf32> {plan.offset = 64 : i64}
  // CHECK: plan.constant @f32 at 0 = dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf32>
  plan.constant @f32 at 0 = dense<[1.5, -2.0]> : tensor<2xf32>
  // CHECK: plan.constant @bf16 at 64 = dense<[1.500000e+00, -2.000000e+00, 3.000000e+00]> : tensor<3xbf16>
  plan.constant @bf16 at 64 = dense<[1.5, -2.0, 3.0]> : tensor<3xbf16>
  // CHECK: plan.constant @i64 at 128 = dense<[-1, 4294967296]> : tensor<2xi64>
  plan.constant @i64 at 128 = dense<[-1, 4294967296]> : tensor<2xi64>
  // CHECK: plan.constant @i32 at 192 = dense<7> : tensor<5xi32>
  plan.constant @i32 at 192 = dense<7> : tensor<5xi32>
  // CHECK: plan.constant @i1 at 256 = dense<[true, false, false, true, true, false, true, false, true]> : tensor<9xi1>
  plan.constant @i1 at 256 = dense<[true, false, false, true, true, false, true, false, true]> : tensor<9xi1>
  // CHECK: plan.constant @ones at 320 = dense<true> : tensor<4xi1>
  plan.constant @ones at 320 = dense<true> : tensor<4xi1>
  // CHECK: plan.constant @i8 at 384 = dense<[-1, 127]> : tensor<2xi8>
  plan.constant @i8 at 384 = dense<[-1, 127]> : tensor<2xi8>
  // CHECK: plan.kernel @types [f32 read 4, bf16 write 2, i64 read 8, i32 accumulate 4, i1 read 1, i8 read 1] ints 1
  plan.kernel @types [f32 read 4, bf16 write 2, i64 read 8, i32 accumulate 4, i1 read 1, i8 read 1] ints 1

  // CHECK: plan.program "all" phases ["forward", "update"] scratch 512 input 192 {
  plan.program "all" phases ["forward", "update"] scratch 512 input 192 {
    // CHECK: plan.input 32 "a" role "" as tensor<4x4xbf16> at 0 : !plan.buffer<bf16>
    // CHECK: plan.input 32 "b" role "" as tensor<4xi64> batch 0 range -3 to 9 pads 2 at 64 : !plan.buffer<i64>
    // CHECK: plan.input 4 "c" role "" as tensor<4xi1> pads 1 at 128 : !plan.buffer<i1>
    %a = plan.input 32 "a" role "" as tensor<4x4xbf16> at 0 : !plan.buffer<bf16>
    %b = plan.input 32 "b" role "" as tensor<4xi64> batch 0 range -3 to 9 pads 2 at 64 : !plan.buffer<i64>
    %c = plan.input 4 "c" role "" as tensor<4xi1> pads 1 at 128 : !plan.buffer<i1>
    // CHECK: plan.buffer 192 "its name" at 0 : !plan.buffer<f32>
    // CHECK: plan.buffer 192 at 192 : !plan.buffer<f32>
    // CHECK: plan.buffer 32 at 384 : !plan.buffer<bf16>
    // CHECK: plan.buffer 4 at 448 : !plan.buffer<i32>
    %x = plan.buffer 192 "its name" at 0 : !plan.buffer<f32>
    %y = plan.buffer 192 at 192 : !plan.buffer<f32>
    %z = plan.buffer 32 at 384 : !plan.buffer<bf16>
    %i = plan.buffer 4 at 448 : !plan.buffer<i32>
    %w = plan.global @w : !plan.buffer<f32>
    %t = plan.global @i8 : !plan.buffer<i8>
    %s = plan.scalars : !plan.buffer<i8>
    // What nothing uses is no buffer.
    // CHECK-NOT: plan.scalars
    // CHECK: plan.fill %{{.*}} : f32 bytes 192 with 3 "made"
    plan.fill %x : f32 bytes 192 with 3 "made"
    // CHECK: plan.fill %{{.*}} : i32 bytes 4 with 0
    plan.fill %i : i32 bytes 4 with 0
    // CHECK: plan.copy %{{.*}}[8] : bf16 to %{{.*}}[4] : bf16 bytes 6 "copied"
    plan.copy %a[8] : bf16 to %z[4] : bf16 bytes 6 "copied"
    // CHECK: plan.launch @types({{.*}}[8 + 4 * c1] : f32 for 4, {{.*}} : bf16 for 2, {{.*}} : i64 for 8, {{.*}} : i32 for 4, {{.*}} : i1 for 1, {{.*}} : i8 for 1) ints {{\[}}[7 + 2 * c0]]
    plan.launch @types(%x[8 + 4 * c1] : f32 for 4, %z : bf16 for 2, %b : i64 for 8, %i : i32 for 4, %c : i1 for 1, %t : i8 for 1) ints [[7 + 2 * c0]]
    // CHECK: plan.all_reduce sum of 9 %{{.*}} : f32 to %{{.*}} : f32 over ["dp", "tp"] payload 36 reason "it" "name"
    plan.all_reduce sum of 9 %x : f32 to %x : f32 over ["dp", "tp"] payload 36 reason "it" "name"
    // CHECK: plan.all_reduce max of 4 %{{.*}} : f32 to %{{.*}}[16] : f32 over ["tp"] payload 16
    plan.all_reduce max of 4 %x : f32 to %y[16] : f32 over ["tp"] payload 16
    // CHECK: plan.all_gather 2 x 3 of 8 %{{.*}} : f32 to %{{.*}} : f32 over ["tp"] payload 40 reason "wanted whole" "gathered"
    plan.all_gather 2 x 3 of 8 %x : f32 to %y : f32 over ["tp"] payload 40 reason "wanted whole" "gathered"
    // CHECK: plan.reduce_scatter 2 x 3 of 8 %{{.*}}[4] : f32 to %{{.*}}[8] : f32 over ["tp"] payload 44 reason "wanted in parts" "scattered"
    plan.reduce_scatter 2 x 3 of 8 %x[4] : f32 to %y[8] : f32 over ["tp"] payload 44 reason "wanted in parts" "scattered"
    // CHECK: plan.all_to_all 2 x 3 of 18 %{{.*}} : f32 to %{{.*}} : f32 over ["dp", "tp"] payload 72 reason "other way" "exchanged"
    plan.all_to_all 2 x 3 of 18 %x : f32 to %y : f32 over ["dp", "tp"] payload 72 reason "other way" "exchanged"
    // CHECK: plan.record 3 "behind it all"
    plan.record 3 "behind it all"
    // CHECK: plan.next
    plan.next ^update
  ^update:
    // CHECK: plan.wait 3 stream 1 "for all"
    plan.wait 3 stream 1 "for all"
    // CHECK: plan.copy %{{.*}} : f32 to %{{.*}} : f32 bytes 64 stream 1
    plan.copy %y : f32 to %w : f32 bytes 64 stream 1
    // CHECK: plan.record 4 stream 1
    plan.record 4 stream 1
    // CHECK: plan.wait 4{{$}}
    plan.wait 4
    // CHECK: plan.output "p" %{{.*}}[4] : bf16 as tensor<3xbf16>
    plan.output "p" %z[4] : bf16 as tensor<3xbf16>
    // CHECK: plan.output "q" %{{.*}} : i1 as tensor<4xi1>
    plan.output "q" %c : i1 as tensor<4xi1>
    // CHECK: plan.output "r" role "gradient" parameter @w %{{.*}} : f32 as tensor<16xf32>
    plan.output "r" role "gradient" parameter @w %x : f32 as tensor<16xf32>
    plan.end
  }
  // Ranks with programs of their own.
  // CHECK: plan.program "parts" ranks [0, 2, 4] phases ["forward"] scratch 64 saves 4 gradients 8 {
  plan.program "parts" ranks [0, 2, 4] phases ["forward"] scratch 64 saves 4 gradients 8 {
    // CHECK: plan.loop 3 {
    // CHECK-NEXT: plan.loop 2 {
    // CHECK-NEXT: plan.fill %{{.*}}[8 * l0 + 16 * l1] : f32 bytes 8 with 255
    // CHECK-NEXT: }
    // CHECK-NEXT: plan.fill
    // CHECK-NEXT: } "outer"
    // CHECK-NEXT: plan.end
    %a = plan.buffer 48 at 0 : !plan.buffer<f32>
    plan.loop 3 {
      plan.loop 2 {
        plan.fill %a[8 * l0 + 16 * l1] : f32 bytes 8 with 255
      }
      plan.fill %a[16 * l0] : f32 bytes 16 with 1
    } "outer"
    plan.end
  }
  // CHECK: plan.program "parts" ranks [1, 3, 5] phases ["forward"] {
  plan.program "parts" ranks [1, 3, 5] phases ["forward"] {
    plan.end
  }
}
