# RUN: %python %s %t
# REQUIRES: two-machines
# UNSUPPORTED: sanitize
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Without /proc no process can be started, or told to share a machine with another; with too long an environment none
can get its own: one line says so. (Sanitizers need /proc themselves.)"""
import os
import resource
import subprocess
import sys

import by_hand
import colrow

work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 4, 8)
data = colrow.random_tokens(work / "tokens.bin", 3000, 64)
command = [*map(str, (colrow.tool("tp-run"), "train", plan, "--seed", 1, "--data", data, "--steps", 1, "--limit", 2))]


def refused(what, code, error, *says):
    colrow.check(code == 1 and error.count("\n") == 1 and all(word in error for word in ("tp-run: error: ", *says)),
                 f"{what}: exit code {code}: {error}")
    print(f"{what}: {error.strip()}")


def without_proc(line, **environment):
    return subprocess.Popen(["unshare", "--mount", "bash", "-c", 'mount -t tmpfs none /proc; exec "$@"', "bash", *line],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **environment})


launcher = without_proc([*command, "-n", "2"])
refused("no /proc", launcher.wait(timeout=30), launcher.stderr.read(), "/proc/self/exe", "is /proc mounted?")
both = [without_proc(command, **environment) for environment in by_hand.environments(2, by_hand.free_port())]
errors = "".join(run.communicate(timeout=30)[1] for run in both)
refused("no /proc, by hand", both[0].returncode, errors, "which processes share a machine", "is /proc mounted?")

# The longest environment that the launcher can be given, for which its processes' own is too long.
SHORT = {"PATH": os.environ["PATH"]}


def start(length):
    """None: too long for the launcher too."""
    try:
        return subprocess.run([*command, "-n", "2"], env={**SHORT, "LONG": "x" * length}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=30,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 19, 1 << 19)))
    except OSError:
        return None


short, long, done = 100000, 130900, None
while not done or done.returncode == 0:
    colrow.check(long - short > 1, "no length at which processes cannot start")
    length = (short + long) // 2
    done = start(length)
    short, long = (length, long) if done else (short, length)
refused("long environment", done.returncode, done.stderr, "cannot start process 0", "too long")
