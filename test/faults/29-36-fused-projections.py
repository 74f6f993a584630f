# RUN: %python %s %t
"""Faults 29 and 36: a fused QKV is split by head in each third, not flat, and a gated MLP's two
projections stay paired, whatever the number of ranks."""
import sys

import colrow
import equal
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
models = [ranks.t0(work / "fused"), ranks.t0_llama(work / "gated"),
          ranks.t0_llama(work / "grouped", num_key_value_heads=2),
          ranks.t0_llama(work / "odd", intermediate_size=30)]
for model in models:
    one = equal.train(work, model, 1, data=data)
    for tp in (2,) if model.name == "grouped" else (2, 4):
        equal.same(equal.train(work, model, tp, data=data), one, f"{model.name}, tp={tp}")
