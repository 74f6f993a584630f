# RUN: %python %s %t
"""When a run that goes on saves: into another folder also where no step is left, and by --save-every at
the same steps as the run that was not stopped."""
import json
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B, S, V = 2, 8, 64
plan = colrow.compile_plan(colrow.gpt2_config(work / "model", vocab_size=V), work / "step.plan", 1, B, S)
data = colrow.random_tokens(work / "tokens.bin", 1000, V)
run = ("tp-run", "train", plan, "--lr", 1e-3)
out = work / "out"
colrow.succeed(*run, "--seed", 1, "--data", data, "--steps", 3, "--save", out)


def step(folder):
    return json.loads((folder / "state.json").read_text())["step"]


# No step is left: the other folder gets the checkpoint, its own is as it was.
before = {p: p.stat().st_mtime_ns for p in out.rglob("*")}
for folder in (work / "copy", out):
    colrow.succeed(*run, "--resume", out, "--data", data, "--steps", 3, "--save", folder)
    colrow.check(step(folder) == 3, f"{folder}: holds step {step(folder)}")
colrow.check({p: p.stat().st_mtime_ns for p in out.rglob("*")} == before, "a run of no step saved again")
for name in ("model", "optimizer"):
    a, b = (colrow.load_safetensors(f / f"{name}.safetensors") for f in (out, work / "copy"))
    colrow.check({n: t.tobytes() for n, t in a.items()} == {n: t.tobytes() for n, t in b.items()}, f"{name} differs")

# A step further on has a token that is none, and so never ends: what counts is the last multiple of
# --save-every before it, counted from the first step.
tokens = np.fromfile(data, np.uint16)
for every, last, bad in ((2, 4, 6), (3, 6, 7), (4, 4, 7)):
    broken, folder = tokens.copy(), work / f"every{every}"
    broken[(bad - 1) * B * S + 3] = V
    broken.tofile(work / "broken.bin")
    colrow.succeed(*run, "--seed", 1, "--data", work / "broken.bin", "--steps", 3, "--save", folder)
    colrow.refuse(*run, "--resume", folder, "--data", work / "broken.bin", "--steps", 9, "--save", folder,
                  "--save-every", every, says=(f"token id {V}", f"step {bad - 1}"))
    colrow.check(step(folder) == last, f"every {every}, stopped in step {bad}: holds step {step(folder)}, wanted {last}")
