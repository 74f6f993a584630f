# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A control plane that is 20 ms slower each way, that cuts messages into single bytes or that joins them, changes
nothing but time: losses, norms, outputs and checkpoints are those of threads, with a process for each rank and
with two ranks in each."""
import json
import sys

import by_hand
import colrow
import proxy

FILES = ("outputs.safetensors", "saved/model.safetensors", "saved/optimizer.safetensors", "losses")
work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model", resid_pdrop=0.1), work / "step.plan", 4, 2, 8,
                           "--outputs", "gradients,logits")
data = colrow.random_tokens(work / "tokens.bin", 400, 64)


def train(folder):
    return ("train", plan, "--seed", 1, "--data", data, "--steps", 2, "--limit", 20,
            "--save", folder / "saved", "--dump-outputs", folder / "outputs.safetensors", "--report", folder / "report.json")


def left(folder):
    report = json.loads((folder / "report.json").read_text())
    (folder / "losses").write_text(repr([(step["loss"], step["grad_norm"]) for step in report["steps"]]))
    return [(folder / file).read_bytes() for file in FILES]


threads = colrow.workspace(work / "threads")
colrow.succeed("tp-run", *train(threads))
wanted = left(threads)
for way, size in (("delay", 4), ("cut", 4), ("join", 2)):
    port = by_hand.free_port(2)
    between = proxy.Proxy(("127.0.0.1", port + 1), ("127.0.0.1", port), way)
    folder = colrow.workspace(work / way)
    meet = [("--rendezvous", f"127.0.0.1:{port + (rank > 0)}") for rank in range(size)]
    codes, _, errors = by_hand.together(by_hand.environments(size, 1), *train(folder), each=meet)
    between.listener.close()
    colrow.check(codes == [0] * size and not errors, f"{way}: exit codes {codes}: {errors}")
    colrow.check(between.connections >= size - 1, f"{way}: only {between.connections} connections went through the proxy")
    for file, found, expected in zip(FILES, left(folder), wanted):
        colrow.check(found == expected, f"{way}: {file} is not that of threads")
