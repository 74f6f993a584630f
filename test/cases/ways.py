#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the reference cases in every way in which ranks can be started, and compares what each leaves
with what threads of one process leave: losses, norms, gradients, logits, weights and optimizer state are
equal to the bit.

usage: ways.py [CASE ...] [--tp N ...] [--by LAUNCHER ...] [--dtype bf16] [--all] [--bin DIR]

LAUNCHER: tp-run (-n), hand (variables), torchrun, openmpi, mpich, srun-none, srun-pmix, srun-pmi2 (srun
--mpi), and openmpi-two, mpich-two, srun-pmix-two, srun-pmi2-two on two machines. Without --all each way
runs one of the cases at each tp, another than its neighbours, so that over all launchers every case is
run. A way for which this machine has not what it takes is left out, which is said. Exit code 1 when
something differs, or when --by names what is left out.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "harness"))
import by_hand  # noqa: E402
import colrow  # noqa: E402
import mpi  # noqa: E402

CASES = {"gpt2": (2, 4), "gpt2-odd": (2, 4), "llama": (2, 4), "llama-gqa": (2,)}
LAUNCHERS = ("tp-run", "hand", "torchrun", "openmpi", "openmpi-two", "mpich", "mpich-two", "srun-none",
             "srun-pmix", "srun-pmix-two", "srun-pmi2", "srun-pmi2-two")
FILES = ("outputs.safetensors", "saved/model.safetensors", "saved/optimizer.safetensors", "losses")


def own(count, arguments):
    return colrow.run("tp-run", *arguments, "-n", count, timeout=60)


def variables(count, arguments):
    codes, outs, errors = by_hand.together(by_hand.environments(count, by_hand.free_port()), *arguments)
    return subprocess.CompletedProcess(arguments, max(map(abs, codes)), "".join(outs), errors)


def torchrun(count, arguments):
    command = [torchrun_command(), "--standalone", "--nproc-per-node", count, "--no-python", colrow.tool("tp-run"), *arguments]
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60)


def by_mpi(launcher, name, machines):
    more = ("--split-last-axis",) if machines > 1 else ()
    return lambda count, arguments: mpi.run(launcher(name, count, machines=machines), *arguments, *more)


def torchrun_command():
    return shutil.which(os.environ.get("COLROW_TORCHRUN", "torchrun"))


def has_mpi(name):
    return has_plugin(name) and shutil.which(f"mpirun.{name}")


def has_slurm():
    return all(map(shutil.which, ("srun", "slurmctld", "slurmd", "munged")))


def has_plugin(name):
    return (pathlib.Path(colrow.tool("tp-run")).parent.parent / "lib" / "colrow" / f"libcolrow-mpi-{name}.so").exists()


def has_two_machines():
    return subprocess.run(["timeout", "-k", "1", "20", mpi.TWO_MACHINES, "true"], stdin=subprocess.DEVNULL,
                          capture_output=True).returncode == 0


@dataclasses.dataclass
class Way:
    by: str                  # the launcher
    start: object            # (processes, arguments of tp-run) -> CompletedProcess
    missing: str = ""        # what this machine has not
    ranks: int = 1           # of a process
    tps: tuple = (2, 4)

    @property
    def name(self):
        return self.by + (", mixed" if self.ranks > 1 else "")


def ways():
    """Each launcher on one machine and, over MPI, on two; mixed: two processes of two ranks."""
    found = [Way("tp-run", own), Way("hand", variables),
             Way("torchrun", torchrun, "" if torchrun_command() else "torchrun in PATH or COLROW_TORCHRUN")]
    two = "" if has_two_machines() else "network namespaces"
    for name in ("openmpi", "mpich"):
        missing = "" if has_mpi(name) else f"mpirun.{name} or plug-in for it"
        found.append(Way(name, by_mpi(mpi.launcher, name, 1), missing))
        found.append(Way(f"{name}-two", by_mpi(mpi.launcher, name, 2), missing or two))
    no_slurm = two or ("" if has_slurm() else "srun, slurmctld, slurmd and munged")
    found.append(Way("srun-none", by_mpi(mpi.srun, "none", 1), no_slurm))
    for kind, name in (("pmix", "openmpi"), ("pmi2", "mpich")):
        missing = no_slurm or ("" if has_plugin(name) else f"plug-in for {name}")
        found.append(Way(f"srun-{kind}", by_mpi(mpi.srun, kind, 1), missing))
        found.append(Way(f"srun-{kind}-two", by_mpi(mpi.srun, kind, 2), missing))
    return found + [dataclasses.replace(way, ranks=2, tps=(4,)) for way in found]


class Training:
    """A case at one tp, compiled, and what threads leave of it."""

    def __init__(self, case, tp, dtype, work):
        self.case, self.tp, self.work = case, tp, colrow.workspace(work)
        self.want = json.loads((here / case / "expected.json").read_text())
        self.plan = self.work / "step.plan"
        options = [f"--{name.replace('_', '-')}={self.want[name]}"
                   for name in ("batch", "seq", "beta1", "beta2", "eps", "weight_decay", "clip_grad_norm")]
        colrow.compile_split(here / case, self.plan, tp, *options, "--outputs", "gradients,logits", "--dtype", dtype)
        self.wanted = self.leaves(lambda count, arguments: colrow.run("tp-run", *arguments, timeout=60), 1)

    def leaves(self, start, count):
        """The bytes of what a run leaves; a text when it fails."""
        folder = colrow.workspace(self.work / "run")
        done = start(count, ["train", self.plan, "--weights", here / self.case, "--data",
                             here / self.case / "batch.safetensors", "--steps", self.want["steps"], "--lr", self.want["lr"],
                             "--dump-outputs", folder / "outputs.safetensors", "--save", folder / "saved",
                             "--report", folder / "report.json"])
        if done.returncode:
            return f"exit code {done.returncode}: {done.stderr[-2000:]}"
        report = json.loads((folder / "report.json").read_text())
        (folder / "losses").write_text(repr([(step["loss"], step["grad_norm"]) for step in report["steps"]]))
        return [(folder / file).read_bytes() for file in FILES]

    def differs(self, way):
        """What of it is not that of threads."""
        found = self.leaves(way.start, self.tp // way.ranks)
        if isinstance(found, str):
            return found
        return ", ".join(file for file, one, other in zip(FILES, found, self.wanted) if one != other)


def chosen(known, arguments):
    """(case, tp) -> the ways to run. Each way at each tp runs one case, the next way the next one."""
    result = {(case, tp): [] for tp in arguments.tp for case in arguments.cases if tp in CASES[case]}
    for tp in arguments.tp:
        cases = [case for case in arguments.cases if tp in CASES[case]]
        for i, way in enumerate(way for way in known if tp in way.tps):
            for case in cases if arguments.all else cases[i % max(len(cases), 1):][:1]:
                if way.by in arguments.by and not way.missing:
                    result[case, tp].append(way)
    return {key: those for key, those in result.items() if those}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=[*CASES])
    parser.add_argument("--tp", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--by", nargs="+", choices=LAUNCHERS)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--all", action="store_true", help="every case in every way")
    parser.add_argument("--bin", help="folder of the tools (default: $COLROW_BIN, else PATH)")
    arguments = parser.parse_args()
    arguments.named, arguments.by = arguments.by, arguments.by or LAUNCHERS
    if arguments.bin:
        os.environ["COLROW_BIN"] = arguments.bin
    return arguments


def main():
    arguments, failed = parse(), 0
    known = ways()
    for way in known:
        if way.by in arguments.by and way.missing:
            colrow.check(not arguments.named, f"{way.name}: no {way.missing}")
            print(f"left out: {way.name}: no {way.missing}")
    with tempfile.TemporaryDirectory() as work:
        for (case, tp), those in chosen(known, arguments).items():
            training = Training(case, tp, arguments.dtype, pathlib.Path(work) / "case")
            colrow.check(not isinstance(training.wanted, str), f"{case}, tp={tp}: {training.wanted}")
            for way in those:
                begin = time.monotonic()
                differs = training.differs(way)
                failed += bool(differs)
                print(f"{case:<10} tp={tp} {arguments.dtype:<5} {way.name:<28} {time.monotonic() - begin:5.1f} s  "
                      f"{'DIFFERS: ' + differs if differs else 'equal'}", flush=True)
    sys.exit(f"{failed} runs are not those of threads" if failed else 0)


if __name__ == "__main__":
    main()
