# RUN: %python %s %t
# REQUIRES: openmpi, mpich
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An MPI that is not the launcher's, or none, is refused in a line that says what is missing; so are a launcher's variables without the launcher, and processes with other plans."""
import sys

import colrow
import mpi

work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 2, 8)
saved = work / "saved"
run = ("tp-run", "train", plan, "--seed", 1, "--steps", 0, "--save", saved)
plugins = f"{colrow.tool('tp-run').rsplit('/', 2)[0]}/lib/colrow/libcolrow-mpi"
openmpi = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
mpich = {"PMI_RANK": "1", "PMI_SIZE": "2"}
srun = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NUM_NODES": "1", "SLURM_PROCID": "1"}
pmix = {**srun, "PMIX_RANK": "1"}
for environment, says in (
        (openmpi, ("Open MPI", "process 0 of 2", "0 of 1")),
        (mpich, ("MPICH", "process 1 of 2", "0 of 1")),
        ({**mpich, "COLROW_MPI_PLUGIN": f"{plugins}-openmpi.so"}, ("MPICH's launcher", "Open MPI v", "0 of 1")),
        ({**mpich, "COLROW_MPI_PLUGIN": str(work / "none.so")}, ("MPICH", "none.so", "libmpich-dev")),
        ({**openmpi, "COLROW_MPI_PLUGIN": "libc.so.6"}, ("COLROW_MPI_PLUGIN=libc.so.6", "no plug-in")),
        ({**pmix, "COLROW_MPI_PLUGIN": f"{plugins}-mpich.so"}, ("srun --mpi=pmix", "process 1 of 2", "0 of 1", "--mpi=pmi2")),
        ({**pmix, "COLROW_MPI_PLUGIN": str(work / "none.so")}, ("Open MPI", "none.so", "libopenmpi-dev", "srun --mpi=none")),
        ({**srun, **mpich}, ("srun --mpi=pmi2", "MPICH", "0 of 1")),
        ({"MV2_COMM_WORLD_RANK": "0", "MV2_COMM_WORLD_SIZE": "2"}, ("MVAPICH", "no plug-in"))):
    colrow.refuse(*run, env=environment, says=says, leaves=(saved,))

other = colrow.compile_plan(work / "model", work / "other.plan", 2, 4, 8)
for name in mpi.ONE:
    mpi.refuse(mpi.launcher(name, 1), *run[1:], ":", "-n", 1, *(colrow.tool("tp-run"), "train", other, *run[3:]),
               says=("do not run the same", "the plan of process 0 is step.plan", "of process 1 other.plan"))
colrow.check(not saved.exists(), "saved something")
