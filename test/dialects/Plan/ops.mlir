// RUN: tp-opt %s | tp-opt | FileCheck %s
// RUN: tp-opt %s --mlir-print-op-generic | tp-opt | FileCheck %s
//
// Every op of the plan dialect reads back what it prints, properties too.

#mesh = #tp.mesh<"dp"=2 batch, "tp"=3>
// CHECK: module
module attributes {tp.mesh = #mesh} {
  // CHECK: tp.parameter @w : tensor<4x5xf32> {{.*}}plan.offset = 64 : i64
  tp.parameter @w : tensor<4x5xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.offset = 64 : i64}
  // CHECK: plan.constant @table at 128 = dense<{{.*}}> : tensor<2x3xf32>
  plan.constant @table at 128 = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, -0.5]]> : tensor<2x3xf32>
  // CHECK: plan.constant @unplaced = dense<7> : tensor<2xi32>
  plan.constant @unplaced = dense<7> : tensor<2xi32>
  // CHECK: plan.kernel @compiled [i32 read 8, f32 accumulate 24] ints 2{{$}}
  plan.kernel @compiled [i32 read 8, f32 accumulate 24] ints 2
  // CHECK: plan.kernel @halve [f32 read 24, f32 write 24 over [0]] {
  // CHECK-NEXT: "kernel rows [2] cols 3 ints 0"
  // CHECK: "  store arg1 offset 0 %2"
  // CHECK-NEXT: }
  plan.kernel @halve [f32 read 24, f32 write 24 over [0]] {
    "kernel rows [2] cols 3 ints 0"
    "  arg0: f32 read offset 0 rows [3] col 1"
    "  arg1: f32 write offset 0 rows [3] col 1"
    "  %0 = load arg0 offset 0 : f32 full"
    "  %1 = const 3f000000 (5.000000e-01) : f32 scalar"
    "  %2 = mul %0 %1 : f32 full"
    "  store arg1 offset 0 %2"
  }
  // Elements of each type that a kernel has.
  // CHECK: plan.kernel @types [f32 read 4, i32 read 4, i64 read 8, bf16 write 2, i1 write 1] {
  plan.kernel @types [f32 read 4, i32 read 4, i64 read 8, bf16 write 2, i1 write 1] {
    "kernel rows [] cols 1 ints 0"
    "  arg0: f32 read offset 0 rows [] col 1"
    "  arg1: i32 read offset 0 rows [] col 1"
    "  arg2: i64 read offset 0 rows [] col 1"
    "  arg3: bf16 write offset 0 rows [] col 1"
    "  arg4: i1 write offset 0 rows [] col 1"
    "  %0 = load arg0 offset 0 : f32 col"
    "  store arg3 offset 0 %0"
    "  %2 = compare lt %0 %0 : i1 col"
    "  store arg4 offset 0 %2"
  }
  // CHECK: plan.object "a cpu" "+its,+features" = dense<[127, 69]> : tensor<2xi8>
  plan.object "a cpu" "+its,+features" = dense<[127, 69]> : tensor<2xi8>

  // CHECK: plan.program "memory" ranks [0, 2] phases ["forward"] scratch 640 input 128 saves 4 gradients 8 {
  plan.program "memory" ranks [0, 2] phases ["forward"] scratch 640 input 128 saves 4 gradients 8 {
    // CHECK: plan.input 64 "x" role "" as tensor<8x2xf32> : !plan.buffer<f32>
    %x = plan.input 64 "x" role "" as tensor<8x2xf32> : !plan.buffer<f32>
    // CHECK: plan.input 20 "y" role "labels" as tensor<5xi32> batch 0 range -3 to 9 pads -100 at 64 : !plan.buffer<i32>
    %y = plan.input 20 "y" role "labels" as tensor<5xi32> batch 0 range -3 to 9 pads -100 at 64 : !plan.buffer<i32>
    // A bound of 0 on either side is one.
    // CHECK: plan.input 20 "below" role "" as tensor<5xi32> range -3 to 0 : !plan.buffer<i32>
    %below = plan.input 20 "below" role "" as tensor<5xi32> range -3 to 0 : !plan.buffer<i32>
    // CHECK: plan.input 20 "above" role "" as tensor<5xi32> range 0 to 9 : !plan.buffer<i32>
    %above = plan.input 20 "above" role "" as tensor<5xi32> range 0 to 9 : !plan.buffer<i32>
    // CHECK: plan.buffer 24 : !plan.buffer<bf16>
    %a = plan.buffer 24 : !plan.buffer<bf16>
    // CHECK: %[[B:.*]] = plan.buffer 40 "its name" at 576 : !plan.buffer<i64>
    %b = plan.buffer 40 "its name" at 576 : !plan.buffer<i64>
    // CHECK: plan.global @w : !plan.buffer<f32>
    %w = plan.global @w : !plan.buffer<f32>
    // CHECK: plan.scalars : !plan.buffer<i8>
    %s = plan.scalars : !plan.buffer<i8>
    // CHECK: plan.output "o" role "gradient" parameter @w %{{.*}}[16 + 8 * c1] : f32 as tensor<2xf32>
    plan.output "o" role "gradient" parameter @w %w[16 + 8 * c1] : f32 as tensor<2xf32>
    // CHECK: plan.output "p" %[[B]] : i64 as tensor<i64>
    plan.output "p" %b : i64 as tensor<i64>
    plan.end
  }

  // CHECK: plan.program "instructions" phases ["forward", "backward", "update"] {
  plan.program "instructions" phases ["forward", "backward", "update"] {
    %a = plan.buffer 600 : !plan.buffer<f32>
    %b = plan.buffer 600 : !plan.buffer<f32>
    %i = plan.buffer 8 : !plan.buffer<i32>
    // CHECK: plan.gemm 2 x 3 x 4 %{{.*}} : f32 by 4, %{{.*}} : f32 by 5 to %{{.*}} : f32 by 6{{$}}
    plan.gemm 2 x 3 x 4 %a : f32 by 4, %a : f32 by 5 to %b : f32 by 6
    // CHECK: plan.gemm 2 x 3 x 4 %{{.*}}[8] : f32 by 2 transposed, %{{.*}}[4 * c0] : f32 by 4 transposed to %{{.*}} : f32 by 3 alpha 2.500000e-01 beta 1.000000e+00 stream 1 "a name"
    plan.gemm 2 x 3 x 4 %a[8] : f32 by 2 transposed, %a[4 * c0] : f32 by 4 transposed to %b : f32 by 3 alpha 0.25 beta 1.0 stream 1 "a name"
    // CHECK: plan.launch @halve(%{{.*}} : f32 for 24, %{{.*}}[24] : f32 for 24) "one"
    plan.launch @halve(%a : f32 for 24, %b[24] : f32 for 24) "one"
    // CHECK: plan.loop 3 {
    // CHECK-NEXT: plan.loop 2 {
    // CHECK-NEXT: plan.launch @compiled(%{{.*}} : i32 for 8, %{{.*}}[4 + 24 * l0 + 100 * l1 + -4 * c1] : f32 for 30) ints {{\[}}[0], [7 + 1 * l1 + 2 * c0]] stream 2
    // CHECK-NEXT: }
    // CHECK-NEXT: } "outer"
    plan.loop 3 {
      plan.loop 2 {
        plan.launch @compiled(%i : i32 for 8, %b[4 + 24 * l0 + 100 * l1 + -4 * c1] : f32 for 30) ints [[0], [7 + 1 * l1 + 2 * c0]] stream 2
      }
    } "outer"
    // CHECK: plan.copy %{{.*}}[40] : f32 to %{{.*}} : f32 bytes 16 "c"
    plan.copy %a[40] : f32 to %b : f32 bytes 16 "c"
    // CHECK: plan.next
    plan.next ^backward
  ^backward:
    // CHECK: plan.fill %{{.*}} : f32 bytes 12 with 255
    plan.fill %a : f32 bytes 12 with 255
    // CHECK: plan.record 3 stream 1
    plan.record 3 stream 1
    // CHECK: plan.wait 3{{$}}
    plan.wait 3
    // CHECK: plan.all_reduce sum of 9 %{{.*}} : f32 to %{{.*}} : f32 over ["dp", "tp"] payload 36 reason "it" "name"
    plan.all_reduce sum of 9 %a : f32 to %a : f32 over ["dp", "tp"] payload 36 reason "it" "name"
    // CHECK: plan.all_reduce max of 9 %{{.*}} : f32 to %{{.*}} : f32 over ["tp"] payload 36{{$}}
    plan.all_reduce max of 9 %a : f32 to %b : f32 over ["tp"] payload 36
    // CHECK: plan.all_gather 2 x 3 of 5 %
    plan.all_gather 2 x 3 of 5 %a : f32 to %b : f32 over ["tp"] payload 40
    // CHECK: plan.reduce_scatter 2 x 3 of 5 %
    plan.reduce_scatter 2 x 3 of 5 %a : f32 to %b : f32 over ["tp"] payload 40
    // CHECK: plan.all_to_all 2 x 3 of 9 %
    plan.all_to_all 2 x 3 of 9 %a : f32 to %b : f32 over ["tp"] payload 72
    plan.next ^update
  ^update:
    // CHECK: plan.attention %{{.*}} : f32, %{{.*}} : f32, %{{.*}}[4] : f32 to %{{.*}} : f32, %{{.*}} : f32 sizes [1, 2, 1, 3, 3, 2] scale 5.000000e-01{{$}}
    plan.attention %a : f32, %a : f32, %a[4] : f32 to %b : f32, %b : f32 sizes [1, 2, 1, 3, 3, 2] scale 5.0e-01
    // CHECK: plan.attention_grad {{.*}} sizes [1, 2, 1, 3, 3, 2] scale 5.000000e-01 causal window 2 dropout 1.000000e-01 id 4 whole [2, 2, 1, 3, 3] starts {{\[}}[1 * c0], [0], [0], [0], [0]]
    plan.attention_grad %a : f32, %a : f32, %a : f32, %a : f32, %a : f32 to %b : f32, %b : f32, %b : f32 sizes [1, 2, 1, 3, 3, 2] scale 5.0e-01 causal window 2 dropout 0.1 id 4 whole [2, 2, 1, 3, 3] starts [[1 * c0], [0], [0], [0], [0]]
    plan.end
  }
}
