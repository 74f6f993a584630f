# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of tp-run that an MPI's launcher or Slurm's starts, on one machine or on two (harness/two-machines)."""
import json
import os
import pathlib
import subprocess
import sys

import colrow

TWO_MACHINES = pathlib.Path(__file__).parent / "two-machines"
# The processes of a test are more than the cores, and run as root where tests do.
ONE = {"openmpi": ("mpirun.openmpi", "--oversubscribe", "--bind-to", "none"),
       "mpich": ("mpirun.mpich",)}
# Without a choice of devices MPICH finds a way around the network.
TWO = {"openmpi": (*ONE["openmpi"], "--mca", "plm_rsh_agent", "/run/on", "--mca", "btl_tcp_if_include", "10.77.0.0/24",
                   "--mca", "oob_tcp_if_include", "10.77.0.0/24", "--mca", "mpi_yield_when_idle", "1"),
       "mpich": ("mpirun.mpich", "-launcher", "rsh", "-launcher-exec", "/run/on", "-iface", "veth0",
                 "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "veth0",
                 "-genvlist", "COLROW_TOKEN,PATH,HOME")}
# What follows runs in a cluster of two machines, which pass the environment on.
CLUSTER = (str(TWO_MACHINES), str(TWO_MACHINES.with_name("slurm")), "env", "OMPI_MCA_btl_tcp_if_include=10.77.0.0/24",
           "OMPI_MCA_mpi_yield_when_idle=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=veth0")
# MPI libraries keep memory that they do not give back at the end.
WITH_SANITIZERS = {"LSAN_OPTIONS": os.environ.get("LSAN_OPTIONS", "") + ":detect_leaks=0"}
TOKEN = {"COLROW_TOKEN": "of the tests"}
# MPICH 4.0's agent on a machine may fail an assertion of its own once all processes have ended in order.
HYDRA_FAULT = "HYD_pmcd_pmip_control_cmd_cb (pm/pmiserv/pmip_cb.c:899): assert (!closed) failed"


def launcher(name, processes, machines=1):
    """The command that starts so many processes, half of them on each of two machines."""
    if machines == 1:
        command = [*ONE[name], "-n", processes]
    else:
        hosts = f"left:{processes // 2},right:{processes // 2}"
        command = [TWO_MACHINES, *TWO[name], "--host" if name == "openmpi" else "-hosts", hosts, "-n", processes]
    if name == "openmpi":
        command += ["--allow-run-as-root"] * (os.geteuid() == 0) + ["-x", "COLROW_TOKEN"]
    return [str(word) for word in command]


def srun(kind, processes, machines=1):
    """The command that starts so many tasks by srun with this --mpi."""
    return [str(word) for word in (*CLUSTER, "srun", f"--mpi={kind}", "-n", processes, "-N", machines,
                                   "--ntasks-per-node", processes // machines)]


# Process 0 listens, the others come through a proxy.
MEET = """#!/bin/sh
port=12001
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] && port=12000
exec "$@" --rendezvous 10.77.0.1:$port
"""


def through_proxy(start, way, work):
    """A launcher on two machines whose control plane goes through harness/proxy.py, in this way."""
    script = work / "meet"
    script.write_text(MEET)
    script.chmod(0o755)
    proxy = [sys.executable, str(pathlib.Path(__file__).parent / "proxy.py"), "10.77.0.1:12001", "10.77.0.1:12000", way]
    return [start[0], *proxy, *start[1:], str(script)]


def run(start, *arguments, seconds=60, env=TOKEN):
    """tp-run under a launcher, which lives no longer than `seconds`."""
    command = ["timeout", "-k", "1", str(seconds), *start, colrow.tool("tp-run"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **WITH_SANITIZERS, **env})
    # What tp-run has left is compared nevertheless.
    if HYDRA_FAULT in done.stderr and "tp-run: error" not in done.stderr:
        done.returncode = 0
    return done


def succeed(start, *arguments, **options):
    done = run(start, *arguments, **options)
    if done.returncode:
        sys.exit(f"{colrow.shell(start)} tp-run {colrow.shell(arguments)}\nended with exit code {done.returncode}:\n"
                 f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done


def refuse(start, *arguments, says, **options):
    """One line of tp-run's, among whatever the launcher says."""
    done = run(start, *arguments, **options)
    colrow.check(done.returncode not in (0, 99, 124, 137), f"exit code {done.returncode}:\n{done.stderr}")
    lines = [line for line in done.stderr.splitlines() if "tp-run: error" in line]
    colrow.check(len(lines) == 1, f"wanted one line of tp-run's:\n{done.stderr}")
    for word in says:
        colrow.check(word in lines[0], f"{word!r} is not in: {lines[0]}")
    print(f"refused as wanted: {lines[0]}")


def failed(code, error, process, ranks):
    """Whether so a run may end of which a process was killed or stopped: tp-run says one thing at most."""
    return code not in (0, 99, 124) and sum("tp-run: error" in line for line in error.splitlines()) <= 1


class Training:
    """A plan at tp=4 whose runs leave gradients, logits, a checkpoint and losses: all to be equal to the bit."""
    FILES = ("outputs.safetensors", "saved/model.safetensors", "saved/optimizer.safetensors", "losses")

    def __init__(self, work, config):
        self.work, self.plan = work, work / "step.plan"
        model = config(work / "model")
        colrow.compile_split(model, self.plan, 4, "--batch", 2, "--seq", 8, "--outputs", "gradients,logits")
        self.data = colrow.random_tokens(work / "data.bin", 400, 64)
        self.wanted = self.leaves("threads", [])

    def leaves(self, name, start, *more):
        """The bytes of what a run leaves."""
        folder = colrow.workspace(self.work / name)
        succeed(start, "train", self.plan, "--seed", 1, "--data", self.data, "--steps", 3, *more,
                "--dump-outputs", folder / "outputs.safetensors", "--save", folder / "saved",
                "--report", folder / "report.json")
        report = json.loads((folder / "report.json").read_text())
        kept = [(step["loss"], step["grad_norm"]) for step in report["steps"]]
        (folder / "losses").write_text(repr(kept))
        return [(folder / file).read_bytes() for file in self.FILES]

    def check(self, name, start, *more):
        for file, found, wanted in zip(self.FILES, self.leaves(name, start, *more), self.wanted):
            colrow.check(found == wanted, f"{name}: {file} is not that of threads")
