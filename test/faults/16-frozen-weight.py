# RUN: %python %s %t
"""Fault 16: a frozen first MLP weight takes no part in the update, and what lies before it still gets
its whole gradient: the backward all-reduce of the region does not go with the weight."""
import re
import sys

import colrow
import numpy as np
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
model = ranks.t0(work / "model")
graph = work / "graph.mlir"
colrow.succeed("tp-import", model, "--batch", 2, "--seq", 8, "-o", graph)
text = graph.read_text()
frozen, changed = re.subn(r"(tp\.parameter @\S*c_fc\.weight\S* : \S+ \{)", r"\1frozen, ", text)
colrow.check(changed == 2, f"{changed} parameters of the graph are c_fc.weight, wanted 2")
frozen_graph = work / "frozen.mlir"
frozen_graph.write_text(frozen)

free = ranks.train(work, graph, 1, data=data, name="free")
for tp in (1, 2):
    found = ranks.train(work, frozen_graph, tp, data=data, name="frozen")
    for name, gradient in free.gradients.items():
        if name.endswith("c_fc.weight"):
            continue
        apart = ranks.apart(found.gradients[name], gradient)
        colrow.check(apart < 1e-4, f"tp={tp}: gradient of {name} apart by {apart:.1e}")
    start = ranks.initial_weights(work, model)
    for name, weight in start.items():
        same = np.array_equal(found.weights[name], weight)
        colrow.check(same == name.endswith("c_fc.weight"),
                     f"tp={tp}: {name} {'did not move' if same else 'moved'}")
