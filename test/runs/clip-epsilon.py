# RUN: %python %s %t
"""Clipping multiplies by limit / (norm + 1e-6), at most by 1: seen where the norm is a few times 1e-6,
on both sides of the limit, in the first moments after one step, which are 0.1 * scale * gradient."""
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B, S, V = 2, 8, 64
model = colrow.gpt2_config(work / "model", vocab_size=V)
colrow.succeed("tp-run", "train", colrow.compile_plan(model, work / "init.plan", 1, B, S), "--seed", 1,
               "--steps", 0, "--save", work / "init")
# The logits are 9.5 for token 0, which is every label, and -9.5 for all others: a nearly certain answer.
# Positions take back what the table adds, so nothing but the last bias reaches the logits.
weights = {n: np.zeros_like(t) for n, t in colrow.load_safetensors(work / "init" / "model.safetensors").items()}
weights["transformer.ln_f.bias"][0] = 3
weights["transformer.wte.weight"][:, 0] = -9.5 / 3
weights["transformer.wte.weight"][0, 0] = 9.5 / 3
weights["transformer.wpe.weight"][:, 0] = -9.5 / 3
colrow.save_safetensors(model / "model.safetensors", weights)
(work / "zeros.bin").write_bytes(np.zeros(200, np.uint16).tobytes())


def step(tp, limit):
    plan = colrow.compile_plan(model, work / f"{tp}.plan", tp, B, S, "--outputs", "gradients",
                               "--clip-grad-norm", f"{limit:.17g}")
    saved, dump = work / f"saved{tp}-{limit:.9g}", work / "dump.safetensors"
    report = colrow.train(plan, "--weights", model, "--data", work / "zeros.bin", "--steps", 1, "--save", saved,
                          "--dump-outputs", dump)
    gradients = {n: t.astype(np.float64) for n, t in colrow.load_safetensors(dump).items()}
    moments = colrow.load_safetensors(saved / "optimizer.safetensors")
    return report["steps"][0]["grad_norm"], gradients, moments


for tp in (1, 2):
    norm = step(tp, 1e9)[0]
    colrow.check(5e-7 < norm < 5e-6, f"the norm is {norm}: the epsilon would not show")
    for factor in (0.5, 0.95, 1.05, 3):
        limit = norm * factor
        found, gradients, moments = step(tp, limit)
        whole = np.sqrt(sum((g ** 2).sum() for g in gradients.values()))
        colrow.check(abs(found / whole - 1) < 1e-5, f"tp={tp}: norm {found}, gradients say {whole}")
        scale = min(1, limit / (whole + 1e-6))
        for name, gradient in gradients.items():
            difference = np.abs(moments[f"exp_avg.{name}"] - 0.1 * scale * gradient).max()
            colrow.check(difference <= 1e-5 * 0.1 * scale * np.abs(gradient).max(),
                         f"tp={tp}, limit {factor} norms: {name} is not scaled by {scale}")
