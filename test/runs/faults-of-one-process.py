# RUN: %python %s %t
# UNSUPPORTED: sanitize
"""One process of a run has a fault, or no memory: all end with one message that names it."""
import os
import resource
import signal
import subprocess
import sys

import endings
import holding

runs = endings.Runs(sys.argv[1], limit=1)

for what, sent in (("a fault in a kernel", signal.SIGSEGV), ("an assertion", signal.SIGABRT)):
    run, pids = runs.start("--seed", 1)
    os.kill(pids[1], sent)
    runs.ends(what, run, ("rank 1 (process 1), last at step ", f": was ended by signal {int(sent)} ("))


def limited(what, call, slack):
    """Process 1 may take no more than `slack` bytes of address space from its first `call` on."""
    def limit(process, count, pid):
        if process == 1 and count == 1:
            with open(f"/proc/{pid}/statm") as pages:
                size = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + slack
            resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
        return True

    run = holding.Held(runs.command("-n", 2, "--seed", 1, steps=3), call, limit, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    runs.ends(what, run, ("process 1",))
    run.release()


limited("no memory for ranks", "memfd_create", 0)
limited("no memory for threads", "eventfd2", 1 << 20)
limited("no memory for libraries", "madvise", 0)
