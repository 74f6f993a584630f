# RUN: %python %s %t
"""--grad-reduce bf16: gradients of bf16 parameters that ranks have shares of (a bias of each head, a weight
that the heads share and use twice) are summed in bf16: half the bytes, and numbers that bf16 holds. They
differ from those summed in float32 by roundings only, all other gradients by no bit. On one rank, and
where nothing of that kind is there, the plan is the same byte for byte."""
import re
import sys

import numpy as np

import colrow

work = colrow.workspace(sys.argv[1])
GRAPH = """module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @bias : tensor<4x4xf32> {id = 1 : i64, init = #tp.init<normal 1.0, 0.5>}
  tp.parameter @up : tensor<64x16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @down : tensor<16x64xf32> {id = 3 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @mix : tensor<16x16xf32> {id = 4 : i64, init = #tp.init<normal 0.0, 0.25>}
  func.func @main(%ids: tensor<2x6xi32> {tp.input = #tp.input<ids "input_ids">}, %labels: tensor<2x7xi32> {tp.input = #tp.input<labels "labels">})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x6xi32>, tensor<32x16xf32>) -> tensor<2x6x16xf32>
    %up = tp.param @up : tensor<64x16xf32>
    %u = tp.matmul %x, %up : (tensor<2x6x16xf32>, tensor<64x16xf32>) -> tensor<2x6x64xf32>
    %heads = tp.reshape %u : (tensor<2x6x64xf32>) -> tensor<2x6x4x16xf32>
    %bias = tp.param @bias : tensor<4x4xf32>
    %flat = tp.reshape %bias : (tensor<4x4xf32>) -> tensor<16xf32>
    %each = tp.add %heads, %flat : (tensor<2x6x4x16xf32>, tensor<16xf32>) -> tensor<2x6x4x16xf32>
    %a = tp.silu %each : (tensor<2x6x4x16xf32>) -> tensor<2x6x4x16xf32>
    %mix = tp.param @mix : tensor<16x16xf32>
    %once = tp.matmul %a, %mix : (tensor<2x6x4x16xf32>, tensor<16x16xf32>) -> tensor<2x6x4x16xf32>
    %bent = tp.silu %once : (tensor<2x6x4x16xf32>) -> tensor<2x6x4x16xf32>
    %twice = tp.matmul %bent, %mix : (tensor<2x6x4x16xf32>, tensor<16x16xf32>) -> tensor<2x6x4x16xf32>
    %joined = tp.reshape %twice : (tensor<2x6x4x16xf32>) -> tensor<2x6x64xf32>
    %down = tp.param @down : tensor<16x64xf32>
    %y = tp.matmul %joined, %down : (tensor<2x6x64xf32>, tensor<16x64xf32>) -> tensor<2x6x16xf32>
    %z = tp.add %x, %y : (tensor<2x6x16xf32>, tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
    %logits = tp.matmul %z, %table : (tensor<2x6x16xf32>, tensor<32x16xf32>) -> tensor<2x6x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x7xi32>) -> tensor<2x6xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x6x32xf32>, tensor<2x6xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
"""
REDUCED = {"bias": 16, "mix": 256}
graph = work / "graph.mlir"
graph.write_text(GRAPH)
data = colrow.random_tokens(work / "tokens.bin", 400, 32)


def compile_graph(tp, *more):
    plan = work / f"{tp}{''.join(more)}.plan"
    pins = ("--pin", "up=0:tp", "--pin", "down=1:tp")
    layouts = colrow.compile_split(graph, plan, tp, "--outputs", "gradients", "--dtype", "bf16", *pins, *more)
    colrow.check(tp == 1 or all(layouts[name] == "replicated" for name in REDUCED), f"tp={tp}: {layouts}")
    return plan


def moved(plan):
    """{elements: type} of the plan's sums over ranks."""
    text = colrow.succeed("tp-translate", "--plan-to-mlir", plan).stdout
    return {int(n): kind for n, kind in re.findall(r"plan\.all_reduce sum of (\d+) %\S+ : (\w+)", text)}


def step(plan):
    out = work / "gradients.safetensors"
    report = colrow.train(plan, "--seed", 1, "--data", data, "--steps", 1, "--lr", 1e-3, "--dump-outputs", out)
    return colrow.losses(report), colrow.load_safetensors(out)


def apart(found, wanted):
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


def in_bf16(array):
    return not (array.view(np.uint32) & 0xFFFF).any()


one = compile_graph(1)
colrow.check(one.read_bytes() == compile_graph(1, "--grad-reduce", "bf16").read_bytes(), "tp=1: another plan")
_, alone = step(one)
for tp in (2, 4):
    wide, narrow = compile_graph(tp), compile_graph(tp, "--grad-reduce", "bf16")
    colrow.check(wide.read_bytes() == compile_graph(tp, "--grad-reduce", "f32").read_bytes(), "f32 is the default")
    for name, elements in REDUCED.items():
        colrow.check((moved(wide)[elements], moved(narrow)[elements]) == ("f32", "bf16"), f"tp={tp}: {name} moves as {moved(narrow)}")
    losses, wanted = step(wide)
    found_losses, found = step(narrow)
    colrow.check(losses == found_losses, f"tp={tp}: the loss before any update: {found_losses}, wanted {losses}")
    for name in wanted:
        if name not in REDUCED:
            colrow.check(np.array_equal(found[name], wanted[name]), f"tp={tp}: the gradient of {name} is another one")
            continue
        # A share is rounded where it is made, the two of mix as a sum again, and the sum over ranks: 2^-9 each,
        # of shares that are together not much larger than their sum.
        colrow.check(in_bf16(found[name]) and not in_bf16(wanted[name]), f"tp={tp}: {name} is summed in the wrong type")
        error, alike = apart(found[name], wanted[name]), apart(found[name], alone[name])
        colrow.check(0 < error <= 2 ** -7, f"tp={tp}: the gradient of {name} is {error} off that summed in float32")
        colrow.check(alike <= 2 ** -6, f"tp={tp}: the gradient of {name} is {alike} off that of one rank")

# In a model of layers split in the usual way ranks have shares of no bf16 parameter's gradient.
model = colrow.gpt2_config(work / "gpt2")
plans = [work / f"gpt2-{kind}.plan" for kind in ("f32", "bf16")]
for kind, plan in zip(("f32", "bf16"), plans):
    colrow.compile_split(model, plan, 2, "--batch", 2, "--seq", 8, "--dtype", "bf16", "--grad-reduce", kind)
colrow.check(plans[0].read_bytes() == plans[1].read_bytes(), "gpt2: another plan")
