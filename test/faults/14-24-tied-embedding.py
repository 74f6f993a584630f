# RUN: %python %s %t
"""Faults 14 and 24: a tied embedding's gradients from its two uses are both reduced, once, before
they are added, and the weight counts once in the norm. Split by vocabulary or as the solver chooses."""
import sys

import colrow
import equal
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
model = ranks.t0(work / "model")
wte = "transformer.wte.weight"
one = equal.train(work, model, 1, data=data)
colrow.check("lm_head.weight" not in one.weights, "a tied weight is saved twice")
for tp in (2, 4):
    for pin in ((), ("--pin", f"{wte}=0:tp")):
        found = equal.train(work, model, tp, data=data, options=pin, name="tied")
        equal.same(found, one, f"tp={tp}, {wte} {found.layouts[wte]}")
