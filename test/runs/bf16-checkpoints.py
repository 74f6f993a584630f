# RUN: %python %s %t
"""Checkpoints of float32 and of bf16 are one kind: files hold float32 weights, of bf16 parameters those that
training moves. A run resumed in bf16 equals one that was not stopped, to the bit; a checkpoint of one
goes on in the other, with its weights to the bit, if they are within its range."""
import json
import shutil
import sys

import numpy as np

import colrow

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 3000, 64)
model = colrow.gpt2_config(work / "model", attn_pdrop=0.1, embd_pdrop=0.1, resid_pdrop=0.1)


def weights(folder, name="model"):
    return colrow.load_safetensors(folder / f"{name}.safetensors")


def same(a, b):
    return a.keys() == b.keys() and all(a[n].tobytes() == b[n].tobytes() for n in a)


def types(path):
    text = path.read_bytes()
    header = json.loads(text[8:8 + int.from_bytes(text[:8], "little")])
    return {entry["dtype"] for name, entry in header.items() if name != "__metadata__"}


for tp in (1, 2):
    plans = {dtype: colrow.compile_plan(model, work / f"{dtype}{tp}.plan", tp, 4, 16, "--dtype", dtype)
             for dtype in ("f32", "bf16")}

    def train(dtype, out, steps, *more, lr=1e-3):
        report = colrow.train(plans[dtype], "--data", data, "--lr", lr, "--steps", steps, "--save", work / out,
                              *more)
        return colrow.losses(report)

    def resume(dtype, start, out, steps, **options):
        return train(dtype, out, steps, "--resume", work / start, **options)

    # One seed gives one start, and nearly one way from there.
    f32, bf16 = (train(dtype, f"{dtype}-{tp}", 6, "--seed", 7) for dtype in plans)
    apart = colrow.relative(bf16, f32)
    colrow.check(0 < apart < 2e-3, f"tp={tp}: losses in f32 {f32}, in bf16 {bf16}")
    colrow.check(types(work / f"bf16-{tp}" / "model.safetensors") == {"F32"}, "the weights saved are not float32")
    colrow.check(set(weights(work / f"bf16-{tp}", "optimizer")) == set(weights(work / f"f32-{tp}", "optimizer")),
                 "the states saved are others in bf16")
    fine = weights(work / f"bf16-{tp}")["transformer.h.0.mlp.c_fc.weight"].view(np.uint32) & 0xffff
    colrow.check(fine.any(), "the weights saved are those that are stored, not those that are trained")

    half = train("bf16", f"half-{tp}", 3, "--seed", 7)
    rest = resume("bf16", f"half-{tp}", f"half-{tp}", 6)
    colrow.check([*half, *rest[-3:]] == bf16, f"tp={tp}: resumed {rest}, uninterrupted {bf16}")
    colrow.check(same(weights(work / f"half-{tp}"), weights(work / f"bf16-{tp}")), "resumed weights differ")

    # A step of learning rate 0 moves no weight: what was loaded is saved.
    for start, dtype in (("f32", "bf16"), ("bf16", "f32")):
        loss = resume(dtype, f"{start}-{tp}", f"{start}-{dtype}-{tp}", 7, lr=0)[-1]
        on = resume(start, f"{start}-{tp}", f"{start}-{start}-{tp}", 7, lr=0)[-1]
        colrow.check(0 < abs(loss - on) < 2e-3 * on, f"tp={tp}: from {start} in {dtype} {loss}, else {on}")
        colrow.check(same(weights(work / f"{start}-{dtype}-{tp}"), weights(work / f"{start}-{tp}")),
                     f"tp={tp}: weights of {start} change in {dtype}")

    # Rounded to bf16 it is infinite, and so are its negative and what only half of a unit makes so.
    name = "transformer.h.1.mlp.c_fc.weight"
    for value, isBeyond in ((3.4e38, True), (-3.3962e38, True), (3.395e38, False)):
        large = work / "large"
        tensors = {n: t.copy() for n, t in weights(work / f"f32-{tp}").items()}
        tensors[name][-1, -1] = value
        shutil.rmtree(large, ignore_errors=True)
        shutil.copytree(work / f"f32-{tp}", large)
        (large / "step-6" / "model.safetensors").unlink()
        colrow.save_safetensors(large / "step-6" / "model.safetensors", tensors)
        none = ("--resume", large, "--data", data, "--steps", 6, "-n", tp)
        colrow.succeed("tp-run", "train", plans["f32"], *none)
        if isBeyond:
            colrow.refuse("tp-run", "train", plans["bf16"], *none, says=(f"{np.float32(value):.9g}"[:8], f"tensor {name} ",
                          "beyond the range of bf16", "parameter ", "--dtype f32"))
        else:
            colrow.succeed("tp-run", "train", plans["bf16"], *none)
