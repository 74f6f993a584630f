# RUN: %python %s %t
"""A run that a launcher starts several times would train several times: refused. One process is fine."""
import sys

import colrow

work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 2, 8)
saved = work / "saved"
run = ("tp-run", "train", plan, "--seed", 1, "--steps", 0, "--save", saved)
launchers = {"RANK": "WORLD_SIZE", "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_SIZE", "PMI_RANK": "PMI_SIZE",
             "MV2_COMM_WORLD_RANK": "MV2_COMM_WORLD_SIZE", "SLURM_PROCID": "SLURM_STEP_NUM_TASKS"}
for rank, size in launchers.items():
    for index in (0, 1):
        colrow.refuse(*run, env={rank: str(index), size: "2"}, says=("2 processes", size), leaves=(saved,))
for rank, size in launchers.items():
    colrow.succeed(*run, "--overwrite", env={rank: "0", size: "1"})
colrow.succeed(*run, "--overwrite", env={"WORLD_SIZE": "2"})  # left over from something else
colrow.succeed(*run, "--overwrite", env={"RANK": "x", "WORLD_SIZE": "many"})
