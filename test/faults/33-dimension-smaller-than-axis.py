# RUN: %python %s %t
"""Fault 33: a dimension smaller than the axis is padded, and right, or refused when compiling."""
import sys

import colrow
import equal
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
model = ranks.t0(work / "narrow", n_embd=16, n_head=8, n_inner=7)
one = equal.train(work, model, 1, data=data)
equal.same(equal.train(work, model, 8, data=data), one, "MLP of 7 on 8 ranks")

plan = work / "few.plan"
few = ranks.t0(work / "few", n_embd=14, n_head=7)
done = colrow.run("tp-compile", few, "--mesh", "tp=8", "--batch", 2, "--seq", 8, "-o", plan)
if done.returncode == 0:
    one = equal.train(work, few, 1, data=data)
    equal.same(equal.train(work, few, 8, data=data), one, "7 heads on 8 ranks")
else:
    colrow.refuse("tp-compile", few, "--mesh", "tp=8", "--batch", 2, "--seq", 8, "-o", plan,
                  says=("7", "8"), leaves=(plan,))
