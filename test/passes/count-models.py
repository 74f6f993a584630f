# RUN: %python %s %t
"""What tp-shard predicts of a step, tp-count finds in the partitioned step: flops, bytes sent and
bytes saved, as integers, for every model and number of ranks, padded dimensions included."""
import os
import re
import sys

import colrow

CASES = os.path.join(os.path.dirname(__file__), "..", "cases")
PASSES = ("tp-insert-conjugates", "tp-differentiate", "tp-optimize", "tp-partition", "tp-count")
work = colrow.workspace(sys.argv[1])


def numbers(text, name):
    found = re.search(rf"tp\.{name} = {{([^}}]*)}}", text)
    colrow.check(found, f"no tp.{name} in the output")
    return dict(re.findall(r"(\w+) = (\d+) : i64", found[1]))


for case, meshes in {"gpt2": (1, 2, 4), "gpt2-odd": (1, 2, 4), "llama": (1, 2, 4),
                     "llama-gqa": (1, 2)}.items():
    graph = work / f"{case}.mlir"
    colrow.succeed("tp-import", os.path.join(CASES, case), "--batch", 2, "--seq", 16, "-o", graph)
    whole = None
    for ranks in meshes:
        text = colrow.succeed("tp-opt", graph, f"--tp-shard=mesh=tp={ranks}",
                              *(f"--{name}" for name in PASSES)).stdout
        predicted, counted = numbers(text, "predicted"), numbers(text, "counted")
        colrow.check(predicted == counted and len(counted) == 3,
                     f"{case} on {ranks}: predicted {predicted}, counted {counted}")
        whole = whole or counted
        colrow.check((int(counted["bytes"]) > 0) == (ranks > 1), f"{case} on {ranks}: {counted}")
        colrow.check(ranks == 1 or int(counted["flops"]) < int(whole["flops"]),
                     f"{case} on {ranks} does not less work than one rank: {counted}, {whole}")
        print(case, ranks, counted)
