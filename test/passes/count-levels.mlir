// RUN: tp-opt %s --tp-count | FileCheck %s
//
// A collective takes the links of the smallest level that holds its group: four
// ranks side by side are one node, but two ranks that are four apart are not.
// All-reduces of 400 bytes: over tp 6 messages of 1 us and 600 bytes at 8 a ns,
// 6075000 ps; over dp 2 messages of 10 us and 400 bytes at 1 a ns, 20400000 ps;
// over both 14 messages and 700 bytes there, 140700000 ps.

#mesh = #tp.mesh<"dp"=2 batch, "tp"=4>
// CHECK: tp.counted = {bytes = 1700 : i64, collectives = 3 : i64, flops = 0 : i64, picoseconds = 167175000 : i64, saved_bytes = 0 : i64,
// CHECK-SAME: work = {"tp.all_reduce all_reduce(400, 2, 4)" = 1 : i64, "tp.all_reduce all_reduce(400, 4, 1)" = 1 : i64, "tp.all_reduce all_reduce(400, 8, 1)" = 1 : i64}}
module attributes {tp.mesh = #mesh, tp.topology = {flops_per_second_f32 = 5.0e+09 : f64, levels = [
    {bytes_per_second = 8.0e+09 : f64, latency_seconds = 1.0e-06 : f64, name = "node", ranks = 4 : i64},
    {bytes_per_second = 1.0e+09 : f64, latency_seconds = 1.0e-05 : f64, name = "net", ranks = 1024 : i64}],
    memory_bytes = 1.6e+10 : f64, memory_bytes_per_second = 2.0e+10 : f64, name = "nodes"}} {
  func.func @main(%x: tensor<100xf32>) {
    %tp = tp.all_reduce %x over ["tp"] : tensor<100xf32> -> tensor<100xf32>
    %dp = tp.all_reduce %x over ["dp"] : tensor<100xf32> -> tensor<100xf32>
    %all = tp.all_reduce %x over ["dp", "tp"] : tensor<100xf32> -> tensor<100xf32>
    tp.output "tp", %tp : tensor<100xf32>
    tp.output "dp", %dp : tensor<100xf32>
    tp.output "all", %all : tensor<100xf32>
    return
  }
}
