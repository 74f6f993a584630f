# RUN: %python %s %t
"""What a tool writes is compared with all that it reads, as files and not as spellings: an input is never
overwritten. Refused before anything is written."""
import os
import sys

import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
plan = colrow.compile_plan(model, work / "step.plan", 1, 2, 8, "--outputs", "gradients")
data = colrow.random_tokens(work / "tokens.bin", 400, 64)
w, out = work / "w", work / "out"
for folder in (w, out):
    colrow.succeed("tp-run", "train", plan, "--seed", 1, "--data", data, "--steps", 1, "--save", folder)
(w / "tokenizer.json").write_text("{}")
(work / "alias").symlink_to(w)
(work / "link.txt").symlink_to(data)
os.link(data, work / "hard.bin")
os.chdir(work)


def snapshot():
    return {p: p.read_bytes() for p in work.rglob("*") if p.is_file() and "new" not in str(p)}


def refused(tool, before, *arguments, says):
    """Refused, with every file as it was."""
    colrow.refuse(tool, *arguments, says=says)
    now = snapshot()
    changed = sorted(str(p) for p in now.keys() | before.keys() if now.get(p) != before.get(p))
    colrow.check(not changed, f"{arguments}: changed {changed}")


before = snapshot()
run = ("train", plan, "--steps", 2)
start = {"--seed": ("--seed", 1, "--data", "tokens.bin"), "--weights": ("--weights", w, "--data", "tokens.bin"),
         "--resume": ("--resume", out, "--data", "tokens.bin")}
for option in ("--report", "--trace", "--dump-outputs"):
    for path, says in (("./tokens.bin", "--data"), (work / "link.txt", "--data"), ("hard.bin", "--data"),
                       ("../" + work.name + "/step.plan", "the plan")):
        refused("tp-run", before, *run, *start["--seed"], option, path, says=(option, says))
    for path in (w / "model.safetensors", work / "alias" / "config.json", w / "step-1" / "optimizer.safetensors",
                 w / "tokenizer.json"):
        refused("tp-run", before, *run, *start["--weights"], option, path, says=(option, "--weights"))
    for name in ("model.safetensors", "state.json", "step-1/state.json", "current/config.json"):
        refused("tp-run", before, *run, *start["--resume"], option, out / name, says=(option,))
    # Files that a save will write, though they are not there yet.
    for name in ("model.safetensors", "current"):
        (work / "new").mkdir()
        refused("tp-run", before, *run, *start["--seed"], "--save", "new", option, f"{work}/new/{name}",
                says=(option, "--save"))
        (work / "new").rmdir()
    refused("tp-run", before, *run, *start["--seed"], "--save", "./new", option, "new", says=(option, "--save"))
    refused("tp-run", before, *run, *start["--seed"], "--save", "new/deep", option, "new",
            says=(option, "above --save"))
refused("tp-run", before, *run, *start["--seed"], "--report", "new.json", "--trace", "./new.json",
        says=("--trace", "--report"))
# The data given through a link, the report under the file's own name.
refused("tp-run", before, *run, "--seed", 1, "--data", "link.txt", "--report", "tokens.bin", says=("--report", "--data"))
# A device is no file to lose.
colrow.succeed("tp-run", *run, *start["--seed"], "--report", "/dev/null", "--trace", "/dev/null")
# A report of a run's own stands beside its checkpoint, and may be replaced.
for steps in (2, 3):
    colrow.succeed("tp-run", "train", plan, "--resume", out, "--data", data, "--steps", steps, "--save", out,
                   "--report", out / "report.json")

# The compiler and the importer: over the graph, a file of the model's folder, the topology.
(work / "graph.mlir").write_text("// by hand\n" + colrow.succeed(
    "tp-import", model, "--batch", 2, "--seq", 8).stdout)
(work / "graph-link").symlink_to("graph.mlir")
topology = work / "machine.yaml"
topology.write_text(colrow.FLAT.read_text())
before = snapshot()
for path in ("graph.mlir", "./graph-link", f"{work}/graph.mlir"):
    refused("tp-compile", before, "graph.mlir", "-o", path, says=("-o", "the model"))
refused("tp-compile", before, "graph.mlir", "--topology", topology, "-o", "machine.yaml", says=("-o", "--topology"))
sizes = ("--batch", 2, "--seq", 8)
for tool in ("tp-compile", "tp-import"):
    for path in (w / "config.json", "alias/model.safetensors", w / "tokenizer.json"):
        refused(tool, before, w, *sizes, "-o", path, says=("-o", "a file of the model"))
refused("tp-import", before, model / "config.json", *sizes, "-o", "model/config.json", says=("-o", "the model"))
for _ in range(2):
    colrow.succeed("tp-compile", model, *sizes, "-o", model / "new.plan")
    colrow.succeed("tp-import", model, *sizes, "-o", model / "new.mlir")

# Tools whose command line LLVM parses, and which would empty the file before they read it.
(work / "plan.mlir").write_text(colrow.succeed("tp-translate", "--plan-to-mlir", plan).stdout)
(work / "plan-link").symlink_to("step.plan")
broken = work / "broken.mlir"
broken.write_text("not IR")
before = snapshot()
for tool, *arguments in (("tp-translate", "--plan-to-mlir", "step.plan", "-o", "plan-link"),
                         ("tp-translate", "--plan-to-mlir", f"-o={plan}", "step.plan"),
                         ("tp-translate", "--mlir-to-plan", "./plan.mlir", "--o", "plan.mlir"),
                         ("tp-opt", "broken.mlir", "-o", "./broken.mlir"),
                         ("tp-opt", "--plan-verify", "-o", "plan.mlir", "plan.mlir")):
    refused(tool, before, *arguments, says=("-o", "the input"))
done = colrow.run("tp-opt", "--plan-write=output=./plan.mlir", "plan.mlir", "-o", "/dev/null")
colrow.check(done.returncode == 1 and "plan-write: output ./plan.mlir: is also the module" in done.stderr,
             f"plan-write over its module: {done.returncode}, {done.stderr[:400]}")
colrow.check(snapshot() == before, "plan-write wrote over its module")
colrow.succeed("tp-opt", "--plan-verify", "plan.mlir", "-o", "new.mlir")
colrow.succeed("tp-translate", "--mlir-to-plan", "new.mlir", "-o", "new.plan")
colrow.check((work / "new.plan").read_bytes() == plan.read_bytes(), "another plan")
