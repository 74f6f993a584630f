# RUN: %python %s %t
# REQUIRES: openmpi
"""As failing-ranks.py, under Open MPI's launcher, which may say what it likes, but not that all went well."""
import sys

import mpi
from failing import KILL, STOP, Failing

CHOSEN = [(4, 4, 2, "recvmsg", 2, KILL), (4, 2, 1, "pwrite64", 3, KILL), (2, 2, 0, "renameat2", 2, STOP),
          (4, 2, 0, "eventfd2", 2, STOP), (4, 4, 3, "fsync", 2, KILL)]

Failing(sys.argv[1], mpi.failed, 2, lambda processes: mpi.launcher("openmpi", processes), slow=5,
        env=mpi.TOKEN).attack_all(CHOSEN)
