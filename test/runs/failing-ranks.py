# RUN: %python %s %t
"""One process of a run is killed or stopped at a random moment, also while processes meet, share memory, save and
leave: one line names it (more in harness/failing.py). COLROW_FAILURES=N: so many runs, at moments of a seed
(COLROW_SEED)."""
import re
import sys

from failing import KILL, STOP, Failing

CHOSEN = [(2, 2, 1, "eventfd2", 1, KILL), (4, 4, 2, "recvmsg", 1, KILL), (2, 2, 0, "pidfd_open", 1, STOP),
          (4, 2, 1, "pwrite64", 3, KILL), (4, 2, 0, "renameat2", 2, STOP), (2, 2, 0, "renameat", 2, KILL),
          (4, 4, 0, "symlinkat", 4, STOP), (2, 2, 1, "fsync", 2, STOP), (4, 4, 3, "step", 4, KILL),
          (4, 2, 1, "step", 3, STOP), (2, 2, 0, "unlinkat", 4, KILL), (4, 4, 1, "exit_group", 1, KILL)]


def ended(code, error, process, ranks):
    names = [f"process {process}\\b", *(f"rank {rank}\\b" for rank in ranks)]
    return code == 1 and error.count("\n") == 1 and any(re.search(name, error) for name in names)


Failing(sys.argv[1], ended).attack_all(CHOSEN)
