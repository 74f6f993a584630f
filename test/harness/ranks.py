# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares training on several ranks with training on one: losses, norms, gradients, logits, weights."""
import numpy as np

import colrow


class Outcome:
    """What one run gave. Arrays by the checkpoint's names; gradients are step 0's, before clipping."""

    def __init__(self, report, outputs, saved):
        self.losses = colrow.losses(report)
        self.norms = [step["grad_norm"] for step in report["steps"]]
        self.memory = report["memory"]
        self.collectives = report["collectives"]
        self.logits = outputs.pop("logits")
        self.gradients = outputs
        self.weights = saved

    def gradient_norm(self):
        """L2 norm over all dumped gradients, in float64."""
        return float(np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in self.gradients.values())))


def train(work, model, tp, batch=2, seq=8, steps=3, start=("--seed", 1), data=None, lr=1e-3, options=(),
          name=""):
    """Compiles with gradients and logits as outputs and trains; start: how tp-run begins."""
    stem = work / f"{name or model.name}-tp{tp}"
    plan = colrow.compile_plan(model, f"{stem}.plan", tp, batch, seq, "--outputs", "gradients,logits",
                               *options)
    report = colrow.train(plan, *start, "--data", data, "--steps", steps, "--lr", lr,
                          "--save", f"{stem}-saved", "--dump-outputs", f"{stem}.safetensors")
    return Outcome(report, colrow.load_safetensors(f"{stem}.safetensors"),
                   colrow.load_safetensors(f"{stem}-saved/model.safetensors"))


def apart(found, wanted):
    """Largest difference, in units of the largest wanted element."""
    scale = np.abs(wanted).max()
    return float(np.abs(found.astype(np.float64) - wanted).max() / (scale if scale else 1.0))


def same(found, wanted, what, bound=2e-5, lr=1e-3):
    """Ends the test where `found` (more ranks) differs from `wanted` (one rank). Weights may differ by
    what AdamW makes of rounding: an element of gradient zero moves by its sign."""
    loss = colrow.relative(found.losses, wanted.losses)
    norm = colrow.relative(found.norms, wanted.norms)
    print(f"{what}: loss apart {loss:.1e}, norm {norm:.1e}")
    colrow.check(loss <= 1e-5, f"{what}: losses {found.losses}, wanted {wanted.losses}")
    colrow.check(norm <= 1e-4, f"{what}: norms {found.norms}, wanted {wanted.norms}")
    colrow.check(apart(found.logits, wanted.logits) <= bound, f"{what}: logits differ")
    for name, gradient in wanted.gradients.items():
        distance = apart(found.gradients[name], gradient)
        colrow.check(distance <= 5 * bound, f"{what}: gradient of {name} apart by {distance:.2e}")
    for name, tensor in wanted.weights.items():
        distance = np.abs(found.weights[name].astype(np.float64) - tensor)
        colrow.check((distance <= 2e-5 * max(1.0, np.abs(tensor).max())).mean() >= 0.99
                     and distance.max() <= 8 * lr, f"{what}: weights of {name} differ")


def initial_weights(work, model, batch=2, seq=8):
    """The model's weights for seed 1, by name, to change and save again."""
    plan = colrow.compile_plan(model, work / f"{model.name}-initial.plan", 1, batch, seq)
    folder = work / f"{model.name}-initial"
    colrow.succeed("tp-run", "train", plan, "--seed", 1, "--steps", 0, "--save", folder)
    return {n: t.copy() for n, t in colrow.load_safetensors(folder / "model.safetensors").items()}


def with_weights(model, weights):
    """Writes the weights into the model's folder and returns how tp-run starts from it."""
    colrow.save_safetensors(model / "model.safetensors", weights)
    return ("--weights", model)


def t0(folder, **changes):
    """The smallest GPT-2 of the fault tests: 2 layers, hidden 16, 4 heads, MLP 64, vocabulary 32."""
    return colrow.gpt2_config(folder, **{**dict(vocab_size=32, n_embd=16, n_head=4, n_positions=16),
                                         **changes})


def t0_llama(folder, **changes):
    return colrow.llama_config(folder, **{**dict(vocab_size=32, hidden_size=16, intermediate_size=64,
                                                 max_position_embeddings=16), **changes})
