# RUN: %python %s %t
"""The place in the data is a number of samples, and is kept when the batch changes; other lengths of
sequences are other samples, and are refused."""
import json
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
S, WINDOWS = 16, 90
model = colrow.gpt2_config(work / "model")
data = colrow.random_tokens(work / "tokens.bin", WINDOWS * S + 1, 64)
tokens = np.fromfile(data, np.uint16)
tokens[-1] = tokens[0]  # so that a file may start at any window
tokens.tofile(data)
plans = {(b, s): colrow.compile_plan(model, work / f"{b}-{s}.plan", 1, b, s)
         for b, s in ((4, S), (8, S), (3, S), (8, 2 * S))}


def train(batch, *arguments, data=data, seq=S, **options):
    # At a rate of 0 the loss of a step says which samples it saw.
    return colrow.losses(colrow.train(plans[batch, seq], *arguments, "--data", data, "--lr", 0, **options))


def position(folder):
    return json.loads((folder / "state.json").read_text())["data_position"]


out = work / "a"
train(4, "--seed", 1, "--steps", 10, "--save", out)
colrow.check(position(out) == 40, f"after 10 steps of 4: {position(out)}")
more = train(4, "--resume", out, "--steps", 12, "--save", out)
colrow.check(position(out) == 48, f"after 12 steps of 4: {position(out)}")
colrow.check(more == train(4, "--weights", out, "--steps", 12)[10:], "steps 11 and 12 are not the next")

# From 48, with 8 and then 3 a step: the losses are those of a file that starts there.
said = colrow.succeed("tp-run", "train", plans[8, S], "--resume", out, "--data", data, "--steps", 12)
colrow.check("batch 4" in said.stderr and "sample 48" in said.stderr, f"no word of the batch: {said.stderr}")


def shifted(first, count):
    """The loss of the samples from `first` on, from a file that starts there."""
    path = work / "shifted.bin"
    moved = np.roll(tokens[:-1], -first * S)
    np.append(moved, moved[0]).tofile(path)
    return train(count, "--weights", out, "--steps", 1, data=path)[0]


other = work / "b"
found = train(8, "--resume", out, "--steps", 14, "--save", other)
colrow.check(found == [shifted(48, 8), shifted(56, 8)], f"batch 8 goes on elsewhere: {found}")
colrow.check(position(other) == 64, f"after 12 steps of 4 and 2 of 8: {position(other)}")
found = train(3, "--resume", other, "--steps", 16, "--save", other)
colrow.check(found == [shifted(64, 3), shifted(67, 3)], f"batch 3 goes on elsewhere: {found}")
colrow.check(position(other) == 70, f"after 2 steps of 3: {position(other)}")
# Round the end of the data: samples 88, 89, 0, 1, ...
train(3, "--resume", other, "--steps", 22, "--save", other)
colrow.check(position(other) == 88, f"{position(other)}, wanted 88")
colrow.check(train(8, "--resume", other, "--steps", 23) == [shifted(88, 8)], "the end of the data is passed wrongly")

# Batches of a file: rows are samples too.
rows = tokens[:-1].reshape(-1, S).astype(np.int64)[:88]
for batch in (4, 8):
    shaped = rows.reshape(-1, batch, S)
    colrow.save_safetensors(work / f"rows{batch}.safetensors", {"input_ids": shaped, "labels": shaped})
train(4, "--seed", 1, "--steps", 10, "--save", work / "c", data=work / "rows4.safetensors")
found = train(8, "--resume", work / "c", "--steps", 11, data=work / "rows8.safetensors")
colrow.check(found == train(8, "--weights", work / "c", "--steps", 6, data=work / "rows8.safetensors")[5:],
             "rows of a file: goes on elsewhere")

line = colrow.refuse("tp-run", "train", plans[8, 2 * S], "--resume", out, "--data", data, "--steps", 14,
                     "--save", work / "never", says=("16", "32", "samples"), leaves=(work / "never",))
