// RUN: rm -rf %t && mkdir %t
// RUN: tp-opt %s --tp-shard="mesh=tp=2 topology=%S/../topologies/flat.yaml pin=wte=0:tp" --tp-insert-conjugates --tp-differentiate --tp-optimize --tp-partition --tp-count | FileCheck %s
// RUN: tp-compile %s --mesh tp=2 --topology %S/../topologies/flat.yaml --pin wte=0:tp -o %t/step.plan | FileCheck %s --check-prefix=ALL
// RUN: tp-compile %s --mesh tp=2 --topology %S/../topologies/flat.yaml --pin wte=0:tp --outputs logits -o %t/step.plan | FileCheck %s --check-prefix=KEPT
//
// A tied table of 32 rows, 16 of them on each of two ranks; batch 2, 8 tokens.
// Sent: all-reduces of 2x8x16 values forward (embedding) and backward (the input
// of the logits), of 2x8 three times (maximum, sum, picked), and the norm's.
// Saved: 2x8x16 embedded tokens and as many logits, 1024 bytes each; maximum,
// sum and shifted labels, 64 bytes each; the number of labels: 2244 bytes.
// Time, at 20 bytes a ns and 5 flops a ns: three products of 16x16x16, 8192
// flops, take 1638400 ps each, longer than their memory. Rows write 1024 four
// times (embedding, gradients of sum and pick, gradient of the table), 64 four
// times, 128, and 8, 4, 4, 8 (loss, mean, its gradient, clip); squares and AdamW
// move 1036 + 7172: in all 12712 bytes, 635600 ps. The collectives send 2252
// bytes at 1 byte a ns: 2252000 ps.
// CHECK: tp.counted = {bytes = 2252 : i64, collectives = 6 : i64, flops = 24576 : i64, picoseconds = 7802800 : i64, saved_bytes = 2244 : i64, work = {

// Logits that leave the step lie to its end, and are no activations.
// ALL: saved activations 2.2 KiB
// KEPT: saved activations 1.2 KiB
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}, tensor<2x8x32xf32> {tp.role = "logits"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %x, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss, %logits : tensor<f32>, tensor<2x8x32xf32>
  }
}
