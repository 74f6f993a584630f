# RUN: %python %s %t
"""--save removes a run's own older steps, after a save, and nothing else: not what looks like a step, not a
user's copy of one, not what a link leads to, and nothing at all when the run is refused."""
import json
import os
import shutil
import sys

import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
plan = colrow.compile_plan(model, work / "step.plan", 1, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 2000, 64)
run = ("tp-run", "train", plan, "--data", data, "--lr", 1e-3)
out = work / "out"


def contents(folder):
    """{path: what is there} without following links; of files, which one and what it holds."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(root, name)
            status = os.lstat(path)
            found[os.path.relpath(path, folder)] = (
                os.readlink(path) if os.path.islink(path) else
                "folder" if os.path.isdir(path) else
                (status.st_ino, status.st_mtime_ns, open(path, "rb").read()))
    return found


def thesis(name):
    """A folder of the user's."""
    folder = work / name
    (folder / "chapters").mkdir(parents=True)
    (folder / "chapters" / "one.txt").write_text("years of work")
    (folder / "state.json").write_text("{}")
    return folder


# What a user may have in the folder, before the run and meanwhile: folders, files and links named like
# steps and like what a killed save leaves.
outside = thesis("outside")
out.mkdir()
shutil.copytree(outside, out / "step-1")
shutil.copytree(outside, out / "step-notes")
shutil.copytree(outside, out / ".saving")
(out / "step-2").symlink_to(outside)
(out / "step-3").symlink_to("../outside/chapters")
(out / "step-4").write_text("a file")
(out / ".saving-link").symlink_to(outside)
(out / "step-5").mkdir()
(out / "step-5" / "model.safetensors").symlink_to(outside / "chapters" / "one.txt")
(out / ".current.new").write_text("a file")
(out / "step-empty").mkdir()
(out / "step-broken").mkdir()
(out / "step-broken" / "state.json").write_text("{")
mine, theirs = contents(out), contents(outside)


def untouched(what):
    now = contents(out)
    lost = [name for name in mine if now.get(name) != mine[name]]
    colrow.check(not lost, f"{what}: changed or removed: {lost}")
    colrow.check(contents(outside) == theirs, f"{what}: a link was followed")
    return {name.split("/")[0] for name in now.keys() - mine.keys()}


# Refused runs, each later than the folder's being looked at: nothing is added either.
for what, arguments in {"no data": ("--seed", 1, "--data", work / "nowhere", "--steps", 2),
                        "no weights": ("--weights", work / "nowhere", "--steps", 2),
                        "no checkpoint": ("--resume", work / "nowhere", "--steps", 2)}.items():
    colrow.refuse("tp-run", "train", plan, "--data", data, *arguments, "--save", out, says=("nowhere",))
    colrow.check(untouched(what) == set(), f"{what}: left something behind")
new = work / "deep" / "new"
colrow.refuse("tp-run", "train", plan, "--seed", 1, "--data", work / "nowhere", "--steps", 2, "--save", new,
              says=("nowhere",))
wild = work / "wild.bin"
wild.write_bytes(b"\xff\xff" * 100)
colrow.refuse("tp-run", "train", plan, "--seed", 1, "--data", wild, "--steps", 2, "--save", new, says=("65535",))
colrow.check(not (work / "deep").exists(), "a refused run made folders")

# A run with many saves: its own steps go, all else stays, and it says so.
done = colrow.succeed(*run, "--seed", 1, "--steps", 8, "--save", out, "--save-every", 1)
names = {"current", "model.safetensors", "config.json", "optimizer.safetensors", "state.json"}
colrow.check(untouched("a run") == names | {"step-8"}, f"left {untouched('a run')}")
for name in ("step-1", "step-notes", "step-5", "step-empty", "step-broken"):
    colrow.check(done.stderr.count(f"{out}/{name}: stays: ") == 1, f"no word, or two, about {name}:\n{done.stderr}")

# The user puts something into the run's own step: it stays, with what it holds.
(out / "step-8" / "remarks.txt").write_text("good one")
kept = contents(out / "step-8")
done = colrow.succeed(*run, "--resume", out, "--steps", 9, "--save", out)
colrow.check(untouched("resumed") == names | {"step-8", "step-9"}, f"left {untouched('resumed')}")
colrow.check(contents(out / "step-8") == kept and "remarks.txt" in done.stderr, "a remark was lost, or no word")

# Another run's step, and the run's own behind a link, stay; a killed save's leftover goes.
shutil.rmtree(out / "step-8")
other = work / "other"
colrow.succeed(*run, "--seed", 2, "--steps", 3, "--save", other)
shutil.copytree(other / "step-3", out / "step-6")
shutil.copytree(out / "step-9", work / "elsewhere")
(out / "step-7").symlink_to(work / "elsewhere")
name = json.loads((out / "state.json").read_text())["run"]
shutil.copytree(out / "step-9", out / f".saving-{name}")
(out / f".saving-{name}" / "optimizer.safetensors").unlink()
# So does what was there for a moment, of whatever run; what only looks like it stays.
lost, proof = "0123456789abcdef" * 2, "fedcba9876543210" * 2
for leftover in (name, lost):
    (out / f".shared-{leftover}").write_text(proof)
    (out / f".link-{leftover}").symlink_to("link")
    (out / f".current-{leftover}").symlink_to("step-9")
(out / f".shared-{proof}").write_text("")
(out / f".shared-{lost[1:]}").write_text(proof)
(out / f".shared-{lost[::-1]}").write_text("years of work")
(out / f".shared-{lost[::-1]}.txt").write_text(proof)
(out / f".link-{lost[::-1]}").symlink_to("../outside")
(out / f".current-{lost[::-1]}").write_text(proof)
mine |= {entry: what for entry, what in contents(out).items() if lost[::-1] in entry or entry == f".shared-{lost[1:]}"}
elsewhere, foreign = contents(work / "elsewhere"), contents(out / "step-6")
colrow.succeed(*run, "--resume", out, "--steps", 10, "--save", out)
colrow.check(untouched("again") == names | {"step-6", "step-7", "step-10"}, f"left {untouched('again')}")
colrow.check(contents(work / "elsewhere") == elsewhere, "a step was removed through a link")
colrow.check(contents(out / "step-6") == foreign, "another run's step was changed")

# Copies that the user made of a good step name the run too.
copies = ["step-10-best", "step-best", ".saving-x"]
for copy in copies:
    shutil.copytree(out / "step-10", out / copy)
kept = [contents(out / copy) for copy in copies]
for step in (11, 12):
    done = colrow.succeed(*run, "--resume", out, "--steps", step, "--save", out)
    colrow.check(untouched("copies") == names | {*copies, "step-6", "step-7", f"step-{step}"},
                 f"left {untouched('copies')}")
    colrow.check([contents(out / copy) for copy in copies] == kept, "a copy was changed")
    colrow.check(f"{out}/step-best: stays: it was saved as step-10" in done.stderr, f"no word of a copy: {done.stderr}")
for copy in copies:
    shutil.rmtree(out / copy)

# From inside, and through links to the folder itself, as the user spells it.
(work / "alias").symlink_to(out)
for step, start, save in ((13, out / "step-12", out), (14, work / "alias", out), (15, f"{out}/", work / "alias"),
                          (16, out / "current", f"{work}/./out")):
    colrow.succeed(*run, "--resume", start, "--steps", step, "--save", save)
    colrow.check(json.loads((out / "state.json").read_text())["step"] == step, f"--resume {start}: not saved")
    colrow.check(untouched(start) == names | {"step-6", "step-7", f"step-{step}"}, f"left {untouched(start)}")

# The user moved a file of the run's own step away and linked it: it is read from there, and all stays.
(out / "step-16" / "model.safetensors").rename(work / "moved.safetensors")
(out / "step-16" / "model.safetensors").symlink_to(work / "moved.safetensors")
moved, kept = (work / "moved.safetensors").read_bytes(), contents(out / "step-16")
done = colrow.succeed(*run, "--resume", out, "--steps", 17, "--save", out)
colrow.check(contents(out / "step-16") == kept and (work / "moved.safetensors").read_bytes() == moved,
             "a step with a link in it was changed, or what the link leads to")
colrow.check(f"{out}/step-16: stays: " in done.stderr, f"no word about step-16: {done.stderr}")

# A folder of links, as a Hugging Face cache has: refused before any work.
cache = work / "cache"
(cache / "blobs").mkdir(parents=True)
(cache / "blobs" / "a").write_text("weights")
(cache / "model.safetensors").symlink_to("blobs/a")
before = contents(cache)
colrow.refuse(*run, "--seed", 1, "--steps", 1, "--save", cache, says=("model.safetensors", "not from an earlier"))
(cache / "model.safetensors").unlink()
(cache / "current").symlink_to(outside)
colrow.refuse(*run, "--seed", 1, "--steps", 1, "--save", cache, "--overwrite", says=("current", "not from an earlier"))
colrow.check((cache / "blobs" / "a").read_text() == "weights" and contents(outside) == theirs, "a link was followed")

# A config.json that is no file stays, so what is saved would have none, or another model's.
for name in ("link", "nowhere", "folder"):
    place = work / f"config-{name}"
    place.mkdir()
    if name == "folder":
        (place / "config.json").mkdir()
    else:
        (place / "config.json").symlink_to(model / "config.json" if name == "link" else "nowhere")
    before = contents(place)
    colrow.refuse(*run, "--seed", 1, "--steps", 1, "--save", place, says=("config.json", "another folder"))
    colrow.check(contents(place) == before, f"config.json is a {name}: something was written")
