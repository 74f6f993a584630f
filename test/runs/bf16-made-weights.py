# RUN: %python %s %t
"""A graph that is no Transformer, in bf16: weights that are made of parameters, a bias of each head, which
gets its gradient from all ranks. Losses and gradients on any number of ranks are those of float32, but
for rounding."""
import sys

import numpy as np

import colrow

work = colrow.workspace(sys.argv[1])
GRAPH = """module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @bias : tensor<16xf32> {id = 1 : i64, init = #tp.init<normal 1.0, 0.5>}
  tp.parameter @up : tensor<64x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @down : tensor<16x64xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x9xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %up = tp.param @up : tensor<64x16xf32>
    %large = tp.scale %up {factor = 0.75 : f64} : (tensor<64x16xf32>) -> tensor<64x16xf32>
    %u = tp.matmul %x, %large : (tensor<2x8x16xf32>, tensor<64x16xf32>) -> tensor<2x8x64xf32>
    %heads = tp.reshape %u : (tensor<2x8x64xf32>) -> tensor<2x8x4x16xf32>
    %bias = tp.param @bias : tensor<16xf32>
    %half = tp.scale %bias {factor = 0.5 : f64} : (tensor<16xf32>) -> tensor<16xf32>
    %each = tp.add %heads, %half : (tensor<2x8x4x16xf32>, tensor<16xf32>) -> tensor<2x8x4x16xf32>
    %a = tp.silu %each : (tensor<2x8x4x16xf32>) -> tensor<2x8x4x16xf32>
    %joined = tp.reshape %a : (tensor<2x8x4x16xf32>) -> tensor<2x8x64xf32>
    %down = tp.param @down : tensor<16x64xf32>
    %y = tp.matmul %joined, %down : (tensor<2x8x64xf32>, tensor<16x64xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
"""
graph = work / "graph.mlir"
graph.write_text(GRAPH)
data = colrow.random_tokens(work / "tokens.bin", 400, 32)


def run(tp, dtype):
    plan, out = work / f"{dtype}{tp}.plan", work / f"{dtype}{tp}.safetensors"
    layouts = colrow.compile_split(graph, plan, tp, "--outputs", "gradients", "--dtype", dtype, "--pin", "up=0:tp",
                                   "--pin", "down=1:tp")
    report = colrow.train(plan, "--seed", 1, "--data", data, "--steps", 3, "--lr", 1e-3, "--dump-outputs", out)
    colrow.check(tp == 1 or layouts["bias"] == "replicated" and "split" in layouts["up"], f"tp={tp}: {layouts}")
    return colrow.losses(report), colrow.load_safetensors(out)


losses, gradients = run(1, "f32")
for tp in (1, 2, 4):
    found, apart = run(tp, "bf16")
    colrow.check(colrow.relative(found, losses) <= 5e-3, f"tp={tp}: {found}, in f32 {losses}")
    for name, wanted in gradients.items():
        error = np.linalg.norm(apart[name] - wanted) / np.linalg.norm(wanted)
        colrow.check(error <= 2.5e-2, f"tp={tp}: the gradient of {name} is {error} off")
