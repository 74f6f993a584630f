#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains one model on several ranks and on one, and compares all that comes out.

usage: equal.py GRAPH FOLDER [--tp 1 2 4] [--split PARAM=DIM ...] [--whole PARAM ...] [-- tp-compile options]

GRAPH is IR (or a model folder); files go into FOLDER. Compared with the first tp, which draws the same
weights from the same seed: loss of every step 1e-5 and norm 2e-4, relative; every gradient, before
clipping, within 2e-4 of its largest element; the norm of the dumped gradients with the reported one;
the saved parameters. The topology has no latency, so that small models are split as large ones are; a
run on several ranks in which nothing is split proves nothing and fails. --split and --whole say how
tp-compile must store a parameter.
"""
import argparse
import pathlib
import sys

import colrow
import numpy as np
import ranks

B, S, LR = 2, 8, 1e-3
LOSS, NORM, GRADIENT, PARAMETER = 1e-5, 2e-4, 2e-4, 2e-5


class Outcome:
    """What one run gave. Arrays by the checkpoint's names; gradients are step 0's, before clipping."""

    def __init__(self, layouts, report, outputs, saved):
        self.layouts = layouts  # stored layout by name: "replicated" or "split 0 over tp"
        self.losses = colrow.losses(report)
        self.norms = [step["grad_norm"] for step in report["steps"]]
        self.memory, self.collectives = report["memory"], report["collectives"]
        self.logits = outputs.pop("logits", None)
        self.gradients, self.weights = outputs, saved

    def gradient_norm(self):
        """L2 norm over all dumped gradients, in float64."""
        return float(np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in self.gradients.values())))


def compile_plan(model, plan, tp, *options, batch=B, seq=S):
    """Compiles without latency; returns the layouts of the printed summary, by parameter."""
    sizes = () if pathlib.Path(model).suffix == ".mlir" else ("--batch", batch, "--seq", seq)
    return colrow.compile_split(model, plan, tp, *sizes, *options)


def train(work, model, tp, start=("--seed", 1), data=None, steps=3, lr=LR, options=(), outputs="gradients",
          name=""):
    """Compiles and trains. The large epsilon keeps AdamW from turning rounding of tiny gradients into
    whole steps; `options` may set another."""
    stem = work / f"{name or pathlib.Path(model).stem}-tp{tp}"
    plan = pathlib.Path(f"{stem}.plan")
    epsilon = () if "--eps" in options else ("--eps", 1e-4)
    layouts = compile_plan(model, plan, tp, "--outputs", outputs, *epsilon, *options)
    report = colrow.train(plan, *start, "--data", data, "--steps", steps, "--lr", lr,
                          "--save", f"{stem}-saved", "--overwrite", "--dump-outputs", f"{stem}.safetensors")
    return Outcome(layouts, report, colrow.load_safetensors(f"{stem}.safetensors"),
                   saved_weights(f"{stem}-saved"))


def saved_weights(folder):
    """Every parameter of a checkpoint."""
    return colrow.load_safetensors(f"{folder}/model.safetensors")


def same(found, wanted, what, gradients=GRADIENT, losses=LOSS):
    """Ends the test where `found` (more ranks) differs from `wanted` (one rank)."""
    for name in ("losses", "norms"):
        values = getattr(found, name) + getattr(wanted, name)
        colrow.check(np.isfinite(values).all(), f"{what}: {name} {values}")
    loss, norm = colrow.relative(found.losses, wanted.losses), colrow.relative(found.norms, wanted.norms)
    colrow.check(loss <= losses, f"{what}: losses {found.losses}, wanted {wanted.losses}")
    colrow.check(norm <= NORM, f"{what}: norms {found.norms}, wanted {wanted.norms}")
    whole = found.gradient_norm()
    colrow.check(abs(found.norms[0] / whole - 1) <= NORM,
                 f"{what}: norm {found.norms[0]}, that of the dumped gradients is {whole}")
    colrow.check(wanted.gradients and wanted.weights, f"{what}: no gradients or no weights came out")
    worst = [0.0, 0.0]
    for index, (kind, a, b) in enumerate((("gradients", found.gradients, wanted.gradients),
                                          ("parameters", found.weights, wanted.weights))):
        colrow.check(a.keys() == b.keys(), f"{what}: {kind} {sorted(a)}, wanted {sorted(b)}")
        for name in b:
            colrow.check(a[name].shape == b[name].shape, f"{what}: {kind}: shape of {name} {a[name].shape}")
            apart = ranks.apart(a[name], b[name])
            worst[index] = max(worst[index], apart)
            bound = (gradients, PARAMETER)[index]
            colrow.check(apart <= bound, f"{what}: {kind}: {name} apart by {apart:.2e} of its largest element")
    print(f"{what}: apart: loss {loss:.1e}, norm {norm:.1e}, gradients {worst[0]:.1e}, parameters {worst[1]:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=pathlib.Path)
    parser.add_argument("folder")
    parser.add_argument("--tp", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--vocabulary", type=int, default=32)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--split", nargs="+", default=[], metavar="PARAM=DIM")
    parser.add_argument("--whole", nargs="+", default=[], metavar="PARAM")
    known, options = sys.argv[1:], []
    if "--" in known:
        known, options = known[:known.index("--")], known[known.index("--") + 1:]
    arguments = parser.parse_args(known)
    work = colrow.workspace(arguments.folder)
    data = colrow.random_tokens(work / "tokens.bin", 400, arguments.vocabulary)
    one = None
    for tp in arguments.tp:
        found = train(work, arguments.graph, tp, data=data, steps=arguments.steps, options=options)
        if one is None:
            one = found
            continue
        stored = {n: f"split {d} over tp" for n, d in (s.rsplit("=", 1) for s in arguments.split)}
        stored.update({n: "replicated" for n in arguments.whole})
        for name, layout in stored.items():
            colrow.check(found.layouts.get(name, "").startswith(layout),
                         f"{name} is stored {found.layouts.get(name)}, wanted {layout}")
        same(found, one, f"tp={tp}")


if __name__ == "__main__":
    main()
