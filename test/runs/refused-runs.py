# RUN: %python %s %t
"""Data, plans and folders that do not fit are refused in one line, with exit code 1, and nothing is
written; a run whose loss is no number stops and keeps the last good checkpoint."""
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B, S, V = 2, 8, 64
model = colrow.gpt2_config(work / "model", vocab_size=V)
plan = colrow.compile_plan(model, work / "step.plan", 2, B, S)
data = colrow.random_tokens(work / "tokens.bin", 1000, V)
colrow.succeed("tp-run", "train", plan, "--seed", 1, "--steps", 0, "--save", work / "start")
weights = colrow.load_safetensors(work / "start" / "model.safetensors")
out = {"report": work / "report.json", "save": work / "saved"}


def refused(says, plan=plan, data=data, start=("--seed", 1), steps=2, lr=1e-3, more=(), leaves=None,
            **options):
    colrow.refuse("tp-run", "train", plan, *start, "--data", data, "--steps", steps, "--lr", lr,
                  "--save", out["save"], "--report", out["report"], *more, says=says,
                  leaves=[out["save"]] if leaves is None else leaves, **options)


# Tokens: outside the vocabulary (which, where), too few, a batch of another shape.
tokens = np.fromfile(data, np.uint16)
tokens[5] = V + 3
tokens.tofile(work / "outside.bin")
refused(("67", "5", "64"), data=work / "outside.bin")
(work / "short.bin").write_bytes(tokens[:4].tobytes())
refused(("short.bin",), data=work / "short.bin")
refused(("nowhere.bin",), data=work / "nowhere.bin")


def batch(title, ids, labels=None):
    labels = ids if labels is None else labels
    colrow.save_safetensors(work / title, {"input_ids": ids, "labels": labels})
    return work / title


ids = np.zeros((2, B, S), np.int64)
refused(("[2, 3, 8]",), data=batch("rows.safetensors", np.zeros((2, 3, S), np.int64)))
refused(("[2, 2, 9]",), data=batch("columns.safetensors", np.zeros((2, B, S + 1), np.int64)))
bad = ids.copy()
bad[1, 0, 3] = V
refused(("64",), data=batch("id.safetensors", bad))
bad = ids.copy()
bad[0, 1, 2] = -7
refused(("-7",), data=batch("label.safetensors", ids, bad))

# Plans: another rank count, cut, altered, of another version, no plan at all.
refused(("3", "2"), more=("-n", 3))
whole = plan.read_bytes()
for title, content in {"cut.plan": whole[:len(whole) // 2], "none.plan": b"", "text.plan": b"hello\n" * 99,
                       "altered.plan": whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1])
                       + whole[len(whole) // 2 + 1:]}.items():
    (work / title).write_bytes(content)
    refused((title,), plan=work / title)

# Weights: missing, mis-shaped, another model's.
name = "transformer.h.0.attn.c_attn.weight"


def folder(title, tensors):
    target = colrow.gpt2_config(work / title, vocab_size=V)
    colrow.save_safetensors(target / "model.safetensors", tensors)
    return ("--weights", target)


refused((name,), start=folder("missing", {n: t for n, t in weights.items() if n != name}))
refused((name, "90", "96"), start=folder("shaped", {**weights, name: np.zeros((32, 90), np.float32)}))
refused(("nowhere",), start=("--weights", work / "nowhere"))
refused(("nowhere",), start=("--resume", work / "nowhere"))

# A full disk, while saving (the limit is smaller than the weights) and while compiling (smaller than the
# plan): larger than the kernels, which come first. One line, nothing half written.
large = colrow.gpt2_config(work / "large", vocab_size=4096)
large_plan = colrow.compile_plan(large, work / "large.plan", 2, B, S)
refused((out["save"].name,), plan=large_plan, limit=300)
colrow.refuse("tp-compile", model, "--mesh", "tp=2", "--batch", B, "--seq", S, "-o", work / "full.plan",
              limit=64, says=("full.plan",), leaves=(work / "full.plan",))

# A loss that is no number: says the step, keeps the last good checkpoint.
poisoned = {n: t.copy() for n, t in weights.items()}
poisoned["transformer.ln_f.bias"][0] = np.nan
refused(("step",), start=folder("poisoned", poisoned))
refused(("step",), start=("--seed", 1), steps=50, lr=1e30, more=("--save-every", 1), leaves=())
kept = colrow.load_safetensors(out["save"] / "model.safetensors")
colrow.check(all(np.isfinite(t).all() for t in kept.values()), "the kept checkpoint is not finite")
