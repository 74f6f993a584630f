# RUN: %python %s %t
"""Fault 27: a gradient that overflows on one rank alone, and a loss that stays finite: all ranks skip
the step, so parameters and optimizer state keep their bits on every mesh, clipping or not."""
import json
import sys

import colrow
import equal
import numpy as np
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
model = ranks.t0(work / "model")
weights = ranks.initial_weights(work, model)
# Unit 0 of the last MLP, which rank 0 holds, is huge; the zero matmul behind it keeps the loss
# finite, and that matmul's gradient is not.
weights["transformer.h.1.mlp.c_fc.bias"][0] = 3e38
weights["transformer.h.1.mlp.c_proj.weight"][:] = 0
start = ranks.with_weights(model, weights)
for tp in (1, 2, 4):
    for clip in ((), ("--clip-grad-norm", 1.0)):
        plan, saved = work / f"{tp}.plan", work / f"saved{tp}-{len(clip)}"
        equal.compile_plan(model, plan, tp, *clip)
        report = colrow.train(plan, *start, "--data", data, "--steps", 2, "--lr", 1e-2, "--save", saved)
        what = f"tp={tp} {colrow.shell(clip)}"
        colrow.check(all(np.isfinite(colrow.losses(report))), f"{what}: losses {colrow.losses(report)}")
        norms = [step["grad_norm"] for step in report["steps"]]
        colrow.check(norms == [None, None], f"{what}: norms {norms}, wanted none that is a number")
        left = [step["left_out"] for step in report["steps"]]
        colrow.check(left == [True, True] and report["steps_left_out"] == 2, f"{what}: left out {left}")
        found = colrow.load_safetensors(saved / "model.safetensors")
        for name, tensor in weights.items():
            colrow.check(found[name].tobytes() == tensor.tobytes(), f"{what}: {name} moved")
        state = colrow.load_safetensors(saved / "optimizer.safetensors")
        colrow.check(state and not any(t.any() for t in state.values()), f"{what}: the state moved")
        colrow.check(json.loads((saved / "state.json").read_text())["step"] == 2, f"{what}: steps")
