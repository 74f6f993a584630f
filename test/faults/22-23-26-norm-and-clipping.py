# RUN: %python %s %t
"""Faults 22, 23 and 26: the global norm counts every element once, split or replicated; clipping
scales every gradient, replicated ones too, and needs no copy of them all."""
import sys

import colrow
import equal
import numpy as np
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 33)
model = ranks.t0(work / "model", vocab_size=33, n_inner=50)


def run(tp, limit):
    options = ("--clip-grad-norm", limit, "--eps", 1e-3)
    return equal.train(work, model, tp, steps=4, data=data, options=options, name=f"clip{limit}")


# With an epsilon of 1e-3 AdamW's step depends on the gradient's scale, so clipping shows.
free, tight = run(1, 1e9), run(1, 1e-3)
moved = [n for n in free.weights if np.abs(free.weights[n] - tight.weights[n]).max() > 1e-4]
colrow.check(len(moved) == len(free.weights),
             f"clipping changed nothing in {sorted(set(free.weights) - set(moved))}")
colrow.check(abs(free.norms[0] / tight.norms[0] - 1) < 1e-6, "the norm is not the one before clipping")
for tp in (2, 4):
    for limit, one in ((1e9, free), (1e-3, tight)):
        equal.same(run(tp, limit), one, f"tp={tp}, limit {limit:g}")

# Memory, without gradients as outputs: clipping adds less than one copy of the gradients.
for tp in (1, 2):
    arenas = []
    for limit in ((), ("--clip-grad-norm", 1e-3)):
        plan = work / f"memory{tp}-{len(limit)}.plan"
        equal.compile_plan(model, plan, tp, *limit)
        memory = colrow.train(plan, "--seed", 1, "--data", data, "--steps", 1, "--lr", 1e-3)["memory"]
        arenas.append(memory["arena"])
    colrow.check(arenas[1] - arenas[0] <= memory["gradients"] // 4 + 4096,
                 f"tp={tp}: clipping grows the arena from {arenas[0]} to {arenas[1]} bytes")
