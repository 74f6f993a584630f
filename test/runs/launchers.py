# RUN: %python %s %t
"""What a launcher's variables mean: several processes with one of them are one run, equal to the run of
threads to the bit; what cannot be one run is refused before anything is written; one process, or what
is left in the environment by something else, means nothing."""
import filecmp
import sys

import by_hand
import colrow

work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 400, 64)
saved = work / "saved"
run = ("train", plan, "--seed", 1, "--data", data, "--steps", 3)


def together(*environments, more=(), each=(), limit=10):
    """One process for each environment: their exit codes and messages."""
    return by_hand.together(environments, *run, *more, "--limit", limit, each=each)


def same(folder):
    for name in ("model.safetensors", "optimizer.safetensors"):
        colrow.check(filecmp.cmp(saved / name, folder / name, shallow=False), f"{folder}: {name} differs from the threads'")


colrow.succeed("tp-run", *run, "--save", saved)
port = by_hand.free_port(3)
torchrun = {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RUN_ID": "1"}
for name, environments, more in (
        ("by-hand", by_hand.environments(2, port), ()),
        ("torchrun", [{**by_hand.environment(r, 2, port), **torchrun} for r in range(2)], ()),
        ("rendezvous", by_hand.environments(2, 1), ("--rendezvous", f"127.0.0.1:{port + 2}")),
        ("chosen", [{**by_hand.environment(r, 2, port), "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"} for r in range(2)],
         ("--launcher", "env"))):
    codes, outs, errors = together(*environments, more=more + ("--save", work / name))
    colrow.check(codes == [0, 0] and not errors, f"{name}: exit codes {codes}: {errors}")
    colrow.check("step 3" in outs[0] and not outs[1], f"{name}: progress is shown by process 0 alone: {outs}")
    same(work / name)

# What does not fit together: one message, and nothing is written.
left = work / "left"
for what, environments, each, says in (
        ("three for two ranks", by_hand.environments(3, port), (), ("2 ranks", "3 processes")),
        ("other steps", by_hand.environments(2, port), ((), ("--lr", 1)), ("--lr", "process 1")),
        ("-n beside a launcher", by_hand.environments(2, port), (("-n", 4),) * 2, ("-n 4",)),
        ("a process that does not come", [by_hand.environment(0, 2, port)], (), ("process 1",)),
        ("a rank that there is not", [by_hand.environment(2, 2, port)], (), ("RANK=2",)),
        ("no number", [{**by_hand.environment(0, 2, port), "WORLD_SIZE": "many"}], (), ("WORLD_SIZE=many",)),
        ("nowhere to meet", [{"RANK": "0", "WORLD_SIZE": "2"}], (), ("MASTER_ADDR",)),
        ("beyond this machine without a token", [{**by_hand.environment(0, 2, port), "MASTER_ADDR": "0.0.0.0"}], (), ("COLROW_TOKEN",))):
    codes, _, errors = together(*environments, more=("--save", left), each=each, limit=2)
    colrow.check(all(code == 1 for code in codes), f"{what}: exit codes {codes}: {errors}")
    for word in says:
        colrow.check(word in errors, f"{what}: the message does not say {word!r}: {errors}")
    colrow.check(not left.exists(), f"{what}: left {left}")

# One process, whoever started it; variables of something else.
for environment in (by_hand.environment(0, 1, port), {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
                    {"PMI_RANK": "0", "PMI_SIZE": "1"}, {"WORLD_SIZE": "2"},
                    {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7"}):
    colrow.succeed("tp-run", *run, env=environment)

# A process is told who has started it, or starts others: its copies would have the same options.
for launcher in ("threads", "env"):
    done = colrow.run("tp-run", *run, "-n", 2, "--launcher", launcher, env=by_hand.environment(0, 1, port), timeout=30)
    colrow.check(done.returncode == 2 and done.stderr.count("\n") == 1 and f"--launcher {launcher}" in done.stderr,
                 f"-n 2 --launcher {launcher}: exit code {done.returncode}: {done.stderr}")
colrow.refuse("tp-run", *run, "-n", 2, env={"COLROW_PROCESS": "0", "COLROW_PROCESSES": "1"}, says=("-n 2", "COLROW_PROCESS"),
              timeout=30)
