# RUN: %python %s %t
"""The collectives of a GPT-2 of two layers, word embedding split over the vocabulary: where they
stand, how many there are, and how many bytes a layer sends."""
import collections
import os
import re
import sys

import colrow

LAYERS, BATCH, SEQ, HIDDEN, VOCAB, RANKS = 2, 2, 40, 96, 200, 2
TOPOLOGY = os.path.join(os.path.dirname(__file__), "..", "topologies", "flat.yaml")
PIN = "transformer.wte.weight=0:tp"

work = colrow.workspace(sys.argv[1])


def graph(layers):
    """Path of the imported graph; every size of it differs."""
    folder = colrow.gpt2_config(work / f"layers{layers}", n_layer=layers, n_embd=HIDDEN,
                                vocab_size=VOCAB, n_positions=48)
    path = work / f"layers{layers}.mlir"
    colrow.succeed("tp-import", folder, "--batch", BATCH, "--seq", SEQ, "-o", path)
    return path


def passes(path, *names):
    shard = f"--tp-shard=mesh=tp={RANKS} topology={TOPOLOGY} pin={PIN}"
    return colrow.succeed("tp-opt", path, shard, *(f"--{name}" for name in names)).stdout


def shape(*sizes):
    return "x".join(map(str, (*sizes, "f32")))


ACTIVATION, ROW = shape(BATCH, SEQ, HIDDEN), shape(BATCH, SEQ)

# The forward graph: name, operand, shape and result of every change of layout.
forward = passes(graph(LAYERS), "tp-insert-conjugates")
changes = re.findall(r"(%\w+) = tp\.(f|g|g_max|gather|scatter|slice|unslice|all_to_all) (%\w+) over "
                     r'\["tp"\].*? : tensor<([^,]*),', forward)
on_activations = collections.Counter(kind for _, kind, _, size in changes if size == ACTIVATION)
colrow.check(on_activations == {"f": 2 * LAYERS + 1, "g": 2 * LAYERS + 1},
             f"two f and two g a layer, one g of the embedding and one f of the head are wanted, "
             f"not {dict(on_activations)}")

# Each f of a layer enters its split region once: three matmuls (Q, K and V) or one (the MLP's).
users = []
for result, kind, _, size in changes:
    if kind == "f" and size == ACTIVATION:
        users.append(len(re.findall(rf"= tp\.matmul {result},", forward)))
colrow.check(users == [3, 1] * LAYERS + [1],
             f"Q, K and V share one f, the MLP and the head have their own: {users}")

# No rank gathers what it does not own but the table of positions, before the first layer.
moved = [(kind, size) for _, kind, _, size in changes
         if kind not in ("f", "g", "g_max")]
colrow.check(all(size == shape(SEQ, HIDDEN) for _, size in moved), f"activations move: {moved}")

# The step on local shapes.
local = passes(graph(LAYERS), "tp-insert-conjugates", "tp-differentiate", "tp-optimize",
               "tp-partition")
reduces = collections.Counter(re.findall(r"= tp\.all_reduce .* -> tensor<(.*)>", local))
wanted = {ACTIVATION: 4 * LAYERS + 2, ROW: 3, "3xf32": 1}
colrow.check(reduces == wanted, f"all-reduces by shape are {dict(reduces)}, wanted {wanted}")
colrow.check("tp.reduce_scatter" not in local, "a reduce-scatter in a step without sequence splits")

# What a layer more adds to the report: 8 b s h (p-1)/p elements of float32 in 4 all-reduces.
data = colrow.random_tokens(work / "tokens.bin", 200, VOCAB)
sent = {}
for layers in (LAYERS, LAYERS + 1):
    plan, report = work / f"{layers}.plan", work / f"{layers}.json"
    colrow.succeed("tp-compile", graph(layers), "--mesh", f"tp={RANKS}", "--topology", TOPOLOGY,
                   "--pin", PIN, "-o", plan)
    colrow.succeed("tp-run", "train", plan, "--seed", 1, "--data", data, "--steps", 1,
                   "--lr", 0.001, "--report", report)
    entries = colrow.json.loads(report.read_text())["collectives"]
    sent[layers] = {e["kind"]: (e["count"], e["bytes"]) for e in entries}
kind = next(k for k in sent[LAYERS] if "reduce" in k)
count, size = (after - before for before, after in zip(sent[LAYERS][kind], sent[LAYERS + 1][kind]))
wanted = 4 * 8 * BATCH * SEQ * HIDDEN * (RANKS - 1) // RANKS
colrow.check(count == 4, f"a layer adds {count} all-reduces, wanted 4")
colrow.check(size == wanted, f"a layer adds {size} bytes sent, wanted {wanted}")
print(f"a layer sends {size} bytes in {count} all-reduces; all of the step: {sent[LAYERS]}")
