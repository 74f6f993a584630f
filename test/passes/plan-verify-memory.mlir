// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --plan-verify
//
// What a placed plan may not do to memory. test/runs/refused-plans.py makes files of these: tp-run refuses
// them in the same words.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "live_at_one_place" phases ["forward"] scratch 128 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 0 : !plan.buffer<f32>
    %c = plan.buffer 64 "c" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    // expected-error@+1 {{'plan.fill' op buffer 1 (b) is first used while buffer 0 (a) still lives at the same place}}
    plan.fill %b : f32 bytes 64 with 0 "second"
    plan.copy %a : f32 to %c : f32 bytes 64 "third"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "read_before_write" phases ["forward"] scratch 128 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 64 : !plan.buffer<f32>
    // expected-error@+1 {{'plan.copy' op reads byte 0 of buffer 0 (a) before it is written}}
    plan.copy %a : f32 to %b : f32 bytes 64 "first"
    plan.fill %a : f32 bytes 64 with 0 "second"
    plan.end
  }
}

// -----

// Adding to what was never written.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "accumulate_before_write" phases ["forward"] scratch 128 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    // expected-error@+1 {{'plan.gemm' op reads byte 0 of buffer 1 (b) before it is written}}
    plan.gemm 4 x 4 x 4 %a : f32 by 4, %a : f32 by 4 to %b : f32 by 4 beta 1.0 "second"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "rows_too_long" phases ["forward"] scratch 128 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    // expected-error@+1 {{'plan.gemm' op gemm has rows of 4, 4 and 4 elements, longer than leading dimensions of 3, 4 and 4}}
    plan.gemm 4 x 4 x 4 %a : f32 by 3, %a : f32 by 4 to %b : f32 by 4 "second"
    plan.end
  }
}

// -----

// In the last iteration of the outer loop, on the second rank.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "outside" phases ["forward"] scratch 64 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    plan.loop 3 {
      plan.loop 2 {
        // expected-error@+1 {{'plan.fill' op operand dst reaches to byte 68 of buffer 0 (a), which has 64}}
        plan.fill %a[4 * l0 + 16 * l1 + 20 * c0] : f32 bytes 12 with 0 "first"
      }
    }
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  // expected-error@+1 {{'plan.program' op buffer 0 (a): has 64 bytes at 64 of region scratch, which has 64}}
  plan.program "buffer_outside" phases ["forward"] scratch 64 {
    %a = plan.buffer 64 "a" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "input_written" phases ["forward"] input 64 {
    %x = plan.input 64 "x" role "data" as tensor<16xf32> at 0 : !plan.buffer<f32>
    // expected-error@+1 {{'plan.fill' op operand dst is written, but region input is read only}}
    plan.fill %x : f32 bytes 64 with 0 "first"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.constant @t at 0 = dense<1.0> : tensor<16xf32>
  plan.program "constant_written" phases ["forward"] {
    %t = plan.global @t : !plan.buffer<f32>
    // expected-error@+1 {{'plan.fill' op operand dst is written, but region constant is read only}}
    plan.fill %t : f32 bytes 64 with 0 "first"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  tp.parameter @w : tensor<16xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.offset = 0 : i64}
  plan.program "updated_twice" phases ["update"] {
    %w = plan.global @w : !plan.buffer<f32>
    plan.fill %w : f32 bytes 64 with 0 "first"
    // expected-error@+1 {{'plan.fill' op updates buffer 0 (w), which instruction 0 updates too}}
    plan.fill %w : f32 bytes 64 with 1 "second"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "loops_too_deep" phases ["forward"] scratch 64 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    plan.loop 1 {
      plan.loop 1 {
        plan.loop 1 {
          plan.loop 1 {
            // expected-error@+1 {{'plan.loop' op loops are nested deeper than 4}}
            plan.loop 1 {
              plan.fill %a : f32 bytes 64 with 0 "first"
            } "fifth"
          }
        }
      }
    }
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.kernel @k [f32 read 64, f32 write 64]
  plan.program "buffer_too_short_for_kernel" phases ["forward"] scratch 192 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 32 "b" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    // expected-error@+1 {{'plan.launch' op operand 1 reaches to byte 64 of buffer 1 (b), which has 32}}
    plan.launch @k(%a : f32 for 64, %b : f32 for 64) "second"
    plan.end
  }
}

// -----

// What the launch grants is less than what the kernel takes.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.kernel @k [f32 read 64, f32 write 64]
  plan.program "bytes_too_few_for_kernel" phases ["forward"] scratch 128 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 64 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    // expected-error@+1 {{'plan.launch' op gives kernel k 32 bytes of operand 1, of which it touches 64}}
    plan.launch @k(%a : f32 for 64, %b : f32 for 32) "second"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.kernel @k [f32 write 64] ints 1
  plan.program "integers_missing" phases ["forward"] scratch 64 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    // expected-error@+1 {{'plan.launch' op gives kernel k 1 operands, 1 sizes and 0 integers; it takes 1 and 1}}
    plan.launch @k(%a : f32 for 64) "first"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.kernel @k [i32 write 64]
  plan.program "other_elements" phases ["forward"] scratch 64 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    // expected-error@+1 {{'plan.launch' op operand 0 is taken as i32, but buffer 0 (a) holds f32}}
    plan.launch @k(%a : f32 for 64) "first"
    plan.end
  }
}

// -----

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "copy_over_itself" phases ["forward"] scratch 64 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    // expected-error@+1 {{'plan.copy' op operands src and dst overlap}}
    plan.copy %a : f32 to %a[16] : f32 bytes 32 "second"
    plan.end
  }
}

// -----

// An output is read after the program: its bytes were given away.

#mesh = #tp.mesh<"tp"=2>
module attributes {tp.mesh = #mesh} {
  plan.program "output_overwritten" phases ["forward"] scratch 64 {
    %a = plan.buffer 64 "a" at 0 : !plan.buffer<f32>
    %b = plan.buffer 64 "b" at 0 : !plan.buffer<f32>
    plan.fill %a : f32 bytes 64 with 0 "first"
    // expected-error@+1 {{'plan.fill' op buffer 1 (b) is first used while buffer 0 (a) still lives at the same place}}
    plan.fill %b : f32 bytes 64 with 0 "second"
    plan.output "a" %a : f32 as tensor<16xf32>
    plan.end
  }
}
