# RUN: %python %s %t
"""Five rows in batches of two: the row that is missing from the last step counts for nothing. The losses and
weights are those of data in which it is there with token 0 and label -100, and the step's loss is that of its one
row alone."""
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B, S, V = 2, 8, 29
rng = np.random.default_rng(0)
ids = rng.integers(0, V, (5, S))
labels = ids.copy()
labels[2, 3] = -100
model = colrow.gpt2_config(work / "model", vocab_size=V)


def data(name, ids, labels):
    path = work / f"{name}.safetensors"
    colrow.save_safetensors(path, {"input_ids": ids, "labels": labels})
    return path


def padded(array, value):
    return np.concatenate([array, np.full((1, S), value, array.dtype)]).reshape(3, B, S)


rows = data("rows", ids, labels)
full = data("full", padded(ids, 0), padded(labels, -100))
last = data("last", ids[4:], labels[4:])
for tp in (1, 2):
    plan = colrow.compile_plan(model, work / f"{tp}.plan", tp, B, S)
    saved = {name: work / f"{name}{tp}" for name in ("rows", "full")}
    losses = {}
    for name, path in (("rows", rows), ("full", full)):
        report = colrow.train(plan, "--data", path, "--seed", 5, "--lr", 0.01, "--steps", 7, "--save", saved[name])
        losses[name] = [step["loss"] for step in report["steps"]]
        colrow.check([step["labels"] for step in report["steps"]] == [14, 13, 7, 14, 13, 7, 14],
                     f"tp={tp}, {name}: labels of {report['steps']}")
    colrow.check(losses["rows"] == losses["full"], f"tp={tp}: other losses, {losses}")
    for file in ("model.safetensors", "optimizer.safetensors"):
        colrow.check((saved["rows"] / file).read_bytes() == (saved["full"] / file).read_bytes(),
                     f"tp={tp}: other {file}")
    # The row by itself, in a plan for one row.
    alone = colrow.compile_plan(model, work / f"{tp}-alone.plan", tp, 1, S)
    both = [colrow.train(p, "--data", last, "--seed", 5, "--lr", 0, "--steps", 1)["steps"][0]["loss"]
            for p in (plan, alone)]
    colrow.check(abs(both[0] - both[1]) <= 1e-6 * both[1], f"tp={tp}: {both[0]} of a padded batch, {both[1]} alone")
