# RUN: %python %s %t
"""Where there are no symbolic links, checkpoints are plain files, found out before the first step; a copy
in which links became files can be resumed and saved into."""
import errno
import json
import shutil
import subprocess
import sys

import calls
import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
plan = colrow.compile_plan(model, work / "step.plan", 1, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 2000, 64)
common = ("--data", data, "--lr", 1e-3)
FILES = ["config.json", "model.safetensors", "optimizer.safetensors", "state.json"]
# As file systems without links answer.
forbid_links = calls.failing("symlinkat", errno.EPERM)


def train(*arguments, links=False):
    command = [colrow.tool("tp-run"), "train", plan, *common, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          preexec_fn=None if links else forbid_links)
    colrow.check(done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}")
    return done


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def check_plain(folder, step):
    colrow.check(names(folder) == FILES, f"{folder}: holds {names(folder)}")
    colrow.check(not any(p.is_symlink() for p in folder.iterdir()), f"{folder}: holds links")
    colrow.check(json.loads((folder / "state.json").read_text())["step"] == step, f"{folder}: another step")


def same(a, b):
    for name in FILES[1:3]:
        colrow.check((a / name).read_bytes() == (b / name).read_bytes(), f"{a} and {b}: {name} differs")


whole = work / "whole"
train("--seed", 5, "--steps", 6, "--save", whole, links=True)
out = work / "out"
train("--seed", 5, "--steps", 3, "--save", out, "--save-every", 1)
check_plain(out, 3)
train("--resume", out, "--steps", 6, "--save", out)
check_plain(out, 6)
same(out, whole)
# It is a model folder like any other, and a run of its own when it comes to saving.
train("--weights", out, "--steps", 0, "--save", work / "again")
colrow.check((work / "again" / "model.safetensors").read_bytes() == (out / "model.safetensors").read_bytes(),
             "other weights")
colrow.refuse("tp-run", "train", plan, *common, "--seed", 1, "--steps", 1, "--save", out, says=("earlier run",))
same(out, whole)
train("--seed", 5, "--steps", 3, "--save", out, "--overwrite")
check_plain(out, 3)

# A copy without links of a folder with links: `current` and the step are folders beside the files.
half = work / "half"
train("--seed", 5, "--steps", 3, "--save", half, links=True)
for links in (True, False):
    copy = work / f"copy{links}"
    shutil.copytree(half, copy)
    (copy / "notes.txt").write_text("mine")
    colrow.check((copy / "current").is_dir() and not (copy / "current").is_symlink(), "the copy has links")
    train("--resume", copy, "--steps", 6, "--save", copy, links=links)
    colrow.check((copy / "notes.txt").read_text() == "mine", "a file was lost")
    (copy / "notes.txt").unlink()
    check_plain(copy, 6)
    same(copy, whole)
# Copies of the files alone: from them a run goes on as well.
bare = work / "bare"
bare.mkdir()
for name in FILES:
    shutil.copy(half / name, bare / name)
train("--resume", bare, "--steps", 6, "--save", bare, links=True)
check_plain(bare, 6)
same(bare, whole)

# A change of the model that was accepted: its config.json takes the place of the old one.
relu = colrow.compile_plan(colrow.gpt2_config(work / "relu", activation_function="relu"), work / "relu.plan", 1, 2, 8)
for start in (("--resume", bare, "--accept-changes"), ("--seed", 1, "--overwrite")):
    changed = work / f"changed{start[0]}"
    shutil.copytree(bare, changed)
    command = [colrow.tool("tp-run"), "train", relu, *common, *(changed if part == bare else part for part in start),
               "--steps", 7, "--save", changed]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    colrow.check(done.returncode == 0, f"{command}: {done.stderr}")
    check_plain(changed, 7)
    config = json.loads((changed / "config.json").read_text())
    colrow.check(config["activation_function"] == "relu", f"{start}: config.json is that of the old model")

# Files of the user's are no checkpoint: neither a model nor a state.json of another kind.
for name, text in {"model.safetensors": "weights", "state.json": "{\"version\": 2}"}.items():
    own = work / f"own-{name}"
    own.mkdir()
    (own / name).write_text(text)
    colrow.refuse("tp-run", "train", plan, *common, "--seed", 1, "--steps", 1, "--save", own, "--overwrite",
                  says=(name, "not from an earlier"))
    colrow.check((own / name).read_text() == text and names(own) == [name], f"{name} was changed")
