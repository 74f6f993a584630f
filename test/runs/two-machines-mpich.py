# RUN: %python %s %t
# REQUIRES: mpich, two-machines
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two machines under MPICH, two ranks on each, leave the bits of threads; so do two processes of two ranks. What needs leave is refused without: cutting the last axis, and a network that is not trusted."""
import sys

import colrow
import mpi

training = mpi.Training(colrow.workspace(sys.argv[1]), colrow.gpt2_config)
training.check("processes", mpi.launcher("mpich", 4, machines=2), "--split-last-axis")
training.check("mixed", mpi.launcher("mpich", 2, machines=2), "--split-last-axis")
saved = training.work / "refused"
run = ("train", training.plan, "--seed", 1, "--steps", 0, "--save", saved)
mpi.refuse(mpi.launcher("mpich", 4, machines=2), *run,
           says=("axis tp", "left", "right", "--split-last-axis"))
mpi.refuse(mpi.launcher("mpich", 2, machines=2), *run, env={},
           says=("several machines", "COLROW_TOKEN", "--trust-network"))
colrow.check(not saved.exists(), "a refused run left something")
