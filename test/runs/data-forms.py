# RUN: %python %s %t
"""The same tokens as text and as .bin of either width give the same losses."""
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B, S, STEPS = 2, 16, 3
text = (b"Two households, both alike in dignity, in fair Verona, where we lay our scene. " * 10)
tokens = np.frombuffer(text, np.uint8)
(work / "play.txt").write_bytes(text)
(work / "play.bin").write_bytes(tokens.astype(np.uint16).tobytes())
(work / "wide.bin").write_bytes(tokens.astype(np.uint32).tobytes())
model = colrow.gpt2_config(work / "model", vocab_size=256)
plan = colrow.compile_plan(model, work / "step.plan", 2, B, S)


def curve(data, *more):
    return colrow.losses(colrow.train(plan, "--seed", 1, "--data", data, "--steps", STEPS, "--lr", 1e-3,
                                      *more))


text_losses = curve(work / "play.txt")
colrow.check(curve(work / "play.bin") == text_losses, "uint16 tokens differ from text")
colrow.check(curve(work / "wide.bin", "--data-dtype", "u32") == text_losses, "uint32 differs from text")
