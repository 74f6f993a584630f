# RUN: %python %s %t
"""A system call of a save that fails is one line that names what could not be done, and the checkpoint that
was there stays whole, with links and without; where a file system lacks a call, saves do without it."""
import errno
import json
import os
import shutil
import subprocess
import sys

import calls
import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
plan = colrow.compile_plan(model, work / "step.plan", 1, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 2000, 64)
FILES = ("model.safetensors", "config.json", "optimizer.safetensors", "state.json")


# The search for leaks lists threads by the calls that fail here.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def train(call, error, *arguments):
    command = [colrow.tool("tp-run"), "train", plan, "--data", data, *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env=ENVIRONMENT, preexec_fn=calls.failing(call, getattr(errno, error)) if call else None)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def step(folder):
    return json.loads((folder / "state.json").read_text())["step"]


linked = work / "linked"
colrow.check(train(None, None, "--seed", 1, "--steps", 2, "--save", linked).returncode == 0, "no checkpoint")
plain = work / "plain"
plain.mkdir()
for name in FILES:
    shutil.copy(linked / name, plain / name)

for form in (linked, plain):
    isLinked = form == linked
    for call, error, says in (("mkdirat", "EIO", "cannot create folder"), ("fsync", "EIO", "cannot sync"),
                              ("renameat2", "EIO", "cannot rename"), ("renameat", "EIO", "cannot replace"),
                              ("flock", "ENOLCK", "cannot lock the folder"),
                              ("faccessat2", "EACCES", "cannot write to this folder"),
                              ("getrandom", "EIO", "no random numbers"),
                              ("memfd_create", "ENOSYS", "cannot load kernels"),
                              ("symlinkat", "EIO", isLinked and "cannot create a link"),
                              ("symlinkat", "EPERM", isLinked and "was saved with links, which this file system does not"),
                              ("unlinkat", "EIO", isLinked and "cannot remove"),
                              ("renameat2", "EINVAL", None), ("renameat2", "ENOSYS", None), ("getdents64", "EIO", None)):
        folder = work / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(form, folder, symlinks=True)
        before = contents(folder)
        done = train(call, error, "--resume", folder, "--steps", 3, "--save", folder)
        what = f"{call} fails with {error} in {form.name}: exit code {done.returncode}, {done.stderr}"
        if says:
            colrow.check(done.returncode == 1 and done.stderr.count("\n") == 1 and says in done.stderr, what)
            colrow.check(error == "EPERM" or os.strerror(getattr(errno, error)) in done.stderr, what)
            colrow.check(contents(folder) == before, f"{what}: the checkpoint was changed")
        else:
            colrow.check(done.returncode == 0 and step(folder) == 3, what)
        # Goes on when the disk is well again.
        done = train(None, None, "--resume", folder, "--steps", 4, "--save", folder)
        colrow.check(done.returncode == 0 and step(folder) == 4, f"{what}; then {done.stderr}")

# A new folder, and one that cannot be made: nothing is left of it.
done = train("mkdirat", "EIO", "--seed", 1, "--steps", 1, "--save", work / "deep" / "new")
colrow.check(done.returncode == 1 and "deep: cannot create folder: " in done.stderr, f"{done.stderr}")
colrow.check(not (work / "deep").exists(), "a folder was left")
done = train("symlinkat", "EIO", "--seed", 1, "--steps", 1, "--save", work / "deep" / "new")
colrow.check(done.returncode == 1 and "cannot create a link: " in done.stderr, f"{done.stderr}")
colrow.check(not (work / "deep").exists(), "a folder was left")
