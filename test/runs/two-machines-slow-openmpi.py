# RUN: %python %s %t
# REQUIRES: openmpi, two-machines
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two machines under Open MPI leave the bits of threads also when their control plane is 20 ms slower each way."""
import sys

import colrow
import mpi

training = mpi.Training(colrow.workspace(sys.argv[1]), colrow.gpt2_config)
start = mpi.launcher("openmpi", 4, machines=2)
training.check("slow", mpi.through_proxy(start, "delay", training.work), "--split-last-axis")
