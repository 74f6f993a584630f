// RUN: tp-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false --mlir-very-unsafe-disable-verifier-on-parsing --tp-verify-phase=phase=fused
//
// What an op that tp-fuse moved or numbered wrongly would break.

func.func @good(%x: tensor<2x3xf32>, %w: tensor<5x3xf32>) {
  %a = tp.relu %x {tp.kernel = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = tp.gelu %a {tp.kernel = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = tp.silu %b {tp.kernel = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = tp.matmul %c, %w : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  %z = tp.relu %y {tp.kernel = 4 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  tp.output "z", %z : tensor<2x5xf32>
  return
}

// -----

func.func @early(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'tp.gelu' op uses operand 0 before it is made}}
  %b = tp.gelu %a {tp.kernel = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = tp.relu %x {tp.kernel = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  tp.output "b", %b : tensor<2x3xf32>
  return
}

// -----

func.func @apart(%x: tensor<2x3xf32>, %w: tensor<5x3xf32>) {
  %a = tp.relu %x {tp.kernel = 3 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = tp.matmul %a, %w : (tensor<2x3xf32>, tensor<5x3xf32>) -> tensor<2x5xf32>
  // expected-error@+1 {{'tp.gelu' op is of kernel 3, but stands behind one of kernel 3 and not next to it; numbers rise, and members of a kernel stand together}}
  %b = tp.gelu %y {tp.kernel = 3 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
  tp.output "b", %b : tensor<2x5xf32>
  return
}

// -----

func.func @falling(%x: tensor<2x3xf32>) {
  %a = tp.relu %x {tp.kernel = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{'tp.gelu' op is of kernel 1, but stands behind one of kernel 2 and not next to it}}
  %b = tp.gelu %a {tp.kernel = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  tp.output "b", %b : tensor<2x3xf32>
  return
}
