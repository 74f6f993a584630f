# RUN: %python %s %t
"""One process of a run is killed or stopped at a random moment, also while processes meet, share memory, save and
leave: all end soon, one line names the process, the checkpoint is whole, and going on from it gives the run
that was not disturbed, to the bit. COLROW_FAILURES=N: so many runs, at moments of a seed (COLROW_SEED)."""
import filecmp
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import colrow
import holding

work = colrow.workspace(sys.argv[1])
STEPS, LIMIT = 6, 0.8
data = colrow.random_tokens(work / "tokens.bin", 3000, 64)
model = colrow.gpt2_config(work / "model", attn_pdrop=0.1)
plans = {ranks: colrow.compile_plan(model, work / f"{ranks}.plan", ranks, 4, 8) for ranks in (2, 4)}
KILL, STOP = signal.SIGKILL, signal.SIGSTOP

# System calls of one moment each, and how often a process can be found there.
EVERYBODY = {"eventfd2": 3,       # before the processes meet
             "memfd_create": 2,   # before they share memory
             "recvmsg": 3,        # while they do
             "madvise": 4, "pwrite64": 40, "fsync": 4,
             "exit_group": 1}     # after they have said goodbye
FIRST = {"mkdirat": 5, "renameat2": 5, "symlinkat": 6, "renameat": 5, "unlinkat": 12, "pidfd_open": 3, "fsync": 20,
         "getdents64": 4}
# What tests of every build look at.
CHOSEN = [(2, 2, 1, "eventfd2", 1, KILL), (4, 4, 2, "recvmsg", 1, KILL), (2, 2, 0, "pidfd_open", 1, STOP),
          (4, 2, 1, "pwrite64", 3, KILL), (4, 2, 0, "renameat2", 2, STOP), (2, 2, 0, "renameat", 2, KILL),
          (4, 4, 0, "symlinkat", 4, STOP), (2, 2, 1, "fsync", 2, STOP), (4, 4, 3, "step", 4, KILL),
          (4, 2, 1, "step", 3, STOP), (2, 2, 0, "unlinkat", 4, KILL), (4, 4, 1, "exit_group", 1, KILL)]


def chance(dice):
    """Ranks, processes, the process, its moment, signal."""
    ranks, processes = dice.choice(((2, 2), (4, 4), (4, 2)))
    process = dice.randrange(processes)
    calls = dict(EVERYBODY, **(FIRST if process == 0 else {}), step=STEPS)
    call = dice.choice([*calls, "step", "pwrite64"])
    return ranks, processes, process, call, 1 + dice.randrange(calls[call]), dice.choice((KILL, STOP))


def command(ranks, *more):
    return [*map(str, (colrow.tool("tp-run"), "train", plans[ranks], "--data", data, "--steps", STEPS, *more))]


def start(ranks, processes, process, call, count, sent, folder, every):
    """A run, and when the signal was sent; nothing: the run ended before."""
    line = command(ranks, "--seed", 5, "--save", folder, "--save-every", every, "-n", processes, "--limit", LIMIT)
    options = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if call != "step":
        hit = threading.Event()

        def strike(number, calls, pid):
            if number != process or calls < count or hit.is_set():
                return True
            os.kill(pid, sent)
            hit.set()
            return False

        run = holding.Held(line, call, strike, **options)
        while not hit.wait(0.005) and run.poll() is None:
            pass
        return run, time.monotonic() if hit.is_set() else None
    run = subprocess.Popen(line, start_new_session=True, **options)
    for _ in range(count):
        run.stdout.readline()
    victim = [pid for pid, number in holding.members(run.pid).items() if number == process]
    for pid in victim:
        os.kill(pid, sent)
    return run, time.monotonic() if victim else None


def finish(run, begin, what):
    """Its exit code and message, and how long it took to end."""
    try:
        error = run.communicate(timeout=LIMIT + 5)[1]
    except subprocess.TimeoutExpired:
        sys.exit(f"FAILED: {what}: still there: {holding.members(run.pid)}")
    took = time.monotonic() - begin if begin else 0
    colrow.check(not holding.members(run.pid), f"{what}: left behind: {holding.members(run.pid)}")
    return run.returncode, error, took


def go_on(ranks, processes, folder, what):
    """Ends as the run that nobody disturbed."""
    saved = (folder / "current").exists()
    before = json.loads((folder / "current" / "state.json").read_text())["step"] if saved else 0
    begin = ("--resume", folder) if saved else ("--seed", 5)
    more = () if processes == 1 else ("-n", processes)
    done = subprocess.run(command(ranks, *begin, "--save", folder, *more), capture_output=True, text=True, timeout=60)
    colrow.check(done.returncode == 0, f"{what}: does not go on: {done.stderr}")
    for file in ("model.safetensors", "optimizer.safetensors"):
        colrow.check(filecmp.cmp(folder / file, work / f"whole{ranks}" / file, shallow=False), f"{what}: {file} differs")
    # What a run has left that never saved is nobody's; and a run that had saved all saves nothing more.
    saves = saved and before < STEPS
    left = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(".")) if saves else []
    colrow.check(not left, f"{what}: left in the folder: {left}")
    return saved


def attack(number, ranks, processes, process, call, count, sent, every):
    what = f"{number}: -n {processes} of {ranks} ranks, process {process}, {call} {count}, {sent.name}, save every {every}"
    folder = work / f"saved{number}"
    run, begin = start(ranks, processes, process, call, count, sent, folder, every)
    code, error, took = finish(run, begin, what)
    if call != "step":
        run.release()
    if not begin:
        colrow.check(code == 0 and not error, f"{what}: not reached; exit code {code}, {error}")
        return None
    share = ranks // processes
    names = [f"process {process}\\b"] + [f"rank {r}\\b" for r in range(process * share, (process + 1) * share)]
    colrow.check(code == 1 and error.count("\n") == 1 and any(re.search(name, error) for name in names),
                 f"{what}: exit code {code}, {error}")
    saved = go_on(ranks, 1 if number % 2 else processes, folder, what)
    print(f"{what}: {took:.2f} s, {'resumed' if saved else 'nothing saved'}: {error.strip()}")
    return took


for ranks in plans:
    colrow.succeed("tp-run", *command(ranks, "--seed", 5, "--save", work / f"whole{ranks}")[1:])
many = int(os.environ.get("COLROW_FAILURES", 0))
dice = random.Random(int(os.environ.get("COLROW_SEED", 1)))
moments = [chance(dice) for _ in range(many)] or CHOSEN
times = []
for number, moment in enumerate(moments):
    times.append(attack(number, *moment, dice.randrange(1, 6) if many else 1))
colrow.check(many or None not in times, "a moment was not reached")
reached = [took for took in times if took is not None]
print(f"{len(reached)} of {len(times)} moments reached; {max(reached):.2f} s at most")
