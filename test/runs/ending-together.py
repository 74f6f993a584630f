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
import holding

work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 4, 8)
data = colrow.random_tokens(work / "tokens.bin", 3000, 64)
LIMIT = 0.5
LONG = 100000  # steps


def command(*more, steps=LONG, data=data):
    return [*map(str, (colrow.tool("tp-run"), "train", plan, "--data", data, "--steps", steps, "--limit", LIMIT, *more))]


def start(*more, **options):
    """A run of two processes that has done three steps, and the process ids by number (None: the launcher's)."""
    run = subprocess.Popen(command("-n", 2, *more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
    for _ in range(3):
        run.stdout.readline()
    return run, {number: pid for pid, number in holding.members(run.pid).items()}


def ends(what, run, says=(), code=1):
    """Ends soon, with one line (none if it succeeds) that says all of `says`, and leaves no process."""
    try:
        error = run.communicate(timeout=LIMIT + 5)[1]
    except subprocess.TimeoutExpired:
        sys.exit(f"FAILED: {what}: still there: {holding.members(run.pid)}")
    wanted = run.returncode == code and error.count("\n") == (1 if code else 0)
    colrow.check(wanted and all(word in error for word in says), f"{what}: exit code {run.returncode}, {error}")
    colrow.check(not holding.members(run.pid), f"{what}: left behind: {holding.members(run.pid)}")
    print(f"{what}: {error.strip()}")
    return error


def step(folder):
    return json.loads((folder / "state.json").read_text())["step"]


def loads(folder):
    """Goes on from there for one step."""
    colrow.succeed("tp-run", *command("--resume", folder, "--save", folder, steps=step(folder) + 1)[1:])


# Asked to stop: the launcher, either process, all of them.
for name, targets in (("launcher", (None,)), ("first", (0,)), ("other", (1,)), ("all", (None, 0, 1))):
    for sent in (signal.SIGTERM, signal.SIGINT)[:1 if name in ("first", "all") else 2]:
        folder = work / f"{name}-{sent.name}"
        run, pids = start("--seed", 1, "--save", folder)
        for target in targets:
            os.kill(pids[target], sent)
        error = ends(f"{sent.name} to {name}", run, ("interrupted after step", "which is saved"))
        colrow.check(f"step {step(folder)}," in error, f"{name}: not the step that is saved: {error}")
        loads(folder)

# They cannot agree: nothing is saved.
folder = work / "disagree"
run, pids = start("--seed", 1, "--save", folder)
os.kill(pids[1], signal.SIGSTOP)
os.kill(pids[0], signal.SIGTERM)
ends("SIGTERM while the other is stopped", run, ("process 1",))
colrow.check(not (folder / "current").exists(), "saved without the other process")

# Suspended as a whole, by Ctrl-Z, for longer than the limit.
run, pids = start("--seed", 1, "--save", work / "suspended")
os.killpg(run.pid, signal.SIGSTOP)
time.sleep(2 * LIMIT)
os.killpg(run.pid, signal.SIGCONT)
time.sleep(LIMIT)
os.kill(pids[None], signal.SIGTERM)
ends("suspended and continued", run, ("interrupted after step",))

# The launcher: stopped it changes nothing, killed it takes all with it.
run = subprocess.Popen(command("-n", 2, "--seed", 1, steps=5), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       start_new_session=True)
run.stdout.readline()
os.kill(run.pid, signal.SIGSTOP)
while [number for number in holding.members(run.pid).values() if number is not None]:
    time.sleep(0.01)
os.kill(run.pid, signal.SIGCONT)
ends("launcher stopped", run, code=0)
run, pids = start("--seed", 1)
os.kill(pids[None], signal.SIGKILL)
run.wait()
deadline = time.monotonic() + 5
while left := holding.members(run.pid):
    colrow.check(time.monotonic() < deadline, f"launcher killed: left behind: {left}")
    time.sleep(0.01)
colrow.check(run.stderr.read().count("\n") <= 1, "launcher killed: more than one message")

# torchrun's agent goes: its processes are not left to each other.
environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(29000 + os.getpid() % 900), "WORLD_SIZE": "2",
               "TORCHELASTIC_RUN_ID": "1"}
agent = subprocess.Popen(["bash", "-c", 'RANK=0 "$@" & RANK=1 "$@" & wait', "bash", *command("--seed", 1)],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment)
agent.stdout.readline()
agent.kill()
agent.wait()
deadline = time.monotonic() + 5
while left := holding.members(agent.pid):
    colrow.check(time.monotonic() < deadline, f"torchrun killed: left behind: {left}")
    time.sleep(0.01)
error = agent.stderr.read()
colrow.check(error.count("\n") == 1 and "launcher" in error, f"torchrun killed: {error}")

# Nobody reads what the first process prints.
for closed in (">&-", "| head -1"):
    line = f'"$@" {closed}'
    done = subprocess.run(["bash", "-c", line, "bash", *command("-n", 2, "--seed", 1)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=30)
    colrow.check(done.stderr.count("\n") == 1 and "output" in done.stderr, f"{closed}: {done.stderr}")

# One process fails by itself.
run, pids = start("--seed", 1)
os.kill(pids[1], signal.SIGSEGV)
ends("a fault in a kernel", run, ("rank 1 (process 1)", "is gone"))

for process in range(2):
    folder = work / f"full{process}"
    run, pids = start("--seed", 1, "--save", folder, "--save-every", 2)
    while not (folder / "current").exists():
        time.sleep(0.001)
    resource.prlimit(pids[process], resource.RLIMIT_FSIZE, (2000, 2000))
    ends(f"no room for process {process}", run, (*((f"process {process} of 2",) if process else ()), "File too large"))
    loads(folder)


cut = [work / f"{process}" / "tokens.bin" for process in range(2)]
for path in cut:
    path.parent.mkdir()
    path.write_bytes(data.read_bytes())
runs = [subprocess.Popen(command("--seed", 1, data=cut[process]), env={**environment, "RANK": str(process)}, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE) for process in range(2)]
runs[0].stdout.readline()
os.truncate(cut[1], 20)
errors = [run.communicate(timeout=30)[1] for run in runs]
colrow.check([run.returncode for run in runs] == [1, 1] and "".join(errors).count("\n") == 1
             and errors[0].startswith(f"tp-run: error: process 1 of 2: {cut[1]}"), f"data cut: {errors}")


def limited(call, slack, what):
    """Process 1 may take no more than `slack` bytes of address space from its first `call` on."""
    def limit(process, count, pid):
        if process == 1 and count == 1:
            with open(f"/proc/{pid}/statm") as pages:
                size = int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + slack
            resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
        return True

    run = holding.Held(command("-n", 2, "--seed", 1, "--save", work / what, steps=3), call, limit, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ends(what, run, ("process 1",))
    run.release()


limited("memfd_create", 0, "no memory for ranks")
limited("eventfd2", 1 << 20, "no memory for threads")

# Slow, for longer than the limit in all, but it gets on.
for name, call, more in (("slow-disk", "pwrite64", ("--seed", 1)), ("slow-files", "pread64", ("--resume", work / "slow-disk"))):
    delays = []

    def wait(process, count, pid):
        # The first ones are the loader's of shared libraries.
        if process == 1 and count > 20 and len(delays) < 20:
            delays.append(count)
            time.sleep(0.15 * LIMIT)
        return True

    folder = work / name
    run = holding.Held(command("-n", 2, *more, "--save", folder, steps=2 if call == "pwrite64" else 3), call, wait,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, error = run.communicate(timeout=60)
    run.release()
    colrow.check(run.returncode == 0 and not error and len(delays) == 20, f"{name}: {len(delays)} delays, {error}")
