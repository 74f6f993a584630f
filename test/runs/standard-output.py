# RUN: %python %s %t
"""A standard output that is full or closed: one line on stderr and exit code 1, from every tool and for
--help too, and no plan is left. What prints nothing does not mind, and training goes on to its end."""
import subprocess
import sys

import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
data = colrow.random_tokens(work / "tokens.bin", 400, 64)
graph = work / "graph.mlir"
colrow.succeed("tp-import", model, "--batch", 2, "--seq", 8, "-o", graph)
plan = colrow.compile_plan(model, work / "step.plan", 1, 2, 8)


def run(where, name, *arguments):
    command = ["bash", "-c", f'exec "$@" {where}', "bash", colrow.tool(name), *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=120)


def fails(where, name, *arguments, says="standard output"):
    done = run(where, name, *arguments)
    what = f"{name} {colrow.shell(arguments)} {where}"
    colrow.check(done.returncode == 1, f"{what}: exit code {done.returncode}")
    lines = done.stderr.splitlines()
    colrow.check(len(lines) == 1 and lines[0].startswith(f"{name}: error: ") and says in lines[0],
                 f"{what}: {done.stderr}")


for where in (">/dev/full", ">&-"):
    for name in ("tp-run", "tp-compile", "tp-import", "tp-opt", "tp-translate"):
        fails(where, name, "--help")
        fails(where, name, "--version")
    fails(where, "tp-run", "train", "--help")
    fails(where, "tp-import", model, "--batch", 2, "--seq", 8)
    fails(where, "tp-opt", graph)
    fails(where, "tp-translate", "--plan-to-mlir", plan)
    # The plan appears when its summary is printed, and the old one stays.
    new, old = work / "new.plan", work / "old.plan"
    old.write_bytes(b"old")
    for output in (new, old):
        fails(where, "tp-compile", model, "--batch", 2, "--seq", 8, "-o", output)
    colrow.check(not list(work.glob("new.plan*")) and old.read_bytes() == b"old", f"{where}: a plan was left")
    colrow.check(run(where, "tp-compile", model, "--batch", 2, "--seq", 8, "--quiet", "-o", new).returncode == 0,
                 f"{where}: --quiet prints nothing")
    new.unlink()

# A full disk under the log is no reason to lose the training; a closed output is seen before it starts.
train = ("train", plan, "--seed", 1, "--data", data, "--steps", 3, "--save")
fails(">/dev/full", "tp-run", *train, work / "full")
colrow.check((work / "full" / "model.safetensors").exists(), "the trained weights are lost")
fails(">&-", "tp-run", *train, work / "closed", says="closed")
colrow.check(not (work / "closed").exists(), "trained without an output")
