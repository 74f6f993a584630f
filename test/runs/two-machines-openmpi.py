# RUN: %python %s %t
# REQUIRES: openmpi, two-machines
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two machines under Open MPI, two ranks on each, leave the bits of threads; so do two processes of two ranks."""
import sys

import colrow
import mpi

training = mpi.Training(colrow.workspace(sys.argv[1]), colrow.gpt2_config)
training.check("processes", mpi.launcher("openmpi", 4, machines=2), "--split-last-axis")
training.check("mixed", mpi.launcher("openmpi", 2, machines=2), "--split-last-axis")
