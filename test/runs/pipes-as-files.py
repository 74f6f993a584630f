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



def interrupted(waits, says, *more, plan=plan, steps=2):
    """A run that writes to pipes that nobody reads ends soon after one signal, with one line."""
    command = [*map(str, (colrow.tool("tp-run"), "train", plan, "--steps", steps, "--seed", 1, "--data", data, *more))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not waits() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.5)
    colrow.check(process.poll() is None, f"{more}: did not wait for the pipe's reader")
    process.send_signal(signal.SIGTERM)
    try:
        error = process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit(f"FAILED: {more}: a signal does not end a run that waits for the reader of a pipe")
    colrow.check(process.returncode == 1 and error.count("\n") == 1 and all(word in error for word in says),
                 f"{more}: exit code {process.returncode}, {error}")


report, trace, outputs = (pipe(work / name) for name in ("report.json", "trace.json", "o.safetensors"))
unread = ": cannot write: nobody reads this pipe"
# While it waits: the checkpoint is written before the report, the outputs behind the first step.
interrupted((new / "state.json").exists, [f"report.json{unread}", f"trace.json{unread}"], "--save", new,
            "--report", report, "--trace", trace)
# Before it waits: while it trains.
long = work / "long"
interrupted((long / "state.json").exists, ["interrupted after step ", f"report.json{unread}"], "--save", long,
            "--save-every", 1, "--report", report, steps=10**6)
with_outputs = work / "outputs.plan"
colrow.compile_split(model, with_outputs, 1, *sizes, "--outputs", "logits", must=False)
interrupted(lambda: True, [f"o.safetensors{unread}"], "--dump-outputs", outputs, plan=with_outputs)
# A pipe that has a reader which takes nothing.
reader = os.open(trace, os.O_RDONLY | os.O_NONBLOCK)
stalled = work / "stalled"
interrupted((stalled / "state.json").exists, [f"trace.json{unread}"], "--save", stalled, "--trace", trace, steps=500)
os.close(reader)
