# RUN: %python %s %t
"""A step none of whose labels counts moves nothing, to the bit, says so and goes on; so does one whose
only labels are shifted away. Resuming right after it gives the run that was not stopped."""
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B, S, V = 2, 8, 29
rng = np.random.default_rng(0)
ids = rng.integers(0, V, (3, B, S))
ignored = ids.copy()
ignored[1] = -100
shifted = ids.copy()
shifted[1, :, 1:] = -100  # the label of a row's first token is nobody's next token
model = colrow.gpt2_config(work / "model", vocab_size=V)


def tensors(folder):
    files = [colrow.load_safetensors(folder / f"{name}.safetensors") for name in ("model", "optimizer")]
    return {name: tensor.tobytes() for file in files for name, tensor in file.items()}


for name, labels in (("ignored", ignored), ("shifted", shifted)):
    data = work / f"{name}.safetensors"
    colrow.save_safetensors(data, {"input_ids": ids, "labels": labels})
    for tp in (1, 2):
        plan = colrow.compile_plan(model, work / f"{name}{tp}.plan", tp, B, S, "--clip-grad-norm", 1)
        common = (plan, "--data", data, "--lr", 1e-2)
        saved = [work / f"{name}{tp}-{steps}" for steps in range(6)]
        start = ("--seed", 5)
        for steps in (1, 2):
            report = colrow.train(*common, *start, "--steps", steps, "--save", saved[steps])
        what = f"{name}, tp={tp}"
        colrow.check(tensors(saved[1]) == tensors(saved[2]), f"{what}: something moved")
        steps = report["steps"]
        colrow.check([s["left_out"] for s in steps] == [False, True] and report["steps_left_out"] == 1,
                     f"{what}: left out {steps}")
        colrow.check(steps[1]["loss"] is None and steps[1]["grad_norm"] is None, f"{what}: {steps[1]}")
        colrow.check([s["labels"] for s in steps] == [B * (S - 1), 0], f"{what}: {steps}")
        # Step 5 is without labels again.
        output = colrow.succeed("tp-run", "train", *common, *start, "--steps", 5, "--save", saved[5]).stdout
        lines = output.splitlines()
        colrow.check(len(lines) == 6 and lines[-1] == "2 of 5 steps left out", f"{what}: {output}")
        for i, line in enumerate(lines[:5], 1):
            colrow.check(line.startswith(f"step {i} ") and ("none of its labels" in line) == (i in (2, 5)),
                         f"{what}: line {i} is {line}")
        colrow.train(*common, "--resume", saved[2], "--steps", 5, "--save", saved[2])
        colrow.check(tensors(saved[2]) == tensors(saved[5]), f"{what}: resumed, other values")
        colrow.check(tensors(saved[5]) != tensors(saved[1]), f"{what}: nothing ever moved")
