# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of which one process is killed or stopped at a chosen moment, and what must hold then: all processes end soon,
none is left behind, the checkpoint is whole, and going on from it gives the run that nobody disturbed, to the bit."""
import filecmp
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import colrow
import holding

STEPS = 6
KILL, STOP = signal.SIGKILL, signal.SIGSTOP

# System calls of one moment each, and how often a process can be found there. A step is no call.
EVERYBODY = {"eventfd2": 3,       # before the processes meet
             "memfd_create": 2,   # before they share memory
             "recvmsg": 3,        # while they do
             "madvise": 4, "pwrite64": 40, "fsync": 4, "step": STEPS,
             "exit_group": 1}     # after they have said goodbye
FIRST = {"mkdirat": 5, "renameat2": 5, "symlinkat": 6, "renameat": 5, "unlinkat": 12, "pidfd_open": 3, "fsync": 20,
         "getdents64": 4}


class Failing:
    """`ended`: (exit code, error, process, its ranks) -> whether so a run may end. `limit`: seconds of --limit.
    `launcher`: processes -> words before tp-run's own; none: tp-run -n. `slow`: seconds that the launcher itself may
    take to end, beside its ranks."""

    def __init__(self, folder, ended, limit=0.8, launcher=None, slow=0, env=()):
        self.work, self.ended, self.launcher, self.slow = colrow.workspace(folder), ended, launcher, slow
        self.limit, self.env = limit, dict(env)
        self.data = colrow.random_tokens(self.work / "tokens.bin", 3000, 64)
        model = colrow.gpt2_config(self.work / "model", attn_pdrop=0.1)
        self.plans = {ranks: colrow.compile_plan(model, self.work / f"{ranks}.plan", ranks, 4, 8) for ranks in (2, 4)}
        for ranks in self.plans:
            whole = self.command(ranks, 1, "--seed", 5, "--save", self.work / f"whole{ranks}")
            colrow.succeed("tp-run", *whole[1:])

    def chance(self, dice):
        """Ranks, processes, the process, its moment and how often it was there before, signal."""
        ranks, processes = dice.choice(((2, 2), (4, 4), (4, 2)))
        process = dice.randrange(processes)
        calls = dict(EVERYBODY, **(FIRST if process == 0 else {}))
        call = dice.choice([*calls, "step", "pwrite64"])
        count = 1 + dice.randrange(calls[call])
        # What is stopped when all have said goodbye only its launcher can miss.
        is_end = call == "exit_group" or (call, count) == ("step", STEPS)
        return ranks, processes, process, call, count, KILL if is_end and self.launcher else dice.choice((KILL, STOP))

    def command(self, ranks, processes, *more):
        start, own = (), ()
        if processes > 1:
            start, own = (self.launcher(processes), ()) if self.launcher else ((), ("-n", processes))
        return [*map(str, (*start, colrow.tool("tp-run"), "train", self.plans[ranks], "--data", self.data,
                           "--steps", STEPS, *own, *more))]

    def start(self, ranks, processes, process, call, count, sent, folder, every):
        """A run, and when the signal was sent; nothing: the run ended before."""
        line = self.command(ranks, processes, "--seed", 5, "--save", folder, "--save-every", every,
                            "--limit", self.limit)
        options = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       env={**os.environ, **self.env})
        if call != "step":
            hit = threading.Event()

            def strike(number, calls, pid):
                if number != process or calls < count or hit.is_set():
                    return True
                hit.set()  # the run may have ended when the signal is sent
                os.kill(pid, sent)
                return False

            run = holding.Held(line, call, strike, **options)
            while not hit.wait(0.005) and run.poll() is None:
                pass
            return run, time.monotonic() if hit.is_set() else None
        run = subprocess.Popen(line, start_new_session=True, **options)
        for _ in range(count):
            run.stdout.readline()
        for pid, number in holding.members(run.pid).items():
            if number == process:
                try:
                    os.kill(pid, sent)
                except ProcessLookupError:
                    break
                return run, time.monotonic()
        return run, None

    def finish(self, run, begin, what):
        """Its exit code and message, and how long its ranks took to end."""
        while begin and any(number is not None for number in holding.members(run.pid).values()):
            if time.monotonic() > begin + self.limit + 5:
                sys.exit(f"FAILED: {what}: still there: {holding.members(run.pid)}")
            time.sleep(0.01)
        took = time.monotonic() - begin if begin else 0
        try:
            error = run.communicate(timeout=self.limit + 5 + self.slow)[1]
        except subprocess.TimeoutExpired:
            sys.exit(f"FAILED: {what}: still there: {holding.members(run.pid)}")
        colrow.check(not holding.members(run.pid), f"{what}: left behind: {holding.members(run.pid)}")
        return run.returncode, error, took

    def go_on(self, ranks, processes, folder, what):
        """Ends as the run that nobody disturbed. Returns the step that it went on from; nothing was saved: none."""
        saved = (folder / "current").exists()
        before = json.loads((folder / "current" / "state.json").read_text())["step"] if saved else None
        begin = ("--resume", folder) if saved else ("--seed", 5)
        done = subprocess.run(self.command(ranks, processes, *begin, "--save", folder), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, env={**os.environ, **self.env})
        colrow.check(done.returncode == 0, f"{what}: does not go on: {done.stderr}")
        for file in ("model.safetensors", "optimizer.safetensors"):
            colrow.check(filecmp.cmp(folder / file, self.work / f"whole{ranks}" / file, shallow=False),
                         f"{what}: {file} differs")
        # What a run has left that never saved is nobody's; and a run that had saved all saves nothing more.
        saves = saved and before < STEPS
        left = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith(".")) if saves else []
        colrow.check(not left, f"{what}: left in the folder: {left}")
        return before

    def attack(self, number, ranks, processes, process, call, count, sent, every):
        """How long the ranks took to end; the moment did not come: none."""
        what = (f"{number}: {processes} processes of {ranks} ranks, process {process}, {call} {count}, {sent.name}, "
                f"save every {every}")
        folder = self.work / f"saved{number}"
        run, begin = self.start(ranks, processes, process, call, count, sent, folder, every)
        code, error, took = self.finish(run, begin, what)
        if call != "step":
            run.release()
        if not begin:
            colrow.check(code == 0 and not error, f"{what}: not reached; exit code {code}, {error}")
            return None
        share = ranks // processes
        colrow.check(self.ended(code, error, process, range(process * share, (process + 1) * share)),
                     f"{what}: exit code {code}, {error}")
        before = self.go_on(ranks, 1 if number % 2 else processes, folder, what)
        said = [line for line in error.splitlines() if "tp-run: error" in line]
        begun = f"went on from step {before}" if before else "nothing saved"
        print(f"{what}: {took:.2f} s, {begun}: {said}", flush=True)
        return took

    def attack_all(self, chosen):
        """At the moments given, all of which must come; or COLROW_FAILURES of a seed, COLROW_SEED."""
        many = int(os.environ.get("COLROW_FAILURES", 0))
        dice = random.Random(int(os.environ.get("COLROW_SEED", 1)))
        moments = [self.chance(dice) for _ in range(many)] or chosen
        times = [self.attack(number, *moment, dice.randrange(1, 6) if many else 1)
                 for number, moment in enumerate(moments)]
        colrow.check(many or None not in times, "a moment was not reached")
        reached = [took for took in times if took is not None]
        print(f"{len(reached)} of {len(times)} moments reached; {max(reached):.2f} s at most")
