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

# Labels of a graph's own: an input of any name, and a loss that ignores another number.
GRAPH = """
module {
  tp.parameter @table : tensor<29x6xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @step(%ids: tensor<2x8xi32> {tp.role = "ids"}, %targets: tensor<2x8xi32> {INPUT}) -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @table : tensor<29x6xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<29x6xf32>) -> tensor<2x8x6xf32>
    %y = tp.matmul %x, %table : (tensor<2x8x6xf32>, tensor<29x6xf32>) -> tensor<2x8x29xf32>
    %sum, %count = tp.cross_entropy %y, %targets {ignore = IGNORE : i64} : (tensor<2x8x29xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
"""
for name, argument in (("targets", '#tp.input<data "targets", batch = 0>'), ("labels", '#tp.input<labels "labels">')):
    for ignored in (-100, 0, -1):
        graph = work / f"{name}{ignored}.mlir"
        graph.write_text(GRAPH.replace("INPUT", f"tp.input = {argument}").replace("IGNORE", str(ignored)))
        marked = np.where(labels == -100, ignored, labels)
        losses = []
        for path, a, b in (("rows", ids, marked), ("full", padded(ids, 0), padded(marked, ignored))):
            colrow.save_safetensors(work / f"{path}.safetensors", {"input_ids": a, name: b})
            plan = work / "graph.plan"
            colrow.compile_split(graph, plan, 1)
            losses.append(colrow.losses(colrow.train(plan, "--data", work / f"{path}.safetensors", "--seed", 5,
                                                     "--lr", 0.01, "--steps", 4)))
        colrow.check(losses[0] == losses[1], f"{graph.name}: the missing row counts, {losses}")
        if ignored != -100:
            colrow.save_safetensors(work / "wrong.safetensors", {"input_ids": ids, name: labels})
            colrow.refuse("tp-run", "train", plan, "--data", work / "wrong.safetensors", "--seed", 5, "--steps", 4,
                          says=(name[:5], "-100"))
