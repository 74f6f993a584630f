# RUN: %python %s %t
"""Dropout masks depend on the seed and the step, not on the mesh: the loss curves are equal."""
import sys

import colrow

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 2000, 64)


def curve(model, tp, seed=3):
    plan = colrow.compile_plan(model, work / f"{model.name}-{tp}.plan", tp, 4, 16)
    return colrow.losses(colrow.train(plan, "--seed", seed, "--data", data, "--steps", 6, "--lr", 1e-3))


wet = colrow.gpt2_config(work / "dropout", attn_pdrop=0.1, embd_pdrop=0.1, resid_pdrop=0.1)
dry = colrow.gpt2_config(work / "none")
one = curve(wet, 1)
for tp in (2, 4):
    colrow.check(colrow.relative(curve(wet, tp), one) <= 1e-5, f"dropout: tp={tp} differs from tp=1")
colrow.check(colrow.relative(curve(dry, 1), one) > 1e-4, "dropout 0.1 changes nothing")
colrow.check(curve(wet, 1) == one, "the same run twice gives other losses")
