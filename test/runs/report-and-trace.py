# RUN: %python %s %t
"""report.json and the trace hold what scripts rely on; memory shrinks with the ranks."""
import json
import sys

import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
data = colrow.random_tokens(work / "tokens.bin", 1000, 64)
memory = {}
for tp in (1, 2):
    plan = colrow.compile_plan(model, work / f"{tp}.plan", tp, 2, 16)
    report = colrow.train(plan, "--seed", 1, "--data", data, "--steps", 3, "--lr", 1e-3,
                          "--trace", work / f"{tp}.json")
    colrow.check(len(report["steps"]) == 3, "not one entry a step")
    for step in report["steps"]:
        colrow.check(all(step[k] > 0 for k in ("loss", "grad_norm", "seconds", "tokens_per_second")),
                     f"not positive: {step}")
        rate = 2 * 16 / step["seconds"]
        colrow.check(abs(step["tokens_per_second"] / rate - 1) < 0.01, f"tokens/s is not {rate}")
    memory[tp] = report["memory"]
    colrow.check(all(memory[tp][k] > 0 for k in ("parameters", "gradients", "optimizer", "activations",
                                                 "arena")), f"not positive: {memory[tp]}")
    colrow.check(bool(report["collectives"]) == (tp > 1), f"tp={tp}: {report['collectives']}")
    trace = json.loads((work / f"{tp}.json").read_text())
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    tracks = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}
    colrow.check(len(tracks) == tp, f"{len(tracks)} tracks, wanted one a rank: {tp}")
colrow.succeed("tp-run", "train", work / "1.plan", "--seed", 1, "--steps", 0, "--save", work / "saved")
saved = colrow.load_safetensors(work / "saved" / "model.safetensors")
weights = 4 * sum(tensor.size for tensor in saved.values())
colrow.check(memory[1]["parameters"] == weights, f"{memory[1]['parameters']} bytes, wanted {weights}")
colrow.check(memory[1]["optimizer"] == 2 * weights, "AdamW keeps two values a parameter")
colrow.check(memory[2]["parameters"] < 0.6 * weights, "tp=2 does not halve the parameters")
