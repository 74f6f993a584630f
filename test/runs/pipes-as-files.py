# RUN: %python %s %t
"""A pipe where a file is wanted is refused at once: nobody waits for its writer. And one signal ends a tool
that waits for the reader of a pipe to which it writes."""
import os
import signal
import subprocess
import sys
import time

import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
plan = colrow.compile_plan(model, work / "step.plan", 1, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 400, 64)
saved = work / "saved"
colrow.succeed("tp-run", "train", plan, "--seed", 1, "--data", data, "--steps", 1, "--save", saved)


def pipe(path):
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    return path


train = ("tp-run", "train", plan, "--steps", 2)
sizes = ("--batch", 2, "--seq", 8)
new = work / "new"
weights, config, state = work / "w", work / "c", work / "s"
pipe(config / "config.json")
pipe(state / "state.json")
colrow.gpt2_config(weights)
pipe(weights / "model.safetensors")
for name in ("data.bin", "data.safetensors", "data.txt"):
    colrow.refuse(*train, "--seed", 1, "--data", pipe(work / name), says=(name, "regular file"), timeout=60)
colrow.refuse("tp-run", "train", pipe(work / "pipe.plan"), "--seed", 1, "--data", data, "--steps", 1,
              says=("pipe.plan", "regular file"), timeout=60)
for start in (("--weights", weights), ("--weights", config), ("--resume", state)):
    colrow.refuse(*train, *start, "--data", data, says=(start[1], "regular file"), timeout=60)
for tool in ("tp-import", "tp-compile"):
    for folder in (weights, config):
        colrow.refuse(tool, folder, *sizes, "-o", new, says=(folder, "regular file"), leaves=[new], timeout=60)
colrow.refuse("tp-compile", pipe(work / "graph.mlir"), "-o", new, says=("graph.mlir", "regular file"), timeout=60)
colrow.refuse("tp-compile", model, *sizes, "--topology", pipe(work / "t.yaml"), "-o", new,
              says=("t.yaml", "regular file"), timeout=60)

# The report goes to a pipe that nobody reads; the checkpoint is written before it.
command = [colrow.tool("tp-run"), *map(str, train[1:]), "--seed", "1", "--data", str(data), "--save", str(new),
           "--report", str(pipe(work / "report.json"))]
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
for _ in range(600):
    if (new / "state.json").exists():
        break
    time.sleep(0.1)
time.sleep(1)
colrow.check(process.poll() is None, "did not wait for the pipe's reader")
process.send_signal(signal.SIGTERM)
try:
    error = process.communicate(timeout=60)[1]
    colrow.check(process.returncode == 1 and error.count("\n") == 1 and "report.json: cannot create: " in error,
                 f"was interrupted: exit code {process.returncode}, {error}")
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("FAILED: a signal does not end a run that waits for the reader of its report")
