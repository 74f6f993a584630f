// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false
//
// Constraints of plan ops, one by one. What instructions do to memory is
// plan-verify's.

// expected-error@+1 {{a buffer holds f32, bf16, i32, i64, i1 or i8, not 'f64'}}
%a = plan.buffer 64 : !plan.buffer<f64>

// -----

// expected-error@+1 {{'plan.constant' op C1: holds 'tensor<2xf64>'; wanted a tensor of static shape, not empty, of f32, bf16, i32, i64, i1 or i8}}
plan.constant @constant_c1 = dense<1.0> : tensor<2xf64>

// -----

// expected-error@+1 {{'plan.kernel' op C1: argument 1 is 'f32' with an extent of 0 bytes; wanted elements of a buffer and at least 1 byte}}
plan.kernel @kernel_c1 [f32 read 4, f32 read 0]

// -----

// expected-error@+1 {{'plan.kernel' op C2: row kernel: line 2 is not one: '  arg0: f32 reads offset 0 rows [] col 0'}}
plan.kernel @kernel_c2_text [f32 read 4] {
  "kernel rows [] cols 1 ints 0"
  "  arg0: f32 reads offset 0 rows [] col 0"
}

// -----

// expected-error@+1 {{'plan.kernel' op C2: its text has arguments [#plan.arg<f32 write 8>] and 0 integers, the op says otherwise}}
plan.kernel @kernel_c2_args [f32 write 4] {
  "kernel rows [] cols 2 ints 0"
  "  arg0: f32 write offset 0 rows [] col 1"
  "  %0 = const 00000000 (0.000000e+00) : f32 scalar"
  "  store arg0 offset 0 %0"
}

// -----

// expected-error@+1 {{'plan.object' op C1: code is 'tensor<1xi32>', not a list of i8}}
plan.object "cpu" "" = dense<1> : tensor<1xi32>

// -----

// expected-error@+1 {{'plan.program' op C1: has 1 blocks and 2 phases; wanted one block a phase}}
plan.program "program_c1" phases ["forward", "backward"] {
  plan.end
}

// -----

// expected-error@+1 {{'plan.program' op C2: a phase must end in plan.next to the phase behind it}}
plan.program "program_c2" phases ["forward", "backward"] {
  plan.end
^backward:
  plan.end
}

// -----

// expected-error@+1 {{'plan.program' op C3: rank 1 stands behind rank 1}}
plan.program "program_c3" ranks [0, 1, 1] phases ["forward"] {
  plan.end
}

// -----

// expected-error@+1 {{'plan.buffer' op C1: has 6 bytes of elements of 4}}
%a = plan.buffer 6 : !plan.buffer<f32>

// -----

// expected-error@+1 {{'plan.input' op C1: is 'tensor<2xi32>' in a buffer of 'f32'}}
%a = plan.input 8 "x" role "" as tensor<2xi32> : !plan.buffer<f32>

// -----

// expected-error@+1 {{'plan.global' op C1: @w is not a parameter, state or constant of this module}}
%w = plan.global @w : !plan.buffer<f32>

// -----

tp.parameter @w : tensor<4x5xf32> {id = 0 : i64, init = #tp.init<zeros>}
// expected-error@+1 {{'plan.global' op C1: @w holds 'f32', the buffer 'i32'}}
%w = plan.global @w : !plan.buffer<i32>

// -----

// expected-error@+1 {{'plan.scalars' op C1: holds bytes, not 'f32'}}
%s = plan.scalars : !plan.buffer<f32>

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.output' op C1: is 'tensor<2xi32>' at a place of 'f32'; wanted one address without strides, of the same elements}}
plan.output "o" %a : f32 as tensor<2xi32>

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.output' op C2: @w is not a parameter of this module}}
plan.output "o" role "gradient" parameter @w %a : f32 as tensor<2xf32>

// -----

// expected-error@+1 {{'plan.loop' op C1: makes 2 trips over nothing}}
plan.loop 2 {
}

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.launch' op C1: @k is not a kernel of this module}}
plan.launch @k(%a : f32 for 8)

// -----

plan.kernel @k [f32 read 8]
%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.launch' op C2: has 1 arguments and 2 numbers of bytes}}
"plan.launch"(%a) <{addresses = [array<i64: 0, 0>], bytes = array<i64: 8, 8>, ints = [], kernel = @k}> : (!plan.buffer<f32>) -> ()

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.fill' op C1: fills with 256, not a byte}}
plan.fill %a : f32 bytes 8 with 256

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.fill' op is on stream 256, wanted 0 to 255}}
plan.fill %a : f32 bytes 8 with 1 stream 256

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.fill' op has 2 addresses for 1 operands}}
"plan.fill"(%a) <{addresses = [array<i64: 0, 0>, array<i64: 0, 0>], bytes = 8 : i64, value = 0 : i64}> : (!plan.buffer<f32>) -> ()

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{wanted the index of a loop, l0 for the innermost one, or a coordinate of the rank, c0 on mesh axis 0}}
plan.fill %a[4 * i0] : f32 bytes 8 with 1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C1: has sizes array<i64: 1, 1, 1, 0, 1, 2>, wanted six of at least 1}}
plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 0, 1, 2] scale 1.0

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C1: has a window of 3; wanted at least 0, and causal}}
plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0 window 3

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C2: drops 5.000000e-01 of a tensor of 0 sizes; wanted [0, 1), and five whole sizes and starts}}
plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0 dropout 0.5

// -----

%a = plan.buffer 8 : !plan.buffer<bf16>
%l = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C3: works on '!plan.buffer<bf16>' and on '!plan.buffer<f32>'; wanted one type for all but the rows' logarithms}}
plan.attention %a : bf16, %a : bf16, %l : f32 to %a : bf16, %l : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0

// -----

%a = plan.buffer 8 : !plan.buffer<bf16>
// expected-error@+1 {{'plan.attention' op C3: rows' logarithms are f32, not '!plan.buffer<bf16>'}}
plan.attention %a : bf16, %a : bf16, %a : bf16 to %a : bf16, %a : bf16 sizes [1, 1, 1, 1, 1, 2] scale 1.0

// -----

%a = plan.buffer 8 : !plan.buffer<i32>
// expected-error@+1 {{'plan.attention' op C3: works on f32 or bf16, not on '!plan.buffer<i32>'}}
plan.attention %a : i32, %a : i32, %a : i32 to %a : i32, %a : i32 sizes [1, 1, 1, 1, 1, 2] scale 1.0

// -----

// expected-error@+1 {{'tp.parameter' op has plan.offset = -64 : i64; wanted bytes (i64, not negative) on a parameter or state}}
tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.offset = -64 : i64}

// -----

// expected-error@+1 {{'tp.parameter' op has an attribute "plan.place", which the plan dialect does not know}}
tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.place = 64 : i64}

// -----

// expected-error@+1 {{'tp.parameter' op has plan.offset = 64 : i32; wanted bytes (i64, not negative) on a parameter or state}}
tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.offset = 64 : i32}

// -----

// expected-error@+1 {{'tp.parameter' op has plan.offset = "64"; wanted bytes (i64, not negative) on a parameter or state}}
tp.parameter @w : tensor<4xf32> {id = 0 : i64, init = #tp.init<zeros>, plan.offset = "64"}

// -----

// expected-error@+1 {{'func.call' op has plan.offset = 64 : i64; wanted bytes (i64, not negative) on a parameter or state}}
func.func private @f() attributes {} { func.call @f() {plan.offset = 64 : i64} : () -> () return }

// -----

// expected-error@+1 {{'plan.constant' op C1: holds 'vector<2xf32>'; wanted a tensor of static shape, not empty}}
plan.constant @constant_vector = dense<1.0> : vector<2xf32>

// -----

// expected-error@+1 {{'plan.constant' op C1: holds 'tensor<0xf32>'; wanted a tensor of static shape, not empty}}
plan.constant @constant_empty = dense<> : tensor<0xf32>

// -----

// expected-error@+1 {{'plan.kernel' op C1: argument 0 is 'f64' with an extent of 8 bytes; wanted elements of a buffer and at least 1 byte}}
plan.kernel @kernel_type [f64 read 8]

// -----

// expected-error@+1 {{'plan.kernel' op C2: its text has arguments [#plan.arg<f32 write 4>] and 1 integers, the op says otherwise}}
plan.kernel @kernel_c2_ints [f32 write 4] {
  "kernel rows [] cols 1 ints 1"
  "  arg0: f32 write offset 0 rows [] col 1"
  "  %0 = const 00000000 (0.000000e+00) : f32 scalar"
  "  store arg0 offset 0 %0"
}

// -----

// expected-error@+1 {{'plan.object' op C1: code is 'tensor<1x2xi8>', not a list of i8}}
plan.object "cpu" "" = dense<1> : tensor<1x2xi8>

// -----

// expected-error@+1 {{'plan.program' op C2: a phase must end in plan.next to the phase behind it}}
plan.program "skips" phases ["forward", "backward", "update"] {
  plan.next ^update
^backward:
  plan.next ^update
^update:
  plan.end
}

// -----

// expected-error@+1 {{'plan.program' op C2: a phase must end in plan.end}}
plan.program "goes_back" phases ["forward", "backward"] {
  plan.next ^backward
^backward:
  plan.next ^backward
}

// -----

// expected-error@+1 {{'plan.program' op C1: a phase has no arguments}}
plan.program "arguments" phases ["forward", "backward"] {
  plan.next ^backward
^backward(%x: i32):
  plan.end
}

// -----

// expected-error@+1 {{'plan.program' op C1: has 1 blocks and 0 phases; wanted one block a phase}}
plan.program "no_phases" phases [] {
  plan.end
}

// -----

// expected-error@+1 {{'plan.input' op C1: is 'i32' in a buffer of 'i32'}}
%a = plan.input 4 "x" role "" as i32 : !plan.buffer<i32>

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.output' op C1: is 'f32' at a place of 'f32'; wanted one address without strides, of the same elements}}
plan.output "o" %a : f32 as f32

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.output' op C1: is 'tensor<f32>' at a place of 'f32'; wanted one address without strides, of the same elements}}
plan.output "o" %a[4 * l0] : f32 as tensor<f32>

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.loop' op C1: makes 0 trips over instructions}}
plan.loop 0 {
  plan.fill %a : f32 bytes 8 with 0
}

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.fill' op C1: fills with -1, not a byte}}
plan.fill %a : f32 bytes 8 with -1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.fill' op is on stream -1, wanted 0 to 255}}
plan.fill %a : f32 bytes 8 with 1 stream -1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C1: has sizes array<i64: 1, 1, 1, 1, 2>, wanted six of at least 1}}
plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 2] scale 1.0

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C1: has a window of -1; wanted at least 0, and causal}}
plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0 causal window -1

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C2: drops 1.000000e+00 of a tensor of 5 sizes}}
plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0 dropout 1.0 id 4 whole [1, 1, 1, 1, 1] starts [[0], [0], [0], [0], [0]]

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C2: drops -1.000000e-01 of a tensor of 5 sizes}}
plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0 dropout -0.1 id 4 whole [1, 1, 1, 1, 1] starts [[0], [0], [0], [0], [0]]

// -----

%a = plan.buffer 8 : !plan.buffer<f32>
// expected-error@+1 {{'plan.attention' op C2: drops 1.000000e-01 of a tensor of 5 sizes; wanted [0, 1), and five whole sizes and starts}}
plan.attention %a : f32, %a : f32, %a : f32 to %a : f32, %a : f32 sizes [1, 1, 1, 1, 1, 2] scale 1.0 dropout 0.1 id 4 whole [1, 1, 1, 1, 1] starts [[0], [0], [0], [0]]
