# RUN: %python %s %t
# UNSUPPORTED: sanitize
"""With too little address space for the threads that the BLAS library starts on its own, tp-run still
ends: with its error, or with what was asked. With enough, a limit changes nothing. Where no thread can be
started, none of the ranks waits for it."""
import errno
import os
import subprocess
import sys

import calls
import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
data = colrow.random_tokens(work / "tokens.bin", 400, 64)
plan = colrow.compile_plan(model, work / "step.plan", 2, 2, 8)
for kibibytes in (110000, 150000, 200000, 300000):
    for arguments, code, says in (
            (("train", plan, "--seed", 1, "--data", data, "--steps", 1), 1, "ulimit -v"),
            (("train", work / "no.plan", "--seed", 1, "--steps", 1), 1, "no.plan"),
            (("train",), 2, "no plan"),
            (("--help",), 0, "")):
        command = ["bash", "-c", f'ulimit -v {kibibytes}; exec "$@"', "bash", colrow.tool("tp-run"),
                   *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        what = f"{kibibytes} KiB, tp-run {colrow.shell(arguments)}"
        colrow.check(done.returncode == code, f"{what}: exit code {done.returncode}, {done.stderr}")
        colrow.check(says in done.stderr, f"{what}: {done.stderr}")
train = [colrow.tool("tp-run"), "train", plan, "--seed", "1", "--data", data, "--steps", "1"]
done = subprocess.run(["bash", "-c", 'ulimit -v 16000000; exec "$@"', "bash", *train], capture_output=True, text=True,
                      timeout=60)
colrow.check(done.returncode == 0 and "step 1  loss" in done.stdout, f"16 GB are not enough: {done.stderr}")
done = subprocess.run(train, capture_output=True, text=True, timeout=60, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                      preexec_fn=calls.failing("clone", errno.EAGAIN))
colrow.check(done.returncode == 1 and done.stderr.count("\n") == 1 and "cannot start a thread for rank 1 of 2: " in done.stderr,
             f"without threads: exit code {done.returncode}, {done.stderr}")
