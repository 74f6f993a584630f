# RUN: %python %s %t
"""--save into the folder of an earlier run: refused, unless the run goes on from what counts there, or
--overwrite says so. What was there stays to the bit until a save."""
import json
import shutil
import sys

import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
plan = colrow.compile_plan(model, work / "step.plan", 1, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 2000, 64)
run = ("tp-run", "train", plan, "--data", data, "--lr", 1e-3)
out = work / "out"
colrow.succeed(*run, "--seed", 1, "--steps", 2, "--save", out)
before = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}


def unchanged():
    now = {p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    colrow.check(now == before, f"changed: {sorted(map(str, now.keys() ^ before.keys()))}")


def run_of(folder):
    return json.loads((folder / "state.json").read_text())["run"]


says = ("earlier run", "--resume", "--overwrite")
colrow.refuse(*run, "--seed", 1, "--steps", 4, "--save", out, says=says)
colrow.refuse(*run, "--weights", out, "--steps", 4, "--save", out, says=says)
unchanged()
# Going on from another folder, or from a step that does not count any more, would lose this one.
copy = work / "copy"
shutil.copytree(out, copy, symlinks=True)
colrow.refuse(*run, "--resume", copy, "--steps", 4, "--save", out, says=says)
unchanged()
shutil.copytree(out / "step-2", out / "step-1")
colrow.refuse(*run, "--resume", out / "step-1", "--steps", 4, "--save", out, says=says)
shutil.rmtree(out / "step-1")
unchanged()

# The run that goes on keeps its name; one that starts in a folder of its own has another.
first = run_of(out)
colrow.succeed(*run, "--resume", out, "--steps", 3, "--save", out)
colrow.check(run_of(out) == first, "a resumed run has another name")
colrow.succeed(*run, "--resume", copy, "--steps", 3, "--save", work / "branch")
colrow.check(run_of(work / "branch") != first, "a branch has the name of its origin")
colrow.check((copy / "step-2").is_dir(), "the origin of a branch was removed")

# Told so: replaced at the first save, and what is not the run's stays.
(out / "notes.txt").write_text("mine")
colrow.refuse(*run, "--seed", 3, "--data", work / "nowhere", "--steps", 1, "--save", out, "--overwrite",
              says=("nowhere",))
colrow.check(run_of(out) == first and (out / "step-3").is_dir(), "a refused run overwrote")
colrow.succeed(*run, "--seed", 3, "--steps", 1, "--save", out, "--overwrite")
colrow.check(run_of(out) != first, "not overwritten")
steps = sorted(p.name for p in out.glob("step-*"))
colrow.check(steps == ["step-1"] and (out / "notes.txt").read_text() == "mine", f"left {steps}")

# Replaced is the run whose checkpoint counts; a step of a third one stays.
third = work / "third"
colrow.succeed(*run, "--seed", 4, "--steps", 7, "--save", third)
shutil.copytree(third / "step-7", out / "step-7")
done = colrow.succeed(*run, "--seed", 5, "--steps", 2, "--save", out, "--overwrite", "--save-every", 1)
steps = sorted(p.name for p in out.glob("step-*"))
colrow.check(steps == ["step-2", "step-7"], f"left {steps}")
colrow.check(f"{out}/step-7: stays: another run saved it" in done.stderr, f"no word: {done.stderr}")
