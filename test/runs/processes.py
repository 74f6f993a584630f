# RUN: %python %s %t
"""Ranks as processes are the ranks of one process: losses, norms, outputs and checkpoints are equal to the
bit for one process of threads, processes of two ranks and of one; checkpoints go from each to each; the
trace has all ranks."""
import filecmp
import json
import sys

import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model", attn_pdrop=0.1, resid_pdrop=0.1)
data = colrow.random_tokens(work / "tokens.bin", 4000, 64)
plan = colrow.compile_plan(model, work / "step.plan", 4, 4, 16, "--outputs", "gradients,logits")
ways = {"threads": (), "pairs": ("-n", 2), "each": ("-n", 4)}


def equal(one, other):
    colrow.check(filecmp.cmp(one, other, shallow=False), f"{one} and {other} differ")


reports = {}
for name, more in ways.items():
    reports[name] = colrow.train(plan, "--seed", 1, "--data", data, "--steps", 4, "--save", work / name, "--save-every", 2,
                                 "--dump-outputs", work / f"{name}.outputs", "--trace", work / f"{name}.trace", *more,
                                 report=work / f"{name}.json")
for name in ways:
    for what in ("loss", "grad_norm", "labels"):
        colrow.check([s[what] for s in reports[name]["steps"]] == [s[what] for s in reports["threads"]["steps"]],
                     f"{name}: {what} differs from the threads'")
    equal(work / f"{name}.outputs", work / "threads.outputs")
    for file in ("model.safetensors", "optimizer.safetensors"):
        equal(work / name / file, work / "threads" / file)
    events = json.loads((work / f"{name}.trace").read_text())["traceEvents"]
    slices = {r: sum(e["ph"] == "X" and e["tid"] == r for e in events) for r in range(4)}
    colrow.check(len(set(slices.values())) == 1 and slices[0] > 100, f"{name}: the trace has {slices} events of ranks")

# From each to each: the run goes on as if it had not stopped.
for name, more in ways.items():
    colrow.train(plan, "--seed", 1, "--data", data, "--steps", 7, "--save", work / f"whole-{name}", *more)
    for start in ways:
        out = work / f"{start}-{name}"
        colrow.train(plan, "--resume", work / start, "--data", data, "--steps", 7, "--save", out, *more)
        for file in ("model.safetensors", "optimizer.safetensors"):
            equal(out / file, work / "whole-threads" / file)
