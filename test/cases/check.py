#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and trains one reference case and compares every figure with the independent one.

usage: check.py CASE TP [--bin DIR] [--keep DIR]     CASE: a folder of this one, e.g. gpt2

The bounds (README.md says what is compared): loss of every step 2e-5 and gradient norm 2e-4,
relative; each gradient within 2e-4 of its tensor's largest element, logits within 2e-4 of theirs;
parameters after the last step within 2e-5 for 99.8 % of the elements and within 8 learning rates
for the rest. Exit code 1 when one does not hold.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

import numpy as np

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "harness"))
import colrow  # noqa: E402

LOSS, NORM, GRADIENT, LOGITS = 2e-5, 2e-4, 2e-4, 2e-4
PARAMETER, PARAMETER_SHARE, PARAMETER_RATES = 2e-5, 0.998, 8


def train(case, tp, work):
    """Runs the tools; returns (expected settings, report, dumped tensors, saved tensors)."""
    want = json.loads((case / "expected.json").read_text())
    plan = work / "step.plan"
    colrow.compile_plan(case, plan, tp, want["batch"], want["seq"],
                        "--beta1", want["beta1"], "--beta2", want["beta2"], "--eps", want["eps"],
                        "--weight-decay", want["weight_decay"],
                        "--clip-grad-norm", want["clip_grad_norm"],
                        "--outputs", "gradients,logits")
    report = colrow.train(plan, "--weights", case, "--data", case / "batch.safetensors",
                          "--steps", want["steps"], "--lr", want["lr"], "--save", work / "saved",
                          "--dump-outputs", work / "outputs.safetensors")
    return (want, report, colrow.load_safetensors(work / "outputs.safetensors"),
            colrow.load_safetensors(work / "saved" / "model.safetensors"))


class Table:
    """Worst figure of each kind beside its bound."""

    def __init__(self):
        self.failed = False

    def row(self, what, worst, bound, where="", at_least=False):
        good = np.isfinite(worst) and (worst >= bound if at_least else worst <= bound)
        self.failed |= not good
        print(f"{what:<34} {worst:>12.4g} {'>=' if at_least else '<='} {bound:<10.4g} "
              f"{'ok' if good else 'FAILED':<6} {where}")


def worst_of(pairs):
    """(largest value, its name); a NaN counts as the largest."""
    return max(((v if np.isfinite(v) else np.inf, n) for n, v in pairs), default=(0.0, ""))


def same_names(table, what, found, wanted):
    """Names and shapes must be the same set; returns the names present in both."""
    differ = [n for n in sorted({*found, *wanted})
              if n not in found or n not in wanted or found[n].shape != wanted[n].shape]
    table.row(f"{what}: names or shapes differing", len(differ), 0, ", ".join(differ[:4]))
    return [n for n in wanted if n not in differ]


def compare(case, want, report, outputs, saved):
    table = Table()
    expected = colrow.load_safetensors(case / "expected.safetensors")
    steps = report["steps"]
    table.row("steps", len(steps), want["steps"], at_least=True)
    table.row("loss, relative", colrow.relative(colrow.losses(report), want["loss"]), LOSS)
    table.row("gradient norm, relative",
              colrow.relative([s["grad_norm"] for s in steps], want["grad_norm"]), NORM)

    def scaled(found, wanted):
        scale = np.abs(wanted).max()
        return float(np.abs(found.astype(np.float64) - wanted).max() / (scale if scale else 1.0))

    gradients = {n[5:]: t for n, t in expected.items() if n.startswith("grad.")}
    dumped = {n: t for n, t in outputs.items() if n != "logits"}
    names = same_names(table, "gradients", dumped, gradients)
    worst, name = worst_of((n, scaled(dumped[n], gradients[n])) for n in names)
    table.row("gradient, of the largest element", worst, GRADIENT, name)
    logits = expected["logits.0"]
    if "logits" not in outputs or outputs["logits"].shape != logits.shape:
        table.row("logits missing or mis-shaped", 1, 0)
    else:
        table.row("logits, of the largest element", scaled(outputs["logits"], logits), LOGITS)

    wanted = {n[6:]: t for n, t in expected.items() if n.startswith("param.")}
    names = same_names(table, "saved", saved, wanted)
    apart = np.concatenate([np.abs(saved[n].astype(np.float64) - wanted[n]).ravel()
                            for n in names]) if names else np.array([np.inf])
    worst, name = worst_of((n, float(np.abs(saved[n].astype(np.float64) - wanted[n]).max()))
                           for n in names)
    table.row("parameters, share within 2e-5", float((apart <= PARAMETER).mean()), PARAMETER_SHARE,
              at_least=True)
    table.row("parameters, worst element", worst, PARAMETER_RATES * want["lr"], name)
    return not table.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case")
    parser.add_argument("tp", type=int)
    parser.add_argument("--bin", help="folder of the tools (default: $COLROW_BIN, else PATH)")
    parser.add_argument("--keep", type=pathlib.Path, help="write the run's files here and keep them")
    arguments = parser.parse_args()
    if arguments.bin:
        os.environ["COLROW_BIN"] = arguments.bin
    case = here / arguments.case
    if not (case / "expected.json").exists():
        sys.exit(f"check.py: no case {arguments.case} in {here}")
    with tempfile.TemporaryDirectory() as temporary:
        work = colrow.workspace(arguments.keep) if arguments.keep else pathlib.Path(temporary)
        print(f"{arguments.case}, tp={arguments.tp}")
        good = compare(case, *train(case, arguments.tp, work))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
