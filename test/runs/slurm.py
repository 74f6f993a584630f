# RUN: %python %s %t
# REQUIRES: slurm, openmpi, mpich
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In a cluster of Slurm's own daemons: the script of sbatch is one process, whatever the job's tasks; a task that is killed ends the step with an error, and leaves no process and a checkpoint that goes on; two machines without an MPI are refused."""
import filecmp
import json
import sys

import colrow
import mpi

work = colrow.workspace(sys.argv[1])
plan, data = work / "step.plan", colrow.random_tokens(work / "data.bin", 400, 64)
colrow.compile_split(colrow.gpt2_config(work / "model"), plan, 2, "--batch", 2, "--seq", 8)
run = ("train", plan, "--seed", 1, "--data", data)


def script(name, text):
    path = work / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


colrow.succeed("tp-run", *run, "--steps", 3, "--save", work / "threads")
job = script("job", f'"$@"; echo $? >{work}/code')
batch = f'sbatch -N2 -n2 -o {work}/out {job} "$@"; until [ -s {work}/code ]; do sleep 0.02; done; exit $(cat {work}/code)'
mpi.succeed([*mpi.CLUSTER, "bash", "-c", batch, "bash"], *run, "--steps", 3, "--save", work / "batch")
colrow.check((work / "out").read_text().count("step 3 ") == 1, (work / "out").read_text())
colrow.check(filecmp.cmp(work / "threads" / "model.safetensors", work / "batch" / "model.safetensors", shallow=False),
             "sbatch: other weights than those of threads")

# The task of the other machine, once there is a checkpoint.
saved = work / "saved"
dying = script("dying", f"""[ "$SLURM_PROCID" = 0 ] || {{
  while ! [ -e {saved}/model.safetensors ]; do sleep 0.02; done
  kill -KILL $$
}} &
exec "$@" # is $$
""")
for kind in ("pmix", "pmi2"):
    colrow.workspace(saved)
    done = mpi.run([*mpi.srun(kind, 2, machines=2), dying], *run, "--steps", 100000, "--save", saved, "--save-every", 2,
                   "--split-last-axis", "--limit", 10, seconds=30)
    colrow.check(done.returncode not in (0, 99, 124) and "process 1 (host right)" in done.stderr,
                 f"{kind}: exit code {done.returncode}: {done.stderr}")
    steps = json.loads((saved / "state.json").read_text())["step"] + 1
    rest = colrow.train(plan, "--resume", saved, "--data", data, "--steps", steps)
    whole = colrow.train(*run[1:], "--steps", steps)
    colrow.check(colrow.losses(rest) == colrow.losses(whole)[-1:], f"{kind}: resumed at step {steps} with another loss")

done = mpi.run(mpi.srun("none", 2, machines=2), *run, "--steps", 0, "--save", work / "left")
colrow.check(done.returncode == 1 and "give srun --mpi=pmix" in done.stderr and not (work / "left").exists(), done.stderr)
