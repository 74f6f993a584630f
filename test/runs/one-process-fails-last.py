# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One process alone has an error where the others have nothing more to ask of each other, or are about to enter a
collective: its error is the message, out before any process may end, and nobody waits for the limit. What fails after a
failed training is told behind that. What several processes cannot write is refused before the run."""
import errno
import json
import os
import subprocess
import sys
import time

import by_hand
import calls
import colrow
import holding

PRODUCT = """
tp.parameter @a : tensor<64x64xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @b : tensor<64x64xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @main() -> tensor<f32> {
  %a = tp.param @a : tensor<64x64xf32>
  %b = tp.param @b : tensor<64x64xf32>
  %c = tp.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = tp.sum_leading %c : (tensor<64x64xf32>) -> tensor<64xf32>
  %e = tp.sum_leading %d : (tensor<64xf32>) -> tensor<f32>
  return %e : tensor<f32>
}
"""
work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 4, 8)
graph, product = work / "product.mlir", work / "product.plan"
graph.write_text(PRODUCT)
colrow.succeed("tp-compile", graph, "--function", "--mesh", "tp=2", "--topology", colrow.FLAT, "-o", product)
data = colrow.random_tokens(work / "tokens.bin", 3000, 64)
train = ("train", plan, "--seed", 1, "--data", data)
left = work / "left"

# Behind the last exchange.
colrow.refuse("tp-run", *train, "--steps", 2, "-n", 2, "--report", "/dev/full", says=("/dev/full", "No space left on device"))

# After training has failed: the report is one process' alone, the trace is all processes' and may be written or not.
trace = work / "trace.json"
nan = ("loss of step 2 is NaN: training stopped", "; /dev/full: cannot write: No space left on device")
for processes in (1, 2):
    options = (*train, "--lr", 1e30, "--steps", 50, "-n", processes, "--report", "/dev/full")
    colrow.refuse("tp-run", *options, "--trace", trace, says=nan, leaves=[work / "trace.json."])
    colrow.check(len(json.loads(trace.read_text())["traceEvents"]) > 4, "the trace was not written")
    trace.unlink()
    line = colrow.refuse("tp-run", *options, "--trace", "/dev/full", says=nan)
    colrow.check(line.count("/dev/full: cannot write") == 2, f"-n {processes}: does not tell of both files: {line}")

# A disk on which nothing can be renamed: the save's reason comes first, whatever follows it.
report, saved = work / "report.json", work / "saved"
command = [colrow.tool("tp-run"), *train, "--steps", 2, "-n", 2, "--save", saved, "--report", report, "--trace", trace]
done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                      preexec_fn=calls.failing("rename", errno.EIO))
places = [done.stderr.find(name) for name in ("/.saving-", f"; {report}: cannot rename", f"; {trace}: cannot rename")]
colrow.check(done.returncode == 1 and -1 < places[0] < places[1] < places[2] and done.stderr.count("\n") == 1, done.stderr)
colrow.check(not list(work.glob("*.json*")), f"left something: {os.listdir(work)}")

# Before the first one of a run without inputs.
for what, command in (("a function", ("function", product, "--seed", 1, "--outputs", left)),
                      ("no step", (*train, "--steps", 0, "--save", left))):
    environments = by_hand.environments(2, by_hand.free_port())
    environments[1]["COLROW_BLAS"] = "nowhere.so"
    begin = time.monotonic()
    codes, _, errors = by_hand.together(environments, *command, "--allow-mixed-cpus", "--limit", 20)
    colrow.check(codes == [1, 1] and errors.count("\n") == 1 and "process 1 of 2: " in errors and "nowhere.so" in errors,
                 f"{what}: exit codes {codes}: {errors}")
    colrow.check(time.monotonic() - begin < 15, f"{what}: waited for the limit")
    colrow.check(not left.exists(), f"{what}: left something")

# Told before process 0 lets the others go: a launcher may kill it once one of them has ended.
told, errors = [], work / "errors"


def look(process, count, pid):
    if process == 0:
        told.append(errors.read_text())
    return True


with errors.open("w") as file:
    run = holding.Held([colrow.tool("tp-run"), "train", str(plan), "--weights", str(left), "--data", str(data),
                        "--steps", "1", "-n", "2"],
                       "shutdown", look, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file)
run.wait(timeout=30)
run.release()
colrow.check(told and all(text.startswith("tp-run: error: ") for text in told), f"not told before leaving: {told}")
colrow.check(run.returncode == 1 and errors.read_text().count("\n") == 1, f"{run.returncode}, {errors.read_text()}")

# Files without places for bytes; a link to a device has them.
pipe, null = work / "pipe", work / "null"
os.mkfifo(pipe)
null.symlink_to("/dev/null")
for option in ("--trace", "--dump-outputs"):
    outputs = colrow.compile_plan(work / "model", work / "outputs.plan", 2, 4, 8, "--outputs", "gradients")
    command = ("tp-run", "train", outputs, *train[2:], "--steps", 1, "-n", 2, option)
    colrow.refuse(*command, pipe, says=(option, str(pipe), "pipe"), timeout=30)
    colrow.succeed(*command, null, timeout=30)
colrow.refuse("tp-run", "function", product, "--seed", 1, "-n", 2, "--outputs", pipe, says=("--outputs", "pipe"), timeout=30)
