// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --plan-verify
// RUN: rm -f %t.plan && tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --plan-write="output=%t.plan" && not ls %t.plan
// RUN: tp-translate %s --split-input-file --verify-diagnostics --mlir-to-plan -o %t.plan
//
// IR that has no tables: nothing says how many ranks there are, something has
// no place, has other bytes than elements, or is no instruction of a file. No
// file is written then.

// expected-error@+1 {{the module has no tp.mesh, so no ranks}}
module {
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'tp.parameter' op has no place; run plan-place first}}
  tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>}
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.offset = 0 : i64}
  // expected-error@+1 {{'tp.state' op has no place; run plan-place first}}
  tp.state @m of @w "m" : tensor<4xf32>
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.constant' op has no place; run plan-place first}}
  plan.constant @c = dense<1.0> : tensor<4xf32>
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  plan.program "p" phases ["forward"] scratch 64 {
    // expected-error@+1 {{'plan.buffer' op has no place; run plan-place first}}
    %a = plan.buffer 8 : !plan.buffer<f32>
    plan.end
  }
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  plan.program "p" phases ["forward"] input 64 {
    // expected-error@+1 {{'plan.input' op has no place; run plan-place first}}
    %x = plan.input 8 "x" role "" as tensor<2xf32> : !plan.buffer<f32>
    plan.end
  }
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  plan.program "p" phases ["forward"] scratch 64 {
    %a = plan.buffer 8 at 0 : !plan.buffer<f32>
    // expected-error@+1 {{'plan.attention' op is no instruction of a plan file; run plan-expand-attention first}}
    plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
    plan.end
  }
}

// -----

// In a loop of a later phase too.

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  plan.program "p" phases ["forward", "backward"] scratch 64 {
    %a = plan.buffer 8 at 0 : !plan.buffer<f32>
    plan.next ^backward
  ^backward:
    plan.loop 2 {
      // expected-error@+1 {{'plan.attention' op is no instruction of a plan file; run plan-expand-attention first}}
      plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0
    }
    plan.end
  }
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.constant' op ends at byte 4611686018427387912, a plan file has at most 2147483647}}
  plan.constant @c at 4611686018427387904 = dense<1.0> : tensor<2xf32>
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.constant' op holds elements that are not dense}}
  plan.constant @c at 0 = sparse<[[1]], [1.5]> : tensor<2xf32>
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.constant' op holds 4 bytes for 'tensor<2xf32>'}}
  plan.constant @c at 0 = dense_resource<short> : tensor<2xf32>
}
{-# dialect_resources: { builtin: { short: "0x040000000000803F" } } #-}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.constant' op holds 8 bytes for 'tensor<1xf32>'}}
  plan.constant @c at 0 = dense_resource<long> : tensor<1xf32>
}
{-# dialect_resources: { builtin: { long: "0x040000000000803F0000803F" } } #-}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.object' op holds 0 bytes for 'tensor<2xi8>'}}
  plan.object "cpu" "" = dense_resource<missing> : tensor<2xi8>
}

// -----

// Sizes that only wrap around to what a file holds, and its last bytes, which
// the rest of a plan needs.
module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.constant' op ends at byte 18446744073709551615, a plan file has at most 2147483647}}
  plan.constant @c at 0 = dense<1.0> : tensor<4611686018427387904xf32>
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.constant' op ends at byte 18446744073709551615, a plan file has at most 2147483647}}
  plan.constant @c at 0 = dense_resource<one> : tensor<4611686018427387905xf32>
}
{-# dialect_resources: { builtin: { one: "0x040000000000803F" } } #-}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.constant' op ends at byte 2147483604, a plan file has at most 2147483647, of which 67108864 are for others}}
  plan.constant @c at 2147483584 = dense<1.0> : tensor<5xf32>
}

// -----

// A constant and an object share a file.
module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  plan.constant @c at 0 = dense<1.0> : tensor<16xf32>
  // expected-error@+1 {{'plan.object' op ends at byte 2147483000, a plan file has at most 2147483647, of which 67108928 are for others}}
  plan.object "cpu" "" = dense<1> : tensor<2147483000xi8>
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.object' op ends at byte 4294967296, a plan file has at most 2147483647}}
  plan.object "cpu" "" = dense<1> : tensor<4294967296xi8>
}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  // expected-error@+1 {{'plan.object' op ends at byte 9223372036854775807, a plan file has at most 2147483647}}
  plan.object "cpu" "" = dense_resource<one> : tensor<9223372036854775807xi8>
}
{-# dialect_resources: { builtin: { one: "0x0100000001" } } #-}

// -----

module attributes {tp.mesh = #tp.mesh<"tp"=1>} {
  plan.object "cpu" "" = dense<1> : tensor<5xi8>
  // expected-error@+1 {{'plan.object' op is a second object; a plan file has one}}
  plan.object "other" "" = dense<2> : tensor<3xi8>
}
