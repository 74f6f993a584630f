# RUN: %python %s %t
"""Parameters of a graph that name no tensor of a model folder are saved under their symbols' names, load
from them, and never start from random values without a word."""
import sys

import colrow
import numpy as np

GRAPH = """
module attributes {{tp.model_type = "graph"}} {{
  tp.parameter @wte : tensor<32x16xf32> {{id = 0 : i64, init = #tp.init<normal 0.0, 0.5>{wte}}}
  tp.parameter @{head} : tensor<32x16xf32> {{id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}}
  func.func @main(%ids: tensor<2x8xi32> {{tp.role = "ids"}}, %labels: tensor<2x9xi32> {{tp.role = "labels"}})
      -> (tensor<f32> {{tp.role = "loss"}}) {{
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %head = tp.param @{head} : tensor<32x16xf32>
    %logits = tp.matmul %x, %head : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }}
}}
"""
SOURCE = ', source = [#tp.source<"{}" : [32, 16] as [32, 16] from [0, 0] step [1, 1] size [32, 16] perm [0, 1]>]'
work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)


def compiled(title, tp, wte="", head="head"):
    (work / f"{title}.mlir").write_text(GRAPH.format(wte=wte, head=head))
    plan = work / f"{title}{tp}.plan"
    colrow.succeed("tp-compile", work / f"{title}.mlir", "--mesh", f"tp={tp}", "--topology", colrow.FLAT, "-o", plan)
    return plan


def train(plan, *more):
    return colrow.succeed("tp-run", "train", plan, "--data", data, "--lr", 1e-2, *more).stderr


for tp in (1, 2):
    plan = compiled("plain", tp)
    saved = work / f"saved{tp}"
    train(plan, "--seed", 4, "--steps", 3, "--save", saved)
    weights = colrow.load_safetensors(saved / "model.safetensors")
    colrow.check({n: t.shape for n, t in weights.items()} == {"wte": (32, 16), "head": (32, 16)}, f"saved {weights}")
    state = colrow.load_safetensors(saved / "optimizer.safetensors")
    colrow.check(state.keys() == {f"{s}.{n}" for s in ("exp_avg", "exp_avg_sq") for n in weights}, f"saved {sorted(state)}")
    colrow.check(train(plan, "--weights", saved, "--seed", 9, "--steps", 0, "--save", work / f"again{tp}") == "", "a note")
    again = colrow.load_safetensors(work / f"again{tp}" / "model.safetensors")
    colrow.check(all(again[n].tobytes() == weights[n].tobytes() for n in weights), f"tp={tp}: saved, then altered")
    # A run that goes on is the one that did not stop.
    train(plan, "--seed", 4, "--steps", 6, "--save", work / f"whole{tp}")
    train(plan, "--resume", saved, "--steps", 6, "--save", saved)
    for name in ("model.safetensors", "optimizer.safetensors"):
        colrow.check((saved / name).read_bytes() == (work / f"whole{tp}" / name).read_bytes(), f"tp={tp}: {name} differs")

# A folder that holds only a part: the other part starts from its seed, and that is said.
table = np.arange(512, dtype=np.float32).reshape(32, 16) / 512
part = work / "part"
part.mkdir()
colrow.save_safetensors(part / "model.safetensors", {"wte": table})
plan = compiled("plain", 1)
said = train(plan, "--weights", part, "--seed", 4, "--steps", 0, "--save", work / "mixed")
colrow.check(said.count("\n") == 1 and "head" in said and "seed 4" in said, f"no word of what is missing: {said}")
mixed = colrow.load_safetensors(work / "mixed" / "model.safetensors")
train(plan, "--seed", 4, "--steps", 0, "--save", work / "drawn")
drawn = colrow.load_safetensors(work / "drawn" / "model.safetensors")
colrow.check(mixed["wte"].tobytes() == table.tobytes() and mixed["head"].tobytes() == drawn["head"].tobytes(),
             "loaded or drawn otherwise")
colrow.save_safetensors(part / "model.safetensors", {"another": table})
colrow.refuse("tp-run", "train", plan, "--weights", part, "--data", data, "--steps", 1, says=("none", "wte", "head"))
colrow.save_safetensors(part / "model.safetensors", {"wte": table, "head": table[:, :8].copy()})
colrow.refuse("tp-run", "train", plan, "--weights", part, "--data", data, "--steps", 1, says=("head", "[32, 8]", "[32, 16]"))

# A symbol with the name of another's tensor: one tensor cannot be both.
clash = compiled("clash", 1, wte=SOURCE.format("head"))
colrow.refuse("tp-run", "train", clash, "--seed", 1, "--steps", 0, "--save", work / "never", says=("head",),
              leaves=(work / "never",))
colrow.refuse("tp-run", "train", clash, "--weights", work / "drawn", "--data", data, "--steps", 1, says=("head", "wte"))

# Names under which a Safetensors file holds no tensor: what is saved could not be read again.
for name in ("__metadata__", r'"a\FF"'):
    for title, more in (("symbol", {"head": name}), ("source", {"wte": SOURCE.format(name.strip('"'))})):
        (work / "unnamed.mlir").write_text(GRAPH.format(**{"wte": "", "head": "head", **more}))
        colrow.refuse("tp-compile", work / "unnamed.mlir", "-o", work / "unnamed.plan",
                      says=("cannot be the name of a tensor",), leaves=[work / "unnamed.plan"])
