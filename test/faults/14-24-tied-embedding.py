# RUN: %python %s %t
"""Faults 14 and 24: a tied embedding's gradients from its two uses are both reduced, once, before
they are added, and the weight counts once in the norm. Split by vocabulary or as the solver chooses."""
import sys

import colrow
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
model = ranks.t0(work / "model")
wte = "transformer.wte.weight"
one = ranks.train(work, model, 1, data=data)
colrow.check("lm_head.weight" not in one.weights, "a tied weight is saved twice")
for tp in (2, 4):
    for options in ((), ("--pin", f"{wte}=0:tp")):
        found = ranks.train(work, model, tp, data=data, options=options, name=f"pins{len(options)}")
        ranks.same(found, one, f"tp={tp}, {colrow.shell(options)}")
        whole = found.gradient_norm()
        colrow.check(abs(found.norms[0] / whole - 1) < 1e-5,
                     f"tp={tp}: norm {found.norms[0]}, of the gradients {whole}")
