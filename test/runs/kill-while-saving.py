# RUN: %python %s %t
"""SIGKILL at any moment, while saving too, leaves a checkpoint that resumes: weights and optimizer
state always belong to the same step."""
import os
import signal
import subprocess
import sys
import time

import colrow

work = colrow.workspace(sys.argv[1])
STEPS = 60
data = colrow.random_tokens(work / "tokens.bin", 3000, 512)
# Embeddings make the checkpoint large beside the step: most of the time goes into saving.
model = colrow.gpt2_config(work / "model", vocab_size=512, n_embd=64)
plan = colrow.compile_plan(model, work / "step.plan", 2, 2, 8)
common = ("--data", data, "--steps", STEPS, "--lr", 1e-3)
whole = colrow.losses(colrow.train(plan, "--seed", 5, *common))

killed = 0
for attempt in range(6):
    folder = work / f"saved{attempt}"
    command = [colrow.tool("tp-run"), "train", str(plan), "--seed", "5", *map(str, common),
               "--save", str(folder), "--save-every", "1"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (folder / "model.safetensors").exists() and process.poll() is None:
        colrow.check(time.monotonic() < deadline, "no checkpoint appeared within 120 s")
        time.sleep(0.001)
    time.sleep(0.003 * attempt)
    killed += process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    rest = colrow.losses(colrow.train(plan, "--resume", folder, *common))
    colrow.check(rest == whole[len(whole) - len(rest):],
                 f"attempt {attempt}: the resumed losses differ from the uninterrupted run's")
    print(f"attempt {attempt}: resumed with {len(rest)} steps to go")
colrow.check(killed > 0, "every run ended before it could be killed")
