# RUN: %python %s %t
# REQUIRES: openmpi
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that Open MPI's launcher starts on one machine leave the bits of threads: one rank each, or two. Nobody says where they meet."""
import sys

import colrow
import mpi

training = mpi.Training(colrow.workspace(sys.argv[1]), colrow.llama_config)
training.check("processes", mpi.launcher("openmpi", 4))
training.check("mixed", mpi.launcher("openmpi", 2))
