# RUN: %python %s %t
"""Fault 38: split parameters drawn with one seed have equal blocks, or other values on another mesh. One
seed gives the same bits on 1, 2 and 4 ranks, split on either dimension, padded or not; blocks differ."""
import sys

import colrow
import equal
import numpy as np

GRAPH = """module attributes {{tp.model_type = "graph"}} {{
  tp.parameter @wte : tensor<{v}x16xf32> {{id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}}
  tp.parameter @w1 : tensor<{f}x16xf32> {{id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}}
  tp.parameter @b1 : tensor<{f}xf32> {{id = 2 : i64, init = #tp.init<normal 1.0, 0.5>}}
  tp.parameter @w2 : tensor<16x{f}xf32> {{id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}}
  func.func @main(%ids: tensor<2x8xi32> {{tp.input = #tp.input<ids "input_ids">}}, %labels: tensor<2x9xi32> {{tp.input = #tp.input<labels "labels">}})
      -> (tensor<f32> {{tp.role = "loss"}}) {{
    %table = tp.param @wte : tensor<{v}x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<{v}x16xf32>) -> tensor<2x8x16xf32>
    %w1 = tp.param @w1 : tensor<{f}x16xf32>
    %u = tp.matmul %x, %w1 : (tensor<2x8x16xf32>, tensor<{f}x16xf32>) -> tensor<2x8x{f}xf32>
    %b1 = tp.param @b1 : tensor<{f}xf32>
    %v = tp.add %u, %b1 : (tensor<2x8x{f}xf32>, tensor<{f}xf32>) -> tensor<2x8x{f}xf32>
    %g = tp.gelu %v : (tensor<2x8x{f}xf32>) -> tensor<2x8x{f}xf32>
    %w2 = tp.param @w2 : tensor<16x{f}xf32>
    %y = tp.matmul %g, %w2 : (tensor<2x8x{f}xf32>, tensor<16x{f}xf32>) -> tensor<2x8x16xf32>
    %z = tp.add %x, %y : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x8x16xf32>, tensor<{v}x16xf32>) -> tensor<2x8x{v}xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x{v}xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }}
}}
"""
SPLIT = {"wte": 0, "w1": 0, "b1": 0, "w2": 1}
work = colrow.workspace(sys.argv[1])


def draw(graph, tp, seed):
    plan = work / "draw.plan"
    layouts = equal.compile_plan(graph, plan, tp, "--pin", "wte=0:tp", "--pin", "w1=0:tp")
    for name, dim in SPLIT.items() if tp > 1 else ():
        colrow.check(layouts[name] == f"split {dim} over tp", f"{name} is stored {layouts[name]}")
    colrow.succeed("tp-run", "train", plan, "--seed", seed, "--steps", 0, "--save", work / "drawn",
                   "--overwrite")
    return equal.saved_weights(work / "drawn")


for vocabulary, width in ((32, 64), (33, 50)):
    graph = work / f"v{vocabulary}.mlir"
    graph.write_text(GRAPH.format(v=vocabulary, f=width))
    one = draw(graph, 1, 7)
    colrow.check(one.keys() == set(SPLIT), f"saved {sorted(one)}")
    for tp in (2, 4):
        found = draw(graph, tp, 7)
        for name, tensor in one.items():
            colrow.check(found[name].tobytes() == tensor.tobytes(), f"tp={tp} draws another {name}")
    other = draw(graph, 2, 8)
    for name, dim in SPLIT.items():
        tensor = one[name]
        colrow.check(not np.array_equal(tensor, other[name]), f"{name}: seed 8 draws as 7")
        for parts in (2, 4):
            size = -(-tensor.shape[dim] // parts)
            blocks = [tensor.take(range(i * size, min((i + 1) * size, tensor.shape[dim])), dim)
                      for i in range(parts)]
            full = [b for b in blocks if b.shape == blocks[0].shape]
            for i, block in enumerate(full):
                colrow.check(not any(np.array_equal(block, b) for b in full[:i]),
                             f"{name}: two of {parts} blocks are equal")
