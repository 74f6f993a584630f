# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of two processes that are ended by something, and what must hold then."""
import subprocess
import sys

import colrow
import holding

LONG = 100000  # steps


class Runs:
    def __init__(self, folder, limit):
        self.work = colrow.workspace(folder)
        self.plan = colrow.compile_plan(colrow.gpt2_config(self.work / "model"), self.work / "step.plan", 2, 4, 8)
        self.data = colrow.random_tokens(self.work / "tokens.bin", 3000, 64)
        self.limit = limit

    def command(self, *more, steps=LONG, data=None, limit=None):
        return [*map(str, (colrow.tool("tp-run"), "train", self.plan, "--data", data or self.data, "--steps", steps,
                           "--limit", limit or self.limit, *more))]

    def start(self, *more, **options):
        """A run that has done three steps, and its process ids by number (None: the launcher's)."""
        run = subprocess.Popen(self.command("-n", 2, *more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
        for _ in range(3):
            run.stdout.readline()
        return run, {number: pid for pid, number in holding.members(run.pid).items()}

    def ends(self, what, run, says=(), code=1):
        """Ends soon, with one line (none if it succeeds) that says all of `says`, and leaves no process."""
        try:
            error = run.communicate(timeout=self.limit + 5)[1]
        except subprocess.TimeoutExpired:
            sys.exit(f"FAILED: {what}: still there: {holding.members(run.pid)}")
        wanted = run.returncode == code and error.count("\n") == (1 if code else 0)
        colrow.check(wanted and all(word in error for word in says), f"{what}: exit code {run.returncode}, {error}")
        colrow.check(not holding.members(run.pid), f"{what}: left behind: {holding.members(run.pid)}")
        print(f"{what}: {error.strip()}")
        return error
