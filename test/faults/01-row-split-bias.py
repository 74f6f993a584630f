# RUN: %python %s %t
"""Fault 1: a row-split linear layer's bias, added before the all-reduce, counts once a rank.

Biases of hundreds on the output projection and the second MLP matmul."""
import sys

import colrow
import equal
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
model = ranks.t0(work / "model")
weights = ranks.initial_weights(work, model)
for name in weights:
    if name.endswith("c_proj.bias"):
        weights[name] += 100.0 + 100.0 * (weights[name].size % 7)
        weights[name][::2] *= -2.0
start = ranks.with_weights(model, weights)
one = equal.train(work, model, 1, start=start, data=data)
for tp in (2, 4):
    equal.same(equal.train(work, model, tp, start=start, data=data), one, f"tp={tp}")
