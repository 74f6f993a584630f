# RUN: %python %s %t
"""However one process of a run fails, all end with one message that names it; a signal to stop saves if all agree;
who is slow but gets on, or was suspended with all others, has not failed; no launcher's end leaves a process."""
import json
import os
import resource
import signal
import subprocess
import sys
import time

import colrow
import endings
import holding

runs = endings.Runs(sys.argv[1], limit=1)
work, LIMIT = runs.work, runs.limit


def step(folder):
    return json.loads((folder / "state.json").read_text())["step"]


def loads(folder):
    """Goes on from there for one step."""
    colrow.succeed("tp-run", *runs.command("--resume", folder, "--save", folder, steps=step(folder) + 1)[1:])


def left_alone(what, run, but=()):
    """Its processes end, although nobody has told them to."""
    deadline = time.monotonic() + 10
    while left := [pid for pid in holding.members(run.pid) if pid not in but]:
        colrow.check(time.monotonic() < deadline, f"{what}: left behind: {left}")
        time.sleep(0.01)


# Asked to stop: the launcher, either process, all of them.
for name, targets in (("launcher", (None,)), ("first", (0,)), ("other", (1,)), ("all", (None, 0, 1))):
    for sent in (signal.SIGTERM, signal.SIGINT)[:1 if name in ("first", "all") else 2]:
        folder = work / f"{name}-{sent.name}"
        run, pids = runs.start("--seed", 1, "--save", folder)
        for target in targets:
            os.kill(pids[target], sent)
        error = runs.ends(f"{sent.name} to {name}", run, ("interrupted after step", "which is saved"))
        colrow.check(f"step {step(folder)}," in error, f"{name}: not the step that is saved: {error}")
        loads(folder)

# The report cannot be written then, the trace can.
run, pids = runs.start("--seed", 1, "--save", work / "full", "--report", "/dev/full", "--trace", work / "trace.json")
os.kill(pids[None], signal.SIGTERM)
runs.ends("SIGTERM and a full disk", run, ("interrupted after step", "which is saved; /dev/full: cannot write"))
json.loads((work / "trace.json").read_text())

# They cannot agree: nothing is saved.
folder = work / "disagree"
run, pids = runs.start("--seed", 1, "--save", folder)
os.kill(pids[1], signal.SIGSTOP)
os.kill(pids[0], signal.SIGTERM)
runs.ends("SIGTERM while the other is stopped", run, ("process 1",))
colrow.check(not (folder / "current").exists(), "saved without the other process")

# Suspended as a whole, by Ctrl-Z, for longer than the limit.
run, pids = runs.start("--seed", 1, "--save", work / "suspended")
os.killpg(run.pid, signal.SIGSTOP)
time.sleep(1.5 * LIMIT)
os.killpg(run.pid, signal.SIGCONT)
time.sleep(0.3 * LIMIT)
os.kill(pids[None], signal.SIGTERM)
runs.ends("suspended and continued", run, ("interrupted after step",))

# The launcher: stopped it changes nothing, killed it takes all with it.
run = subprocess.Popen(runs.command("-n", 2, "--seed", 1, steps=5), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       start_new_session=True)
run.stdout.readline()
os.kill(run.pid, signal.SIGSTOP)
left_alone("launcher stopped", run, but=(run.pid,))
os.kill(run.pid, signal.SIGCONT)
runs.ends("launcher stopped", run, code=0)
run, pids = runs.start("--seed", 1)
os.kill(pids[None], signal.SIGKILL)
run.wait()
left_alone("launcher killed", run)
colrow.check(run.stderr.read().count("\n") <= 1, "launcher killed: more than one message")

# torchrun's agent goes: its processes are not left to each other.
environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(29000 + os.getpid() % 900), "WORLD_SIZE": "2",
               "TORCHELASTIC_RUN_ID": "1"}
agent = subprocess.Popen(["bash", "-c", 'RANK=0 "$@" & RANK=1 "$@" & wait', "bash", *runs.command("--seed", 1)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment)
agent.stdout.readline()
agent.kill()
agent.wait()
left_alone("torchrun killed", agent)
error = agent.stderr.read()
colrow.check(error.count("\n") == 1 and "launcher" in error, f"torchrun killed: {error}")

# Nobody reads what the first process prints.
for closed in (">&-", "| head -1"):
    line = f'"$@" {closed}'
    done = subprocess.run(["bash", "-c", line, "bash", *runs.command("-n", 2, "--seed", 1)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=30)
    colrow.check(done.stderr.count("\n") == 1 and "output" in done.stderr, f"{closed}: {done.stderr}")

# One process fails by itself.
for process in range(2):
    folder = work / f"full{process}"
    run, pids = runs.start("--seed", 1, "--save", folder, "--save-every", 2)
    while not (folder / "current").exists():
        time.sleep(0.001)
    resource.prlimit(pids[process], resource.RLIMIT_FSIZE, (2000, 2000))
    runs.ends(f"no room for process {process}", run, (*((f"process {process} of 2",) if process else ()), "File too large"))
    loads(folder)

cut = [work / f"{process}" / "tokens.bin" for process in range(2)]
for path in cut:
    path.parent.mkdir()
    path.write_bytes(runs.data.read_bytes())
both = [subprocess.Popen(runs.command("--seed", 1, data=cut[process]), env={**environment, "RANK": str(process)}, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE) for process in range(2)]
both[0].stdout.readline()
os.truncate(cut[1], 20)
errors = [run.communicate(timeout=30)[1] for run in both]
colrow.check([run.returncode for run in both] == [1, 1] and "".join(errors).count("\n") == 1
             and errors[0].startswith(f"tp-run: error: process 1 of 2: {cut[1]}"), f"data cut: {errors}")


# Slow, for longer than the limit in all, but it gets on: each delay is so short that a busy machine may add to it.
SLOW, DELAY = 1.5, 0.1
for name, call, more in (("slow-disk", "pwrite64", ("--seed", 1)), ("slow-files", "pread64", ("--resume", work / "slow-disk"))):
    delays = []

    def wait(process, count, pid):
        # The first ones are the loader's of shared libraries.
        if process == 1 and count > 20 and len(delays) < 20:
            delays.append(count)
            time.sleep(DELAY)
        return True

    folder = work / name
    run = holding.Held(runs.command("-n", 2, *more, "--save", folder, steps=2 if call == "pwrite64" else 3, limit=SLOW), call,
                       wait, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, error = run.communicate(timeout=60)
    run.release()
    colrow.check(run.returncode == 0 and not error and len(delays) == 20, f"{name}: {len(delays)} delays, {error}")
