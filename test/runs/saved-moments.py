# RUN: %python %s %t
"""What is saved after each step, under its own name, is what AdamW makes of the step's gradients: an
implementation in numpy, double precision, is fed the gradients that the run dumps."""
import json
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B1, B2, EPS, DECAY, LR = 0.75, 0.875, 1e-4, 0.5, 1e-2
data = colrow.random_tokens(work / "tokens.bin", 1000, 64)
MODELS = {"gpt2": colrow.gpt2_config, "llama": colrow.llama_config}


def close(found, wanted, what):
    scale = np.abs(wanted).max()
    apart = np.abs(found - wanted).max() / scale
    colrow.check(scale > 0 and apart < 2e-6, f"{what}: apart by {apart:.1e} of its largest element {scale:.1e}")


for name, make in MODELS.items():
    for tp in (1, 2):
        plan = colrow.compile_plan(make(work / name), work / f"{name}{tp}.plan", tp, 2, 8, "--outputs", "gradients",
                                   "--beta1", B1, "--beta2", B2, "--eps", EPS, "--weight-decay", DECAY)
        start = work / f"{name}{tp}-start"
        colrow.succeed("tp-run", "train", plan, "--seed", 1, "--steps", 0, "--save", start)
        weights = {n: t.astype(np.float64) for n, t in colrow.load_safetensors(start / "model.safetensors").items()}
        first = {n: np.zeros_like(t) for n, t in weights.items()}
        second = {n: np.zeros_like(t) for n, t in weights.items()}
        out, begin = work / f"{name}{tp}", ("--seed", 1)
        for t in (1, 2, 3):
            dump = work / "gradients.safetensors"
            colrow.succeed("tp-run", "train", plan, *begin, "--data", data, "--lr", LR, "--steps", t,
                           "--dump-outputs", dump, "--save", out)
            begin = ("--resume", out)
            gradients = colrow.load_safetensors(dump)
            state = colrow.load_safetensors(out / "optimizer.safetensors")
            saved = colrow.load_safetensors(out / "model.safetensors")
            colrow.check(gradients.keys() == weights.keys() == saved.keys(), f"{name}: gradients {sorted(gradients)}")
            colrow.check(state.keys() == {f"{s}.{n}" for s in ("exp_avg", "exp_avg_sq") for n in weights},
                         f"{name}: state {sorted(state)}")
            for n, g in gradients.items():
                g = g.astype(np.float64)
                first[n] = B1 * first[n] + (1 - B1) * g
                second[n] = B2 * second[n] + (1 - B2) * g * g
                close(state[f"exp_avg.{n}"], first[n], f"{name} tp={tp} step {t}: exp_avg.{n}")
                close(state[f"exp_avg_sq.{n}"], second[n], f"{name} tp={tp} step {t}: exp_avg_sq.{n}")
                move = first[n] / (1 - B1**t) / (np.sqrt(second[n] / (1 - B2**t)) + EPS)
                weights[n] -= LR * (move + (DECAY * weights[n] if g.ndim >= 2 else 0))
                close(saved[n], weights[n], f"{name} tp={tp} step {t}: {n}")
            position = json.loads((out / "state.json").read_text())["data_position"]
            colrow.check(position == 2 * t, f"{name}: position {position} after {t} steps of 2")
