# RUN: %python %s %t
"""A checkpoint belongs to parameters of one name, shape, type and layout: a plan in which one of these is
another, be it of a parameter that is not trained, does not go on from it."""
import sys

import colrow

work = colrow.workspace(sys.argv[1])
GRAPH = """module attributes {{tp.model_type = "graph"}} {{
  tp.parameter @wte : tensor<32x16xf32> {{id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}}
  tp.parameter @{name} : tensor<{shape}x{type}> {{id = 1 : i64, init = #tp.init<ones>, frozen}}
  func.func @main(%ids: tensor<2x8xi32> {{tp.input = #tp.input<ids "input_ids">}}, %labels: tensor<2x9xi32> {{tp.input = #tp.input<labels "labels">}})
      -> (tensor<f32> {{tp.role = "loss"}}) {{
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %s = tp.param @{name} : tensor<{shape}x{type}>
    %r = tp.take_rows %s : (tensor<{shape}x{type}>) -> tensor<8x16x{type}>
    {cast}
    %y = tp.mul %x, %c : (tensor<2x8x16xf32>, tensor<8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %y, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }}
}}
"""
CAST = {"f32": "%c = tp.scale %r {factor = 1.0 : f64} : (tensor<8x16xf32>) -> tensor<8x16xf32>",
        "bf16": "%c = tp.cast %r : (tensor<8x16xbf16>) -> tensor<8x16xf32>"}
data = colrow.random_tokens(work / "tokens.bin", 400, 32)


def compiled(title, *more, name="scale", shape="9x16", type="f32"):
    graph, plan = work / f"{title}.mlir", work / f"{title}.plan"
    graph.write_text(GRAPH.format(name=name, shape=shape, type=type, cast=CAST[type]))
    colrow.succeed("tp-compile", graph, "--mesh", "tp=2", "--topology", colrow.FLAT, *more, "-o", plan)
    return plan


def train(plan, *more):
    return ("tp-run", "train", plan, "--data", data, "--lr", 1e-3, *more)


first = compiled("first", "--pin", "wte=0:tp")
out = work / "out"
colrow.succeed(*train(first, "--seed", 1, "--steps", 1, "--save", out))
colrow.succeed(*train(compiled("again", "--pin", "wte=0:tp"), "--resume", out, "--steps", 2))
for other in (compiled("name", "--pin", "wte=0:tp", name="other"), compiled("shape", "--pin", "wte=0:tp", shape="10x16"),
              compiled("type", "--pin", "wte=0:tp", type="bf16"), compiled("layout", "--pin", "wte=1:tp")):
    colrow.refuse(*train(other, "--resume", out, "--steps", 2, "--save", work / "never"),
                  says=("other parameters or layouts",), leaves=(work / "never",))
