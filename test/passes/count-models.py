# RUN: %python %s %t
"""What tp-shard predicts of a step, tp-count finds in the partitioned step, pass by pass: each work item
as often, and flops, bytes sent, bytes saved, collectives and picoseconds, as integers, for every model and
number of ranks, padded dimensions included, on several machines, in float32 and in bf16."""
import os
import re
import sys

import colrow

CASES = os.path.join(os.path.dirname(__file__), "..", "cases")
PASSES = ("tp-insert-conjugates", "tp-differentiate", "tp-optimize", "tp-partition", "tp-count")
work = colrow.workspace(sys.argv[1])


def numbers(text, name):
    """The totals and the items of tp.NAME."""
    found = re.search(rf"tp\.{name} = {{([^}}]*)work = {{([^}}]*)}}", text)
    colrow.check(found, f"no tp.{name} in the output")
    return (dict(re.findall(r"(\w+) = (\d+) : i64", found[1])), dict(re.findall(r'"([^"]+)" = (\d+) : i64', found[2])))


TOPOLOGIES = {"default": "", "node8": " topology=" + os.path.join(CASES, "..", "topologies", "node8.yaml"),
              "flat": " topology=" + os.path.join(CASES, "..", "topologies", "flat.yaml")}
TOPOLOGIES["flat in bf16"] = TOPOLOGIES["flat"]
for case, meshes in {"gpt2": (1, 2, 4), "gpt2-odd": (1, 2, 4), "llama": (1, 2, 4),
                     "llama-gqa": (1, 2)}.items():
    graph = work / f"{case}.mlir"
    colrow.succeed("tp-import", os.path.join(CASES, case), "--batch", 2, "--seq", 16, "-o", graph)
    times = set()
    for machine, topology in TOPOLOGIES.items():
        whole = None
        for ranks in meshes:
            step = work / "step.mlir"
            narrow = ["--tp-mixed-precision"] if "bf16" in machine else []
            text = colrow.succeed("tp-opt", graph, *narrow, f"--tp-shard=mesh=tp={ranks}{topology}").stdout
            for name in PASSES:
                step.write_text(text)
                text = colrow.succeed("tp-opt", step, f"--{name}").stdout
            (predicted, items), (counted, found) = numbers(text, "predicted"), numbers(text, "counted")
            what = f"{case} on {ranks}, {machine}"
            colrow.check(predicted == counted and len(counted) == 5,
                         f"{what}: predicted {predicted}, counted {counted}")
            colrow.check(items == found and len(found) > 20, f"{what}: predicted {items}, counted {found}")
            whole = whole or counted
            times.add(counted["picoseconds"])
            colrow.check(any("all_reduce" in item for item in found) == (int(counted["bytes"]) > 0),
                         f"{what}: {counted}, {found}")
            if machine.startswith("flat"):
                colrow.check((int(counted["bytes"]) > 0) == (ranks > 1), f"{what}: {counted}")
                colrow.check(ranks == 1 or int(counted["flops"]) < int(whole["flops"]),
                             f"{what} does not less work than one rank: {counted}, {whole}")
            print(what, counted)
    colrow.check(len(times) >= len(TOPOLOGIES), f"{case}: machines that differ take the same time")
