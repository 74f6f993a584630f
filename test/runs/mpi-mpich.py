# RUN: %python %s %t
# REQUIRES: mpich
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that MPICH's launcher starts on one machine leave the bits of threads: one rank each, or two. Nobody says where they meet. An error has one line, and so has a process that never starts MPI."""
import sys

import colrow
import mpi

training = mpi.Training(colrow.workspace(sys.argv[1]), colrow.llama_config)
training.check("processes", mpi.launcher("mpich", 4))
training.check("mixed", mpi.launcher("mpich", 2))
run = ("train", training.plan, "--seed", 1, "--steps", 0)
mpi.refuse(mpi.launcher("mpich", 3), *run, says=("4 ranks", "3 processes"))
mpi.refuse(mpi.launcher("mpich", 1), *run, "--limit", 1, ":", "-n", 1, "sleep", 30, says=("MPICH", "1 s", "2 processes"))
