# RUN: %python %s %t
# REQUIRES: mpich, two-machines
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two machines under MPICH leave the bits of threads also when their control plane is 20 ms slower each way."""
import sys

import colrow
import mpi

training = mpi.Training(colrow.workspace(sys.argv[1]), colrow.gpt2_config)
start = mpi.launcher("mpich", 4, machines=2)
training.check("slow", mpi.through_proxy(start, "delay", training.work), "--split-last-axis")
