# RUN: %python %s %t
"""On a terminal, progress is one line that is written over; a step that is left out keeps a line of its own,
and notes and errors begin on a new one."""
import os
import pty
import re
import subprocess
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B, S, V = 2, 8, 64
model = colrow.gpt2_config(work / "model", vocab_size=V)
plan = colrow.compile_plan(model, work / "step.plan", 1, B, S)
ids = np.random.default_rng(0).integers(0, V, (3, B, S))
labels = ids.copy()
labels[1] = -100
data = work / "data.safetensors"
colrow.save_safetensors(data, {"input_ids": ids, "labels": labels})


def shown(*arguments, code=0):
    """What a terminal gets, errors included."""
    terminal, end = pty.openpty()
    command = [colrow.tool("tp-run"), "train", plan, "--seed", 1, "--data", data, *arguments]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=end, stderr=end)
    os.close(end)
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(terminal)
    colrow.check(process.wait() == code, f"{command}: exit code {process.returncode}:\n{text}")
    return text.decode().replace("\r\n", "\n")


NUMBER = r"[0-9.]+"
ERASE = r"\r\x1b\[K"
LIVE = ERASE + rf"step %d/%d  loss {NUMBER}  grad norm {NUMBER}  {NUMBER} tokens/s  \d+ s left"
OUT = ERASE + rf"step 2  left out, nothing moves: none of its labels counts  {NUMBER} s  {NUMBER} tokens/s\n"
for arguments, wanted in ((("--steps", 1), LIVE % (1, 1) + r"\n"),
                          (("--steps", 2), LIVE % (1, 2) + OUT + r"1 of 2 steps left out\n"),
                          (("--steps", 3), LIVE % (1, 3) + OUT + LIVE % (3, 3) + r"\n1 of 3 steps left out\n")):
    text = shown(*arguments)
    colrow.check(re.fullmatch(wanted, text), f"{arguments}: {text!r}")
text = shown("--steps", 9, "--lr", 1e30, code=1)
colrow.check(re.search(r"s left\n(1 of \d steps left out\n)?tp-run: error: loss of step", text) or
             re.search(r"tokens/s\n(1 of \d steps left out\n)?tp-run: error: loss of step", text),
             f"the error does not begin a line: {text!r}")
