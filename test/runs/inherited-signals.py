# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whoever starts tp-run -n may ignore signals or have them blocked, and pass that on: a run ends as ever."""
import os
import signal
import subprocess
import sys

import endings

runs = endings.Runs(sys.argv[1], limit=1)
ALL = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE}


def ignored():
    for one in ALL:
        signal.signal(one, signal.SIG_IGN)


def blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, ALL)


for inherit in (ignored, blocked):
    what = inherit.__name__
    run = subprocess.Popen(runs.command("-n", 2, "--seed", 1, steps=2), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=inherit)
    runs.ends(f"{what}, done", run, code=0)
    run, pids = runs.start("--seed", 1, preexec_fn=inherit)
    os.kill(pids[1], signal.SIGKILL)
    runs.ends(f"{what}, killed", run, ("process 1",))
    for sent in (signal.SIGTERM, signal.SIGINT):
        run, pids = runs.start("--seed", 1, preexec_fn=inherit)
        os.kill(pids[None], sent)
        runs.ends(f"{what}, {sent.name}", run, ("interrupted after step",))
