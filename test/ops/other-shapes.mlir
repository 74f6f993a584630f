// RUN: op-test %s --some | FileCheck %s
//
// Ops with other shapes, element types and attributes than those of the ODS
// examples, whole and split (README.md).
//
// CHECK: {{^[1-9][0-9]*}} runs of {{[0-9]+}} ops, {{[1-9][0-9]*}} gradients, 0 failed

%x = builtin.unrealized_conversion_cast to tensor<f32>
%y = builtin.unrealized_conversion_cast to tensor<f32>
%0 = tp.add %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
%1 = tp.mul %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
%2 = tp.scale %x {factor = -3.0 : f64} : (tensor<f32>) -> tensor<f32>
%3 = tp.cast %x : (tensor<f32>) -> tensor<bf16>
%4 = tp.gelu %x {tanh} : (tensor<f32>) -> tensor<f32>
%5 = tp.relu %x : (tensor<f32>) -> tensor<f32>
%6 = tp.accumulate %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
// -----
%x = builtin.unrealized_conversion_cast to tensor<7xf32>
%y = builtin.unrealized_conversion_cast to tensor<7xf32>
%s = builtin.unrealized_conversion_cast to tensor<f32>
%0 = tp.add %x, %y : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
%1 = tp.mul %x, %s : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
%2 = tp.add %x, %s : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
%3 = tp.silu %x : (tensor<7xf32>) -> tensor<7xf32>
%4 = tp.sum_leading %x : (tensor<7xf32>) -> tensor<f32>
// -----
%x = builtin.unrealized_conversion_cast to tensor<2x5x3x7xf32>
%y = builtin.unrealized_conversion_cast to tensor<5x3x7xf32>
%z = builtin.unrealized_conversion_cast to tensor<2x5x3x7xf32>
%0 = tp.add %x, %y : (tensor<2x5x3x7xf32>, tensor<5x3x7xf32>) -> tensor<2x5x3x7xf32>
%1 = tp.mul %x, %y : (tensor<2x5x3x7xf32>, tensor<5x3x7xf32>) -> tensor<2x5x3x7xf32>
%2 = tp.mul %x, %z : (tensor<2x5x3x7xf32>, tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
%3 = tp.sum_leading %x : (tensor<2x5x3x7xf32>) -> tensor<3x7xf32>
%4 = tp.gelu_grad %x, %z : (tensor<2x5x3x7xf32>, tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
%5 = tp.gelu_grad %x, %z {tanh} : (tensor<2x5x3x7xf32>, tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32>
// -----
%x = builtin.unrealized_conversion_cast to tensor<5x7xf32>
%g = builtin.unrealized_conversion_cast to tensor<7xf32>
%b = builtin.unrealized_conversion_cast to tensor<7xf32>
%dy = builtin.unrealized_conversion_cast to tensor<5x7xf32>
%0 = tp.layer_norm %x, %g, %b {eps = 0.5 : f64} : (tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
%1 = tp.rms_norm %x, %g {eps = 0.5 : f64} : (tensor<5x7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
%dx, %dg, %db = tp.layer_norm_grad %x, %g, %dy {eps = 0.5 : f64} : (tensor<5x7xf32>, tensor<7xf32>, tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<7xf32>, tensor<7xf32>)
// -----
%q = builtin.unrealized_conversion_cast to tensor<2x3x5x2x4xf32>
%k = builtin.unrealized_conversion_cast to tensor<2x7x5x4xf32>
%v = builtin.unrealized_conversion_cast to tensor<2x7x5x4xf32>
%y, %lse = tp.attention %q, %k, %v {scale = 0.3 : f64} : (tensor<2x3x5x2x4xf32>, tensor<2x7x5x4xf32>, tensor<2x7x5x4xf32>) -> (tensor<2x3x5x2x4xf32>, tensor<2x3x5x2xf32>)
// -----
%q = builtin.unrealized_conversion_cast to tensor<2x9x5x1x4xf32>
%k = builtin.unrealized_conversion_cast to tensor<2x9x5x4xf32>
%v = builtin.unrealized_conversion_cast to tensor<2x9x5x4xf32>
%y, %lse = tp.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x9x5x1x4xf32>, tensor<2x9x5x4xf32>, tensor<2x9x5x4xf32>) -> (tensor<2x9x5x1x4xf32>, tensor<2x9x5x1xf32>)
%y2, %lse2 = tp.attention %q, %k, %v {scale = 0.5 : f64, causal, dropout = 0.25 : f64, id = 2 : i64} : (tensor<2x9x5x1x4xf32>, tensor<2x9x5x4xf32>, tensor<2x9x5x4xf32>) -> (tensor<2x9x5x1x4xf32>, tensor<2x9x5x1xf32>)
// -----
%x = builtin.unrealized_conversion_cast to tensor<2x3x5x8xf32>
%y = tp.rotary %x {frequencies = array<f64: 1.0, 0.5, 0.25, 0.125>, scale = 1.5 : f64} : (tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
%z = tp.rotary %x {frequencies = array<f64: 1.0, 0.5, 0.25, 0.125>, inverse} : (tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
// -----
%ids = builtin.unrealized_conversion_cast to tensor<5xi64>
%table = builtin.unrealized_conversion_cast to tensor<11x7xf32>
%y = tp.embedding %ids, %table : (tensor<5xi64>, tensor<11x7xf32>) -> tensor<5x7xf32>
// -----
%logits = builtin.unrealized_conversion_cast to tensor<5x7xf32>
%labels = builtin.unrealized_conversion_cast to tensor<5xi64>
%sum, %count = tp.cross_entropy %logits, %labels {ignore = 3 : i64} : (tensor<5x7xf32>, tensor<5xi64>) -> (tensor<f32>, tensor<f32>)
%p = tp.pick %logits, %labels : (tensor<5x7xf32>, tensor<5xi64>) -> tensor<5xf32>
// -----
%x = builtin.unrealized_conversion_cast to tensor<7xf32>
%w = builtin.unrealized_conversion_cast to tensor<5x7xf32>
%x2 = builtin.unrealized_conversion_cast to tensor<3x7xf32>
%y2 = tp.matmul %x2, %w : (tensor<3x7xf32>, tensor<5x7xf32>) -> tensor<3x5xf32>
// -----
%x = builtin.unrealized_conversion_cast to tensor<7xf32>
%y = tp.sum_squares %x : (tensor<7xf32>) -> tensor<3xf32>
// -----
%p = builtin.unrealized_conversion_cast to tensor<7xf32>
%g = builtin.unrealized_conversion_cast to tensor<7xf32>
%m = builtin.unrealized_conversion_cast to tensor<7xf32>
%v = builtin.unrealized_conversion_cast to tensor<7xf32>
%scale = builtin.unrealized_conversion_cast to tensor<f32>
%new_p, %new_m, %new_v = tp.adamw %p, %g, %m, %v, %scale {beta1 = 0.7 : f64, beta2 = 0.6 : f64, eps = 0.1 : f64, decay = 0.0 : f64} : (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<f32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>)
// -----
%x = builtin.unrealized_conversion_cast to tensor<5x7xbf16>
%w = builtin.unrealized_conversion_cast to tensor<3x7xbf16>
%b = builtin.unrealized_conversion_cast to tensor<7xbf16>
%0 = tp.matmul %x, %w : (tensor<5x7xbf16>, tensor<3x7xbf16>) -> tensor<5x3xbf16>
%1 = tp.add %x, %b : (tensor<5x7xbf16>, tensor<7xbf16>) -> tensor<5x7xbf16>
%2 = tp.gelu %x : (tensor<5x7xbf16>) -> tensor<5x7xbf16>
%3 = tp.sum_leading %x : (tensor<5x7xbf16>) -> tensor<7xf32>
%4 = tp.cast %x : (tensor<5x7xbf16>) -> tensor<5x7xf32>
%5 = tp.rms_norm %x, %b {eps = 1.0e-5 : f64} : (tensor<5x7xbf16>, tensor<7xbf16>) -> tensor<5x7xbf16>
%6 = tp.matmul %x, %w : (tensor<5x7xbf16>, tensor<3x7xbf16>) -> tensor<5x3xf32>
%7 = tp.matmul_dgrad %0, %w : (tensor<5x3xbf16>, tensor<3x7xbf16>) -> tensor<5x7xbf16>
%8 = tp.matmul_dgrad %0, %w : (tensor<5x3xbf16>, tensor<3x7xbf16>) -> tensor<5x7xf32>
%9 = tp.matmul_wgrad %0, %x : (tensor<5x3xbf16>, tensor<5x7xbf16>) -> tensor<3x7xbf16>
%10 = tp.matmul_wgrad %0, %x : (tensor<5x3xbf16>, tensor<5x7xbf16>) -> tensor<3x7xf32>
%11 = tp.mul %x, %b : (tensor<5x7xbf16>, tensor<7xbf16>) -> tensor<5x7xbf16>
%12 = tp.mul %x, %2 : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xbf16>
%13 = tp.layer_norm %x, %b, %b {eps = 0.5 : f64} : (tensor<5x7xbf16>, tensor<7xbf16>, tensor<7xbf16>) -> tensor<5x7xbf16>
%14 = tp.accumulate %x, %2 : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xbf16>
%15 = tp.dropout %x {p = 0.25 : f64, id = 3 : i64} : (tensor<5x7xbf16>) -> tensor<5x7xbf16>
%16 = tp.silu_grad %x, %2 : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xbf16>
// -----
%ids = builtin.unrealized_conversion_cast to tensor<5xi64>
%table = builtin.unrealized_conversion_cast to tensor<11x7xbf16>
%logits = builtin.unrealized_conversion_cast to tensor<5x7xbf16>
%0 = tp.embedding %ids, %table : (tensor<5xi64>, tensor<11x7xbf16>) -> tensor<5x7xbf16>
%1 = tp.embedding_grad %ids, %0 : (tensor<5xi64>, tensor<5x7xbf16>) -> tensor<11x7xf32>
%2 = tp.take_rows %table : (tensor<11x7xbf16>) -> tensor<5x7xbf16>
%sum, %count = tp.cross_entropy %logits, %ids : (tensor<5x7xbf16>, tensor<5xi64>) -> (tensor<f32>, tensor<f32>)
// -----
%q = builtin.unrealized_conversion_cast to tensor<2x9x5x2x4xbf16>
%k = builtin.unrealized_conversion_cast to tensor<2x9x5x4xbf16>
%v = builtin.unrealized_conversion_cast to tensor<2x9x5x4xbf16>
%y, %lse = tp.attention %q, %k, %v {scale = 0.5 : f64, causal, dropout = 0.25 : f64, id = 2 : i64} : (tensor<2x9x5x2x4xbf16>, tensor<2x9x5x4xbf16>, tensor<2x9x5x4xbf16>) -> (tensor<2x9x5x2x4xbf16>, tensor<2x9x5x2xf32>)
// -----
%x = builtin.unrealized_conversion_cast to tensor<2x3x5x8xbf16>
%y = tp.rotary %x {frequencies = array<f64: 1.0, 0.5, 0.25, 0.125>, scale = 1.5 : f64} : (tensor<2x3x5x8xbf16>) -> tensor<2x3x5x8xbf16>
%z = tp.reshape %x : (tensor<2x3x5x8xbf16>) -> tensor<2x3x40xbf16>
// -----
// Ones belong to the runs that they end, on either side.
%x = builtin.unrealized_conversion_cast to tensor<1x5x1x14xf32>
%0 = tp.reshape %x : (tensor<1x5x1x14xf32>) -> tensor<5x14xf32>
%1 = tp.reshape %x : (tensor<1x5x1x14xf32>) -> tensor<1x5x7x2x1xf32>
%2 = tp.reshape %x : (tensor<1x5x1x14xf32>) -> tensor<5x14x1xf32>
%3 = tp.reshape %x : (tensor<1x5x1x14xf32>) -> tensor<70xf32>
%4 = tp.reshape %3 : (tensor<70xf32>) -> tensor<5x1x7x2xf32>
