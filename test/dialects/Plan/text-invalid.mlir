// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Text and attributes that say no address, argument, range or reduction.

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted lists [base, number of loops, loops..., coords...]}}
"plan.fill"(%a) <{addresses = 7 : i64, bytes = 8 : i64, value = 0 : i64}> : (!plan.buffer<f32>) -> ()

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted lists [base, number of loops, loops..., coords...]}}
"plan.fill"(%a) <{addresses = [7 : i64], bytes = 8 : i64, value = 0 : i64}> : (!plan.buffer<f32>) -> ()

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted lists [base, number of loops, loops..., coords...]}}
"plan.fill"(%a) <{addresses = [array<i64: 0>], bytes = 8 : i64, value = 0 : i64}> : (!plan.buffer<f32>) -> ()

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted lists [base, number of loops, loops..., coords...]}}
"plan.fill"(%a) <{addresses = [array<i64: 0, -1>], bytes = 8 : i64, value = 0 : i64}> : (!plan.buffer<f32>) -> ()

// -----

// Two loops, and one number for them.

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted lists [base, number of loops, loops..., coords...]}}
"plan.fill"(%a) <{addresses = [array<i64: 0, 2, 4>], bytes = 8 : i64, value = 0 : i64}> : (!plan.buffer<f32>) -> ()

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted the index of a loop, l0 for the innermost one}}
plan.fill %a[4 * l] : f32 bytes 8 with 1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted the index of a loop, l0 for the innermost one}}
plan.fill %a[4 * lx] : f32 bytes 8 with 1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted the index of a loop, l0 for the innermost one}}
plan.fill %a[4 * l256] : f32 bytes 8 with 1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+2 {{expected valid keyword}}
// expected-error@+1 {{wanted the index of a loop, l0 for the innermost one}}
plan.fill %a[4 * "l0"] : f32 bytes 8 with 1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{expected integer value}}
plan.fill %a[l0] : f32 bytes 8 with 1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{expected ']'}}
plan.fill %a[8 : f32 bytes 8 with 1

// -----

// expected-error@+1 {{expected SSA operand}}
plan.fill @a : f32 bytes 8 with 1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{expected ':'}}
plan.fill %a bytes 8 with 1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{a buffer holds f32, bf16, i32, i64, i1 or i8, not 'f64'}}
plan.fill %a : f64 bytes 8 with 1

// -----

plan.kernel @k [f32 read 8]
%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{expected '('}}
plan.launch @k %a : f32 for 8

// -----

plan.kernel @k [f32 read 8]
%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{expected 'for'}}
plan.launch @k(%a : f32)

// -----

plan.kernel @k [f32 read 8]
%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{expected integer value}}
plan.launch @k(%a : f32 for all)

// -----

plan.kernel @k [] ints 1
// expected-error@+1 {{expected '['}}
plan.launch @k() ints [7]

// -----

plan.kernel @k [] ints 1
// expected-error@+1 {{wanted the index of a loop, l0 for the innermost one}}
plan.launch @k() ints [[7 * r0]]

// -----

// expected-error@+1 {{expected integer value}}
%y = plan.input 8 "y" role "" as tensor<2xi32> range low to 9 : !plan.buffer<i32>

// -----

// expected-error@+1 {{expected 'to'}}
%y = plan.input 8 "y" role "" as tensor<2xi32> range 0 till 9 : !plan.buffer<i32>

// -----

// expected-error@+1 {{expected integer value}}
%y = plan.input 8 "y" role "" as tensor<2xi32> range 0 to high : !plan.buffer<i32>

// -----

// expected-error@+1 {{expected '['}}
plan.kernel @k f32 read 4

// -----

// expected-error@+1 {{expected non-function type}}
plan.kernel @k [read 4]

// -----

// expected-error@+1 {{expected valid keyword}}
plan.kernel @k [f32 4]

// -----

// expected-error@+1 {{expected integer value}}
plan.kernel @k [f32 read]

// -----

// expected-error@+1 {{a kernel reads, writes or accumulates, it does not 'swap'}}
plan.kernel @k [f32 swap 4]

// -----

// expected-error@+1 {{expected '['}}
plan.kernel @k [f32 write 4 over 0]

// -----

// expected-error@+1 {{expected integer value}}
plan.kernel @k [f32 write 4 over [all]]

// -----

// expected-error@+1 {{expected '<'}}
"plan.kernel"() <{args = [#plan.arg], ints = 0 : i64, sym_name = "k"}> : () -> ()

// -----

// expected-error@+1 {{expected '>'}}
"plan.kernel"() <{args = [#plan.arg<f32 read 4 of 5>], ints = 0 : i64, sym_name = "k"}> : () -> ()

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted sum or max, found 'min'}}
plan.all_reduce min of 2 %a : f32 to %a : f32 over ["tp"] payload 8

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{expected valid keyword}}
plan.all_reduce "sum" of 2 %a : f32 to %a : f32 over ["tp"] payload 8
