# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tp-compile --function: named inputs of several types, every result an output, on 1 and 2 ranks."""
import sys

import numpy as np
from colrow import check, load_safetensors, refuse, save_safetensors, succeed, workspace, FLAT

GRAPH = """
tp.parameter @w : tensor<6x4xf32> {id = 0 : i64, init = #tp.init<constant 2.0>}
func.func @main(
    %ids: tensor<2x3xi32> {tp.input = #tp.input<data "word_ids", batch = 0>},
    %kinds: tensor<2x3xi64> {tp.input = #tp.input<data "kinds", batch = 0>},
    %table: tensor<9x4xf32> {tp.input = #tp.input<data "table">},
    %types: tensor<5x4xf32> {tp.input = #tp.input<data "types">},
    %bias: tensor<6xf32>) -> (tensor<2x3x6xf32> {tp.role = "loss_like"}, tensor<2x3x4xf32>) {
  %w = tp.param @w : tensor<6x4xf32>
  %a = tp.embedding %ids, %table : (tensor<2x3xi32>, tensor<9x4xf32>) -> tensor<2x3x4xf32>
  %b = tp.embedding %kinds, %types : (tensor<2x3xi64>, tensor<5x4xf32>) -> tensor<2x3x4xf32>
  %x = tp.add %a, %b : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %y = tp.matmul %x, %w : (tensor<2x3x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6xf32>
  %z = tp.add %y, %bias : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %z, %x : tensor<2x3x6xf32>, tensor<2x3x4xf32>
}
"""
# A loss is a result like others: there is no backward to it.
LOSS = """
tp.parameter @w : tensor<3xf32> {id = 0 : i64, init = #tp.init<constant 3.0>}
func.func @main() -> (tensor<f32> {tp.role = "loss"}) {
  %w = tp.param @w : tensor<3xf32>
  %y = tp.sum_leading %w : (tensor<3xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
"""
# The seed of a run draws masks too.
DROPPED = """
tp.parameter @w : tensor<64xf32> {id = 0 : i64, init = #tp.init<ones>}
func.func @main() -> tensor<64xf32> {
  %w = tp.param @w : tensor<64xf32>
  %y = tp.dropout %w {p = 0.5 : f64, id = 1 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
"""
# No parameter, and no instruction: what comes in leaves.
IDENTITY = """
func.func @same(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
"""


def main():
    folder = workspace(sys.argv[1])
    graph, loss = folder / "graph.mlir", folder / "loss.mlir"
    graph.write_text(GRAPH)
    loss.write_text(LOSS)
    random = np.random.default_rng(0)
    ids = random.integers(0, 9, (2, 3), dtype=np.int32)
    kinds = random.integers(0, 5, (2, 3), dtype=np.int64)
    table, types, bias = (random.integers(-4, 5, shape).astype(np.float32)
                          for shape in ((9, 4), (5, 4), (6,)))
    inputs, outputs = folder / "in.safetensors", folder / "out.safetensors"
    save_safetensors(inputs, {"word_ids": ids, "kinds": kinds, "table": table, "types": types, "arg4": bias})
    x = table[ids] + types[kinds]
    z = x @ np.full((6, 4), 2, np.float32).T + bias
    for ranks in 1, 2:
        plan = folder / f"f{ranks}.plan"
        succeed("tp-compile", graph, "--function", "--mesh", f"tp={ranks}", "--topology", FLAT,
                *(["--pin", "w=0:tp"] if ranks > 1 else []), "-o", plan)
        for processes in {1, ranks}:
            outputs.unlink(missing_ok=True)
            succeed("tp-run", "function", plan, "-n", processes, "--seed", 0, "--inputs", inputs, "--outputs", outputs)
            found = load_safetensors(outputs)
            where = f"tp={ranks} in {processes} processes"
            check(sorted(found) == ["loss_like", "result1"], f"outputs {sorted(found)} at {where}")
            check(np.array_equal(found["loss_like"], z), f"z differs at {where}")
            check(np.array_equal(found["result1"], x), f"x differs at {where}")
    plan = folder / "loss.plan"
    succeed("tp-compile", loss, "--function", "-o", plan)
    succeed("tp-run", "function", plan, "--seed", 0, "--outputs", outputs)
    check(load_safetensors(outputs)["loss"] == 9, "the loss is not the sum")
    graph.write_text(DROPPED)
    succeed("tp-compile", graph, "--function", "-o", plan)
    (folder / "weights").mkdir()
    save_safetensors(folder / "weights/model.safetensors", {"w": np.full(64, 3, np.float32)})
    masks = []
    for seed in 7, 7, 8:
        for weights, value in ((), 1), (("--weights", folder / "weights"), 3):
            succeed("tp-run", "function", plan, *weights, "--seed", seed, "--outputs", outputs)
            masks.append(load_safetensors(outputs)["result0"] / (2 * value))
            check(sorted(set(masks[-1])) == [0, 1], f"masks of {masks[-1]}")
    check(all(np.array_equal(mask, masks[0]) for mask in masks[:4]), "one seed, other masks")
    check(np.array_equal(masks[4], masks[5]) and not np.array_equal(masks[4], masks[0]), "another seed, the same masks")
    graph.write_text(IDENTITY)
    succeed("tp-compile", graph, "--function", "--mesh", "tp=2", "-o", plan)
    save_safetensors(inputs, {"arg0": bias.reshape(2, 3)})
    succeed("tp-run", "function", plan, "--inputs", inputs, "--outputs", outputs)
    check(np.array_equal(load_safetensors(outputs)["result0"], bias.reshape(2, 3)), "what came in does not leave")
    graph.write_text("func.func @main(%x: tensor<3xf32>) {\n  return\n}\n")
    refuse("tp-compile", graph, "--function", "-o", folder / "none.plan", says=["returns nothing"],
           leaves=[folder / "none.plan"])
    refuse("tp-compile", loss, "--function", "--outputs", "logits", "-o", folder / "none.plan",
           says=["--function with --outputs"])


main()
