# RUN: %python %s %t
"""Checkpoints that hold what no run can have saved are refused in one line that names the file."""
import json
import shutil
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 1000, 64)
for tp in (1, 2):
    plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / f"{tp}.plan", tp, 2, 8)
    out = work / f"out{tp}"
    colrow.succeed("tp-run", "train", plan, "--seed", 1, "--data", data, "--steps", 2, "--save", out)


def copied(tp):
    damaged = work / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    shutil.copytree(work / f"out{tp}", damaged, symlinks=True)
    return damaged


def refused(damaged, *says, tp=1):
    for save in (("--save", damaged), ()):
        colrow.refuse("tp-run", "train", work / f"{tp}.plan", "--resume", damaged, "--data", data, "--steps", 9, *save,
                      says=says)


# state.json: numbers that are no counts, names that lead out of the folder, kinds that are others.
for key, value in (("step", 2**63 - 1), ("step", 2**50 + 1), ("step", -1), ("step", 2.5), ("step", "2"), ("step", None),
                   ("data_position", -1), ("data_position", 2**63 - 1), ("data_position", None), ("seed", "-1"),
                   ("seed", str(2**64)), ("version", 3), ("version", 0), ("version", None), ("run", ""), ("run", "../.."),
                   ("folder", "../out1/step-2"), ("folder", "/etc"), ("folder", ""), ("batch", -1), ("seq", -1),
                   ("optimizer", 3), ("data", []), ("data", {"name": "x"}), ("data", {"mark": "x"}), ("mesh", 1),
                   ("mesh", None), ("seed", None), ("persistent_fingerprint", None), ("persistent_fingerprint", "no"),
                   ("run", "g" * 32), ("run", "0" * 31), ("folder", "2"), ("batch", None), ("seq", None)):
    damaged = copied(1)
    state = json.loads((damaged / "state.json").read_text())
    state[key] = value
    (damaged / "state.json").write_text(json.dumps(state))
    refused(damaged, "state.json", *(("step",) if key == "step" else ()))
for text in ("", "{", "[]", "{}", "[" * 10000, "\0" * 10):
    damaged = copied(1)
    (damaged / "state.json").write_text(text)
    refused(damaged, "state.json")

# Values: a mean of squares below 0, and what is not finite, on any rank.
def altered(file, tensor, index, value, tp):
    damaged = copied(tp)
    tensors = {n: t.copy() for n, t in colrow.load_safetensors(damaged / file).items()}
    tensors[tensor].reshape(-1)[index] = value
    colrow.save_safetensors(damaged / "step-2" / file, tensors)
    return damaged


for tp in (1, 2):
    for index in (0, -1):
        for tensor, value, says in (("exp_avg_sq.transformer.wte.weight", -1e-20, "below 0"),
                                    ("exp_avg_sq.transformer.wte.weight", np.nan, "not finite"),
                                    ("exp_avg.transformer.wte.weight", np.inf, "not finite")):
            refused(altered("optimizer.safetensors", tensor, index, value, tp), "optimizer.safetensors", tensor, says, tp=tp)
    name = "transformer.h.1.mlp.c_fc.weight"
    refused(altered("model.safetensors", name, -1, np.nan, tp), "model.safetensors", name, "not finite", tp=tp)
    # A first moment may be below 0.
    colrow.succeed("tp-run", "train", work / f"{tp}.plan", "--data", data, "--steps", 3, "--resume",
                   altered("optimizer.safetensors", "exp_avg.transformer.wte.weight", 0, -0.5, tp))

# Files that are gone, or cut.
for name in ("model.safetensors", "optimizer.safetensors", "config.json", "state.json"):
    damaged = copied(1)
    (damaged / "step-2" / name).unlink()
    refused(damaged, name)
    damaged = copied(1)
    text = (damaged / name).read_bytes()
    (damaged / "step-2" / name).write_bytes(text[:len(text) // 2])
    refused(damaged, name)
damaged = copied(1)
shutil.rmtree(damaged / "step-2")
refused(damaged, "step-2")
