# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SIGTERM to a process of a run while any file is made, at the start, in a save and behind the last step: what is short
is finished, nothing half-made is left, and a run that has done everything says that it has."""
import os
import signal
import subprocess
import sys

import colrow
import holding

GRAPH = """
tp.parameter @a : tensor<64x64xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @main() -> tensor<64x64xf32> {
  %a = tp.param @a : tensor<64x64xf32>
  %b = tp.add %a, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}
"""
work = colrow.workspace(sys.argv[1])
out = work / "out"
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 4, 8)
graph, function = work / "graph.mlir", work / "function.plan"
graph.write_text(GRAPH)
colrow.succeed("tp-compile", graph, "--function", "--mesh", "tp=2", "--topology", colrow.FLAT, "-o", function)
data = colrow.random_tokens(work / "tokens.bin", 3000, 64)


def interrupted(process, call, count, command):
    """Exit code and message of a run, and whether the process made its count-th call and was interrupted there."""
    hit = []

    def strike(number, calls, pid):
        # The call that a signal interrupts is made again.
        if number != process or hit or calls < count:
            return True
        hit.append(pid)
        os.kill(pid, signal.SIGTERM)
        return False

    run = holding.Held([colrow.tool("tp-run"), *map(str, command), "-n", "2", "--limit", "2"], call, strike,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    error = run.communicate(timeout=30)[1]
    run.release()
    return run.returncode, error, bool(hit)


def everywhere(process, call, *command):
    """The exit codes of runs that are interrupted in each of these calls of the process."""
    codes, is_hit = [], True
    while is_hit:
        colrow.workspace(out)
        code, error, is_hit = interrupted(process, call, len(codes) + 1, (*command, out / "last"))
        what = f"{command[0]}, process {process}, {call} {len(codes) + 1}"
        stopped = code == 1 and error.count("\n") == 1 and ": interrupted after step 1, which is saved" in error
        early = code == 1 and error.count("\n") == 1 and ", last at the start" in error
        colrow.check(is_hit and (stopped or early) or code == 0 and not error, f"{what}: exit code {code}, {error}")
        left = [path for path in out.rglob("*") if path.name.startswith(".") or ".tmp-" in path.name]
        colrow.check(not left, f"{what}: left {left}")
        codes.append(code)
    codes.pop()
    colrow.check(codes, f"process {process} makes no {call}")
    print(f"{command[0]}, process {process}, {call}: {codes}")
    return codes


train = ("train", plan, "--seed", 1, "--data", data, "--steps", 2, "--save", out / "saved", "--report", out / "report",
         "--trace")
for process, calls in ((0, ("symlinkat", "unlinkat", "fsync", "shutdown", "exit_group")), (1, ("fsync", "exit_group"))):
    for call in calls:
        everywhere(process, call, *train)
    codes = everywhere(process, "fsync", "function", function, "--seed", 1, "--outputs")
    colrow.check(not any(codes), f"a function, process {process}: {codes}")
