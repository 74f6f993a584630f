// RUN: tp-opt %s --split-input-file --plan-expand-attention | FileCheck %s
//
// Attention becomes tiles of query rows: two GEMMs and one kernel each.

// Two tiles of 64 and 36 rows for 100 queries; a causal tile sees the keys up
// to its last row. b 2, m 3, g 5, d 4: rows are 60 elements apart, keys 12.

// CHECK-LABEL: plan.program "causal"
plan.program "causal" phases ["forward"] {
  %q = plan.buffer 48000 : !plan.buffer<f32>
  %k = plan.buffer 9600 : !plan.buffer<f32>
  %v = plan.buffer 9600 : !plan.buffer<f32>
  %y = plan.buffer 48000 : !plan.buffer<f32>
  %lse = plan.buffer 12000 : !plan.buffer<f32>
  // CHECK: %[[Q:.*]] = plan.buffer 48000
  // CHECK: %[[K:.*]] = plan.buffer 9600
  // CHECK: %[[V:.*]] = plan.buffer 9600
  // CHECK: %[[Y:.*]] = plan.buffer 48000
  // CHECK: %[[LSE:.*]] = plan.buffer 12000
  // CHECK: %[[S:.*]] = plan.buffer 25600 : !plan.buffer<f32>
  // CHECK-NEXT: plan.loop 2 {
  // CHECK-NEXT: plan.loop 3 {
  // CHECK-NEXT: plan.loop 5 {
  // CHECK-NEXT: plan.gemm 64 x 64 x 4 %[[Q]][16 * l0 + 80 * l1 + 24000 * l2] : f32 by 60, %[[K]][16 * l1 + 4800 * l2] : f32 by 12 transposed to %[[S]] : f32 by 64 alpha 5.000000e-01 "a"
  // CHECK-NEXT: plan.launch @[[TILE0:.*]](%[[S]] : f32 for 16384, %[[S]] : f32 for 16384, %[[LSE]][4 * l0 + 20 * l1 + 6000 * l2] : f32 for 3784) "a"
  // CHECK-NEXT: plan.gemm 64 x 4 x 64 %[[S]] : f32 by 64, %[[V]][16 * l1 + 4800 * l2] : f32 by 12 to %[[Y]][16 * l0 + 80 * l1 + 24000 * l2] : f32 by 60 "a"
  // CHECK-NEXT: plan.gemm 36 x 100 x 4 %[[Q]][15360 + 16 * l0 + 80 * l1 + 24000 * l2] : f32 by 60, %[[K]][16 * l1 + 4800 * l2] : f32 by 12 transposed to %[[S]] : f32 by 100 alpha 5.000000e-01 "a"
  // CHECK-NEXT: plan.launch @[[TILE1:.*]](%[[S]] : f32 for 14400, %[[S]] : f32 for 14400, %[[LSE]][3840 + 4 * l0 + 20 * l1 + 6000 * l2] : f32 for 2104) "a"
  // CHECK-NEXT: plan.gemm 36 x 4 x 100 %[[S]] : f32 by 100, %[[V]][16 * l1 + 4800 * l2] : f32 by 12 to %[[Y]][15360 + 16 * l0 + 80 * l1 + 24000 * l2] : f32 by 60 "a"
  // CHECK-NOT: plan.attention
  plan.attention %q : f32, %k : f32, %v : f32 to %y : f32, %lse : f32 sizes [2, 3, 5, 100, 100, 4] scale 0.5 causal "a"
  plan.end
}

// -----

// Without a mask every tile sees all keys; with equal tiles there is one kernel.
// Heads of q begin 32 bytes into a buffer that holds k and v too.

// CHECK: plan.kernel @kernel0
// CHECK-NOT: plan.kernel
// CHECK-LABEL: plan.program "unmasked"
plan.program "unmasked" phases ["forward"] {
  %a = plan.buffer 16384 : !plan.buffer<f32>
  %y = plan.buffer 2048 : !plan.buffer<f32>
  // CHECK: %[[A:.*]] = plan.buffer 16384
  // CHECK: plan.gemm 64 x 7 x 4 %[[A]][32 + 16 * l0 + 16 * l1 + 2048 * l2] : f32 by 4, %[[A]][4096 + 16 * l1 + 112 * l2] : f32 by 4 transposed to
  // CHECK: plan.launch @kernel0
  // CHECK: plan.gemm 64 x 7 x 4 %[[A]][1056 + 16 * l0 + 16 * l1 + 2048 * l2] : f32 by 4
  // CHECK: plan.launch @kernel0
  plan.attention %a[32] : f32, %a[4096] : f32, %a[8192] : f32 to %y : f32, %a[12288] : f32 sizes [1, 1, 1, 128, 7, 4] scale 1.0
  plan.end
}

// -----

// A window of 40 over 100 keys: the second tile, rows 64 to 99, sees keys from
// 64 + 1 - 40 = 25 on.

// CHECK-LABEL: plan.program "window"
plan.program "window" phases ["forward"] {
  %q = plan.buffer 1600 : !plan.buffer<f32>
  %y = plan.buffer 1600 : !plan.buffer<f32>
  %lse = plan.buffer 400 : !plan.buffer<f32>
  // CHECK: %[[Q:.*]] = plan.buffer 1600
  // CHECK: plan.gemm 64 x 64 x 4 %[[Q]][16 * l0
  // CHECK: plan.gemm 36 x 75 x 4 %[[Q]][1024 + 16 * l0 {{.*}}, %[[Q]][400 + 16 * l1
  // CHECK: plan.gemm 36 x 4 x 75 {{.*}}, %[[Q]][400 + 16 * l1
  plan.attention %q : f32, %q : f32, %q : f32 to %y : f32, %lse : f32 sizes [1, 1, 1, 100, 100, 4] scale 1.0 causal window 40
  plan.end
}

// -----

// Dropout takes the place in the whole tensor: batch 3 blocks of 2, groups by
// the second mesh axis; loops and coordinates are integers of the kernel.

// CHECK: "  arg{{.*}}: i64 read offset 2 rows [0] col 0"
// CHECK: philox_uniform stream 9
// CHECK-LABEL: plan.program "dropout"
plan.program "dropout" phases ["forward"] {
  // CHECK: %[[SCALARS:.*]] = plan.scalars
  %q = plan.buffer 192 : !plan.buffer<f32>
  %k = plan.buffer 192 : !plan.buffer<f32>
  %y = plan.buffer 192 : !plan.buffer<f32>
  %lse = plan.buffer 48 : !plan.buffer<f32>
  // CHECK: plan.launch @{{.*}}(%{{.*}}, %[[SCALARS]] : i8 for 24, %[[SCALARS]] : i8 for 32, {{.*}}) ints {{\[}}[1 * l2 + 2 * c0], [1 * l1 + 1 * c1], [1 * l0]]
  plan.attention %q : f32, %k : f32, %k : f32 to %y : f32, %lse : f32 sizes [2, 1, 2, 3, 3, 4] scale 1.0 dropout 0.25 id 9 whole [6, 4, 2, 3, 3] starts [[2 * c0], [1 * c1], [0], [0], [0]]
  plan.end
}

// -----

// Queries and keys that begin at a place of their own in the whole tensor, two
// tiles: the second one begins 64 queries further on.

// CHECK-LABEL: plan.program "later_rows"
plan.program "later_rows" phases ["forward"] {
  %q = plan.buffer 1120 : !plan.buffer<f32>
  %k = plan.buffer 48 : !plan.buffer<f32>
  %y = plan.buffer 1120 : !plan.buffer<f32>
  %lse = plan.buffer 280 : !plan.buffer<f32>
  // CHECK: plan.launch {{.*}} ints {{\[}}[1 * l2], [1 * l1], [1 * l0], [70 * c0], [3 * c1]]
  // CHECK: plan.launch {{.*}} ints {{\[}}[1 * l2], [1 * l1], [1 * l0], [64 + 70 * c0], [3 * c1]]
  plan.attention %q : f32, %k : f32, %k : f32 to %y : f32, %lse : f32 sizes [1, 1, 1, 70, 3, 4] scale 1.0 dropout 0.25 id 9 whole [1, 1, 1, 140, 6] starts [[0], [0], [0], [70 * c0], [3 * c1]]
  plan.end
}

// -----

// The gradient: dk and dv are sums over tiles, begun at zero; five GEMMs a tile.

// CHECK-LABEL: plan.program "gradient"
plan.program "gradient" phases ["backward"] {
  %q = plan.buffer 1600 : !plan.buffer<f32>
  %k = plan.buffer 800 : !plan.buffer<f32>
  %lse = plan.buffer 200 : !plan.buffer<f32>
  %dq = plan.buffer 1600 : !plan.buffer<f32>
  %dk = plan.buffer 800 : !plan.buffer<f32>
  %dv = plan.buffer 800 : !plan.buffer<f32>
  // CHECK: %[[Q:.*]] = plan.buffer 1600
  // CHECK: %[[K:.*]] = plan.buffer 800
  // CHECK: %[[LSE:.*]] = plan.buffer 200
  // CHECK: %[[DQ:.*]] = plan.buffer 1600
  // CHECK: %[[DK:.*]] = plan.buffer 800
  // CHECK: %[[DV:.*]] = plan.buffer 800
  // CHECK: %[[S:.*]] = plan.buffer 2500
  // CHECK: %[[DS:.*]] = plan.buffer 2500
  // CHECK-NEXT: plan.fill %[[DK]] : f32 bytes 800 with 0
  // CHECK-NEXT: plan.fill %[[DV]] : f32 bytes 800 with 0
  // CHECK-NEXT: plan.loop 1 {
  // CHECK-NEXT: plan.loop 1 {
  // CHECK-NEXT: plan.loop 2 {
  // CHECK-NEXT: plan.gemm 25 x 25 x 8 %[[Q]]{{.*}} : f32 by 16, %[[K]]{{.*}} : f32 by 8 transposed to %[[S]] : f32 by 25 alpha 2.500000e-01
  // CHECK-NEXT: plan.gemm 25 x 25 x 8 %[[Q]]{{.*}} : f32 by 16, %[[K]]{{.*}} : f32 by 8 transposed to %[[DS]] : f32 by 25{{$}}
  // CHECK-NEXT: plan.launch @kernel0(%[[S]] : f32 for 2500, %[[LSE]][4 * l0 + 8 * l1 + 200 * l2] : f32 for 196, %[[DS]] : f32 for 2500, %[[S]] : f32 for 2500, %[[DS]] : f32 for 2500)
  // CHECK-NEXT: plan.gemm 25 x 8 x 25 %[[S]] : f32 by 25 transposed, %[[Q]]{{.*}} : f32 by 16 to %[[DV]]{{.*}} : f32 by 8 beta 1.000000e+00
  // CHECK-NEXT: plan.gemm 25 x 8 x 25 %[[DS]] : f32 by 25 transposed, %[[Q]]{{.*}} : f32 by 16 to %[[DK]]{{.*}} : f32 by 8 alpha 2.500000e-01 beta 1.000000e+00
  // CHECK-NEXT: plan.gemm 25 x 8 x 25 %[[DS]] : f32 by 25, %[[K]]{{.*}} : f32 by 8 to %[[DQ]]{{.*}} : f32 by 16 alpha 2.500000e-01
  plan.attention_grad %q : f32, %k : f32, %k : f32, %lse : f32, %q : f32 to %dq : f32, %dk : f32, %dv : f32 sizes [1, 1, 2, 25, 25, 8] scale 0.25
  plan.end
}

// -----

// A kernel that is compiled already has no text to compare with, and keeps its
// name.

// CHECK: plan.kernel @kernel0 [f32 read 8]{{$}}
// CHECK: plan.kernel @[[TILE:kernel0_[0-9]+]] [f32 read 4, {{.*}} {
plan.kernel @kernel0 [f32 read 8]
// CHECK-LABEL: plan.program "name_taken"
plan.program "name_taken" phases ["forward"] {
  %a = plan.buffer 8 : !plan.buffer<f32>
  %y = plan.buffer 8 : !plan.buffer<f32>
  // CHECK: plan.launch @[[TILE]](
  plan.attention %a : f32, %a : f32, %a : f32 to %y : f32, %y : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
  plan.end
}

// -----

// In bf16 scores are f32 and probabilities bf16 beside them.

// CHECK-LABEL: plan.program "bf16"
plan.program "bf16" phases ["forward"] {
  // CHECK: %[[Q:.*]] = plan.buffer 24000
  %q = plan.buffer 24000 : !plan.buffer<bf16>
  // CHECK: %[[K:.*]] = plan.buffer 4800
  %k = plan.buffer 4800 : !plan.buffer<bf16>
  // CHECK: %[[Y:.*]] = plan.buffer 24002
  %y = plan.buffer 24002 : !plan.buffer<bf16>
  // CHECK: %[[LSE:.*]] = plan.buffer 12000
  %lse = plan.buffer 12000 : !plan.buffer<f32>
  // CHECK: %[[S:.*]] = plan.buffer 25600 : !plan.buffer<f32>
  // CHECK: %[[P:.*]] = plan.buffer 12800 : !plan.buffer<bf16>
  // CHECK-NEXT: plan.loop 2 {
  // CHECK-NEXT: plan.loop 3 {
  // CHECK-NEXT: plan.loop 5 {
  // CHECK-NEXT: plan.gemm 64 x 64 x 4 %[[Q]][8 * l0 + 40 * l1 + 12000 * l2] : bf16 by 60, %[[K]][8 * l1 + 2400 * l2] : bf16 by 12 transposed to %[[S]] : f32 by 64 alpha 5.000000e-01
  // CHECK-NEXT: plan.launch @{{.*}}(%[[S]] : f32 for 16384, %[[P]] : bf16 for 8192, %[[LSE]][4 * l0 + 20 * l1 + 6000 * l2] : f32 for 3784)
  // CHECK-NEXT: plan.gemm 64 x 4 x 64 %[[P]] : bf16 by 64, %[[K]][8 * l1 + 2400 * l2] : bf16 by 12 to %[[Y]][2 + 8 * l0 + 40 * l1 + 12000 * l2] : bf16 by 60
  plan.attention %q : bf16, %k : bf16, %k : bf16 to %y[2] : bf16, %lse : f32 sizes [2, 3, 5, 100, 100, 4] scale 0.5 causal
  plan.end
}

// -----

// Gradients of keys and values are sums of f32, of a group by itself, rounded
// once by the kernel that clears them for the next group.

// CHECK-LABEL: plan.program "bf16_gradient"
plan.program "bf16_gradient" phases ["forward"] {
  %q = plan.buffer 24000 : !plan.buffer<bf16>
  %k = plan.buffer 4800 : !plan.buffer<bf16>
  %lse = plan.buffer 12000 : !plan.buffer<f32>
  %dq = plan.buffer 24000 : !plan.buffer<bf16>
  // CHECK: %[[DK:.*]] = plan.buffer 4802
  %dk = plan.buffer 4802 : !plan.buffer<bf16>
  // CHECK: %[[DV:.*]] = plan.buffer 4804
  %dv = plan.buffer 4804 : !plan.buffer<bf16>
  // CHECK: plan.buffer 25600 : !plan.buffer<f32>
  // CHECK: plan.buffer 25600 : !plan.buffer<f32>
  // CHECK: %[[P:.*]] = plan.buffer 12800 : !plan.buffer<bf16>
  // CHECK: %[[DS:.*]] = plan.buffer 12800 : !plan.buffer<bf16>
  // CHECK: %[[SK:.*]] = plan.buffer 1600 : !plan.buffer<f32>
  // CHECK-NEXT: plan.fill %[[SK]] : f32 bytes 1600 with 0
  // CHECK-NEXT: %[[SV:.*]] = plan.buffer 1600 : !plan.buffer<f32>
  // CHECK-NEXT: plan.fill %[[SV]] : f32 bytes 1600 with 0
  // CHECK-NEXT: plan.loop 2 {
  // CHECK-NEXT: plan.loop 3 {
  // CHECK-NEXT: plan.loop 5 {
  // CHECK: plan.gemm 100 x 4 x 64 %[[P]] : bf16 by 100 transposed, {{.*}} : bf16 by 60 to %[[SV]] : f32 by 4 beta 1.000000e+00
  // CHECK: plan.gemm 100 x 4 x 64 %[[DS]] : bf16 by 100 transposed, {{.*}} : bf16 by 60 to %[[SK]] : f32 by 4 alpha 5.000000e-01 beta 1.000000e+00
  // CHECK: plan.gemm 64 x 4 x 100 %[[DS]] : bf16 by 100, {{.*}} : bf16 by 60
  // CHECK: plan.gemm 100 x 4 x 36 %[[P]] : bf16 by 100 transposed, {{.*}} to %[[SV]] : f32 by 4 beta 1.000000e+00
  // CHECK: }
  // CHECK-NEXT: plan.launch @{{.*}}(%[[SK]] : f32 for 1600, %[[DK]][2 + 8 * l0 + 2400 * l1] : bf16 for 2384, %[[SK]] : f32 for 1600, %[[SV]] : f32 for 1600, %[[DV]][4 + 8 * l0 + 2400 * l1] : bf16 for 2384, %[[SV]] : f32 for 1600)
  plan.attention_grad %q : bf16, %k : bf16, %k : bf16, %lse : f32, %q : bf16 to %dq : bf16, %dk[2] : bf16, %dv[4] : bf16 sizes [2, 3, 5, 100, 100, 4] scale 0.5
  plan.end
}
