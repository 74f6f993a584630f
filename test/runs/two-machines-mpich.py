# RUN: %python %s %t
# REQUIRES: mpich, two-machines
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two machines under MPICH, two ranks on each, leave the bits of threads; so do two processes of two ranks. What needs leave is refused without: cutting the last axis, and a network that is not trusted. A process that is killed or stopped ends the run; which one it was is said once, also of process 0, through which the machines hear of each other."""
import sys

import colrow
import mpi

training = mpi.Training(colrow.workspace(sys.argv[1]), colrow.gpt2_config)
training.check("processes", mpi.launcher("mpich", 4, machines=2), "--split-last-axis")
training.check("mixed", mpi.launcher("mpich", 2, machines=2), "--split-last-axis")

saved = training.work / "refused"
run = ("train", training.plan, "--seed", 1, "--steps", 0, "--save", saved)
mpi.refuse(mpi.launcher("mpich", 4, machines=2), *run, says=("axis tp", "left", "right", "--split-last-axis"))
mpi.refuse(mpi.launcher("mpich", 2, machines=2), *run, env={}, says=("several machines", "COLROW_TOKEN", "--trust-network"))
colrow.check(not saved.exists(), "a refused run left something")

# A process gets a signal once training has begun. When one is killed, MPICH's launcher may kill all before any of them speaks.
progress, start = training.work / "progress", training.work / "start"
long = ("train", training.plan, "--seed", 1, "--data", training.data, "--steps", 10**6, "--split-last-axis", "--limit", 1)


def with_signal(name, process):
    progress.write_text("")
    start.write_text(f"""#!/bin/sh
[ "$PMI_RANK" != {process} ] || (until [ "$(wc -l <{progress})" -gt 100 ]; do sleep 0.05; done; kill -{name} $$) &
[ "$PMI_RANK" != 0 ] || exec >{progress}
exec "$@"
""")
    start.chmod(0o755)
    return [*mpi.launcher("mpich", 4, machines=2), str(start)]


done = mpi.run(with_signal("KILL", 3), *long)
colrow.check(done.returncode not in (0, 99, 124, 137), f"exit code {done.returncode}:\n{done.stderr}")
mpi.refuse(with_signal("STOP", 3), *long, says=("process 3", "right", "step", "does not answer for 1 s"))
mpi.refuse(with_signal("STOP", 0), *long, says=("process 0", "left", "step", "does not answer for 1 s"))
