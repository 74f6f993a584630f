#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks test/harness/reference.py, with which configurations.py compares: its training of every
committed case must be that of transformers on PyTorch, and where no case has a configuration, its
gradients must be the central differences of its loss.

Bounds: gradients and logits of a case 1e-6 of the tensor's largest element, losses and norms 1e-6,
relative (PyTorch's were computed in float64 but for RMS norm and rotary angles, and stored in
float32); parameters a hundredth of a learning rate. Differences 1e-7 of the gradient's norm.
"""
import json
import pathlib
import sys

import numpy as np

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "harness"))
import colrow  # noqa: E402
import configurations  # noqa: E402
import reference  # noqa: E402

BOUND, RATES, DIFFERENCE = 1e-6, 0.01, 1e-7


def scaled(found, wanted):
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def committed(case):
    """The reference's training of a case against the committed one."""
    want = json.loads((case / "expected.json").read_text())
    batch = colrow.load_safetensors(case / "batch.safetensors")
    stored = colrow.load_safetensors(case / "expected.safetensors")
    config = json.loads((case / "config.json").read_text())
    found = reference.train(config, colrow.load_safetensors(case / "model.safetensors"),
                            batch["input_ids"], batch["labels"], want)
    figures = [("loss", colrow.relative(found["loss"], want["loss"]), BOUND),
               ("norm", colrow.relative(found["grad_norm"], want["grad_norm"]), BOUND),
               ("logits", scaled(found["logits"], stored["logits.0"]), BOUND)]
    for kind, key in (("grad", "gradients"), ("param", "weights")):
        wanted = {n[len(kind) + 1:]: t for n, t in stored.items() if n.startswith(kind + ".")}
        colrow.check(found[key].keys() == wanted.keys(), f"{case.name}: {key} have other names")
    figures.append(("gradients", max(scaled(g, stored["grad." + n]) for n, g in found["gradients"].items()),
                    BOUND))
    figures.append(("weights", max(float(np.abs(w - stored["param." + n]).max())
                                   for n, w in found["weights"].items()), RATES * want["lr"]))
    print(f"{case.name}: " + ", ".join(f"{name} {value:.1e}" for name, value, _ in figures))
    for name, value, bound in figures:
        colrow.check(value <= bound, f"{case.name}: {name} apart by {value:.2e}, wanted {bound}")


def differences(name, configuration):
    """Each weight is moved along a random direction; the loss must move by the gradient's part in it."""
    config = configuration.config
    rng = np.random.default_rng(3)
    weights = reference.initial_weights(config, 1)
    ids = rng.integers(0, config["vocab_size"], (2, 7))
    labels = np.where(rng.random(ids.shape) < 0.2, -100, ids)
    gradients = reference.forward_backward(config, weights, ids, labels)[2]
    worst, step = 0.0, 1e-4
    for weight, gradient in gradients.items():
        direction = rng.normal(size=gradient.shape)
        direction /= np.linalg.norm(direction)
        loss = [reference.forward_backward(config, {**weights, weight: weights[weight] + sign * direction},
                                           ids, labels)[0] for sign in (step, -step)]
        slope = (loss[0] - loss[1]) / (2 * step)
        apart = abs(slope - (gradient * direction).sum()) / np.linalg.norm(gradient)
        colrow.check(apart <= DIFFERENCE, f"{name}: gradient of {weight} off by {apart:.2e} of its norm")
        worst = max(worst, apart)
    print(f"{name}: {len(gradients)} gradients within {worst:.1e} of differences")


if __name__ == "__main__":
    # Random123's known answer for counter and key 0 begins with the word 6627e8d5.
    colrow.check(reference.uniform(0, 0, 0, (1,))[0] == 0x6627e8 / 2 ** 24, "Philox gives another first word")
    for expected in sorted(here.glob("*/expected.json")):
        committed(expected.parent)
    for name, configuration in configurations.ALL.items():
        differences(name, configuration)
