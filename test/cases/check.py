#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and trains one reference case and compares every figure with the independent one.

usage: check.py CASE TP [--dtype bf16] [--bin DIR] [--keep DIR]     CASE: a folder of this one, e.g. gpt2

The bounds (README.md says what is compared): loss of every step 2e-5 and gradient norm 2e-4,
relative; each gradient within 2e-4 of its tensor's largest element, logits within 2e-4 of theirs;
parameters after the last step within 2e-5 for 99.8 % of the elements and within 8 learning rates
for the rest. On several ranks something must be split. Exit code 1 when one does not hold.

In bf16 losses are held to 5e-4, norms to 1e-2, logits to 1.5e-2; each gradient to 2.5e-2 of its own L2
norm, or, where that is below 1e-4 of the norm of all gradients, to 1e-4 of that; of the parameters'
elements 70 % are near enough, since more of them change the sign of their gradient.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import typing

import numpy as np

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "harness"))
import colrow  # noqa: E402


class Bounds(typing.NamedTuple):
    loss: float = 2e-5
    norm: float = 2e-4
    gradient: float = 2e-4
    logits: float = 2e-4
    parameter: float = 2e-5        # for `share` of the elements
    share: float = 0.998
    rates: float = 8               # learning rates, for the rest
    gradient_norm: float = 0       # each gradient in L2 norm instead, where it is not 0


BF16 = Bounds(loss=5e-4, norm=1e-2, logits=1.5e-2, share=0.7, gradient_norm=2.5e-2)


def train(model, data, want, tp, work, *more, dtype="f32"):
    """Compiles the model folder and trains it on `data` as `want` (expected.json) says; `more`: further
    options of tp-run. Returns report, dumped outputs, saved weights, saved optimizer state."""
    plan = work / "step.plan"
    colrow.compile_split(model, plan, tp, "--batch", want["batch"], "--seq", want["seq"],
                         "--beta1", want["beta1"], "--beta2", want["beta2"], "--eps", want["eps"],
                         "--weight-decay", want["weight_decay"],
                         "--clip-grad-norm", want["clip_grad_norm"],
                         "--outputs", "gradients,logits", "--dtype", dtype)
    report = colrow.train(plan, "--weights", model, "--data", data, "--steps", want["steps"],
                          "--lr", want["lr"], "--save", work / "saved",
                          "--dump-outputs", work / "outputs.safetensors", *more)
    return (report, colrow.load_safetensors(work / "outputs.safetensors"),
            colrow.load_safetensors(work / "saved" / "model.safetensors"),
            colrow.load_safetensors(work / "saved" / "optimizer.safetensors"))


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


def scaled(found, wanted):
    """Largest difference, in units of the largest wanted element."""
    scale = np.abs(wanted).max()
    return float(np.abs(found.astype(np.float64) - wanted).max() / (scale if scale else 1.0))


def compare_scaled(table, what, found, wanted, bound):
    """Tensors by name, each within `bound` of its largest element."""
    names = same_names(table, what, found, wanted)
    worst, name = worst_of((n, scaled(found[n], wanted[n])) for n in names)
    table.row(f"{what}, of the largest element", worst, bound, name)


def compare_norms(table, found, wanted, bound):
    """Gradients in L2 norm, those that hardly count in units of the norm of all."""
    names = same_names(table, "gradients", found, wanted)
    whole = np.linalg.norm([np.linalg.norm(t.astype(np.float64)) for t in wanted.values()])
    apart = {n: np.linalg.norm(found[n].astype(np.float64) - wanted[n]) for n in names}
    norms = {n: np.linalg.norm(wanted[n].astype(np.float64)) for n in names}
    small = {n for n in names if norms[n] < 1e-4 * whole}
    worst, name = worst_of((n, apart[n] / norms[n]) for n in names if n not in small)
    table.row("gradients, relative L2 norm", worst, bound, name)
    worst, name = worst_of((n, apart[n] / whole) for n in small)
    table.row("small gradients, of the norm of all", worst, 1e-4, name)


def compare_parameters(table, saved, wanted, lr, bounds):
    names = same_names(table, "saved", saved, wanted)
    apart = np.concatenate([np.abs(saved[n].astype(np.float64) - wanted[n]).ravel()
                            for n in names]) if names else np.array([np.inf])
    worst, name = worst_of((n, float(np.abs(saved[n].astype(np.float64) - wanted[n]).max()))
                           for n in names)
    table.row(f"parameters, share within {bounds.parameter:g}", float((apart <= bounds.parameter).mean()),
              bounds.share, at_least=True)
    table.row("parameters, worst element", worst, bounds.rates * lr, name)


def compare(want, expected, report, outputs, saved, bounds=Bounds()):
    """`expected`: the tensors of expected.safetensors. Returns the table of all figures."""
    table = Table()
    steps = report["steps"]
    table.row("steps", len(steps), want["steps"], at_least=True)
    table.row("loss, relative", colrow.relative(colrow.losses(report), want["loss"]), bounds.loss)
    table.row("gradient norm, relative",
              colrow.relative([s["grad_norm"] for s in steps], want["grad_norm"]), bounds.norm)

    def named(prefix):
        return {n[len(prefix):]: t for n, t in expected.items() if n.startswith(prefix)}

    gradients = {n: t for n, t in outputs.items() if n != "logits"}
    if bounds.gradient_norm:
        compare_norms(table, gradients, named("grad."), bounds.gradient_norm)
    else:
        compare_scaled(table, "gradients", gradients, named("grad."), bounds.gradient)
    compare_scaled(table, "logits", {n: t for n, t in outputs.items() if n == "logits"},
                   {"logits": expected["logits.0"]}, bounds.logits)
    compare_parameters(table, saved, named("param."), want["lr"], bounds)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case")
    parser.add_argument("tp", type=int)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
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
        print(f"{arguments.case}, tp={arguments.tp}, {arguments.dtype}")
        want = json.loads((case / "expected.json").read_text())
        report, outputs, saved, _ = train(case, case / "batch.safetensors", want, arguments.tp, work,
                                          dtype=arguments.dtype)
        table = compare(want, colrow.load_safetensors(case / "expected.safetensors"), report, outputs, saved,
                        BF16 if arguments.dtype == "bf16" else Bounds())
    sys.exit(1 if table.failed else 0)


if __name__ == "__main__":
    main()
