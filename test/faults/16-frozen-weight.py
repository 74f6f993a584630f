# RUN: %python %s %t
"""Fault 16: a frozen first MLP weight has no gradient and does not move, and what lies before it still
gets its whole gradient: the backward all-reduce of the region does not go with the weight."""
import re
import sys

import colrow
import equal
import numpy as np
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
model = ranks.t0(work / "model")
graph = work / "graph.mlir"
colrow.succeed("tp-import", model, "--batch", 2, "--seq", 8, "-o", graph)
frozen, changed = re.subn(r"(tp\.parameter @\S*c_fc\.weight\S* : \S+ \{)", r"\1frozen, ", graph.read_text())
colrow.check(changed == 2, f"{changed} parameters of the graph are c_fc.weight, wanted 2")
frozen_graph = work / "frozen.mlir"
frozen_graph.write_text(frozen)

start = ranks.initial_weights(work, model)
free = equal.train(work, graph, 1, data=data, name="free")
one = equal.train(work, frozen_graph, 1, data=data, name="frozen")
runs = [one] + [equal.train(work, frozen_graph, tp, data=data, name="frozen") for tp in (2, 4)]
for found in runs:
    equal.same(found, one, "frozen")
    left = {n for n in free.gradients if not n.endswith("c_fc.weight")}
    colrow.check(set(found.gradients) == left, f"gradients of {sorted(found.gradients)}")
    for name in left:
        apart = ranks.apart(found.gradients[name], free.gradients[name])
        colrow.check(apart < equal.GRADIENT, f"gradient of {name} apart by {apart:.1e} from the free one's")
    for name, weight in start.items():
        colrow.check(np.array_equal(found.weights[name], weight) == name.endswith("c_fc.weight"),
                     f"{name} moved though frozen, or did not though free")
