# RUN: %python %s %t
"""What tp-compile refuses or says because of sizes: a plan that no rank could address, more memory than
the machine has, a mesh that does nothing, a mesh that is none."""
import sys

import colrow

work = colrow.workspace(sys.argv[1])
plan = work / "step.plan"

# 41 TB of logits, several times.
large = colrow.gpt2_config(work / "large", vocab_size=50257, n_positions=1024)
for more in ((), ("--quiet",)):
    line = colrow.refuse("tp-compile", large, "--batch", 200000, "--seq", 1024, "-o", plan, *more,
                         says=("bytes a rank", "largest buffer", f"{200000 * 1024 * 50257 * 4} bytes", "tp.matmul", "batch"),
                         leaves=(plan,))

model = colrow.gpt2_config(work / "model")
for mesh in ("", "2", "tp", "tp=2,"):
    colrow.refuse("tp-compile", model, "--mesh", mesh, "--batch", 2, "--seq", 8, "-o", plan,
                  says=("NAME=SIZE", "tp=4"), leaves=(plan,))


def notes(tp, topology, *more):
    file = work / "machine.yaml"
    file.write_text(topology)
    done = colrow.succeed("tp-compile", model, "--mesh", f"tp={tp}", "--batch", 2, "--seq", 8, "-o", plan,
                          "--topology", file, *more)
    return [line for line in done.stdout.splitlines() if line.startswith("note:")]


flat = colrow.FLAT.read_text()
slow = flat.replace("latency_seconds: 0 ", "latency_seconds: 1 ")
small = flat.replace("memory_bytes: 16e9", "memory_bytes: 100000")
colrow.check(flat not in (slow, small), "the topology has another form")
colrow.check(notes(2, flat) == [], "a note without a reason")
colrow.check(notes(1, slow) == [], "one rank has nothing to split")
found = notes(2, slow)
colrow.check(len(found) == 1 and "nothing is split over tp=2" in found[0], f"{found}")
colrow.check(notes(2, slow, "--pin", "transformer.wte.weight=0:tp") == [], "a pinned table is split")
found = notes(2, small)
colrow.check(len(found) == 1 and "97.7 KiB" in found[0] and "'flat'" in found[0], f"{found}")
colrow.check(len(notes(2, slow.replace("memory_bytes: 16e9", "memory_bytes: 100000"))) == 2, "both notes")

# What a rank needs: parameters, state and arena together, and little more for their alignment.
colrow.compile_plan(model, plan, 2, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 100, 64)
memory = colrow.train(plan, "--seed", 1, "--data", data, "--steps", 1)["memory"]
least = memory["parameters"] + memory["optimizer"] + memory["arena"]
for has, fits in ((least - 1, False), (int(least * 1.02), True)):
    found = notes(2, flat.replace("memory_bytes: 16e9", f"memory_bytes: {has}"))
    colrow.check((found == []) == fits, f"{has} bytes for {memory}: {found}")
