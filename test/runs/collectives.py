# RUN: %python %s %t %cases %topologies
"""What GPT-2 communicates at tp=2 is exactly Megatron's: 4 all-reduces of [b, s, h] a layer, 2 more for
the embedding and the head, three of b·s values for the loss, three numbers for the norm."""
import json
import pathlib
import sys

import colrow

work = colrow.workspace(sys.argv[1])
cases, topologies = map(pathlib.Path, sys.argv[2:4])
B, S, P = 2, 32, 2


def communication(layers):
    config = json.loads((cases / "gpt2" / "config.json").read_text())
    config["n_layer"] = layers
    model = work / f"layers{layers}"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(config))
    plan = colrow.compile_plan(model, work / f"{layers}.plan", P, B, S,
                               "--topology", topologies / "flat.yaml",
                               "--pin", "transformer.wte.weight=0:tp")
    trace = work / f"{layers}.trace.json"
    data = colrow.random_tokens(work / "tokens.bin", 1000, config["vocab_size"])
    report = colrow.train(plan, "--seed", 1, "--data", data, "--steps", 1, "--lr", 1e-3,
                          "--trace", trace)
    for total in report["collectives"]:
        print(layers, "layers:", total)
        colrow.check(total["kind"] == "all_reduce" and total["axis"] == "tp", "not an all-reduce over tp")
    return (sum(c["count"] for c in report["collectives"]),
            sum(c["bytes"] for c in report["collectives"]), config["n_embd"])


def share(elements):
    """Bytes that a rank sends to all-reduce this many float32 values."""
    return 2 * (P - 1) * elements * 4 // P


(count2, bytes2, h), (count3, bytes3, _) = communication(2), communication(3)
colrow.check(count2 == 4 * 2 + 2 + 3 + 1, f"{count2} collectives, wanted 14")
colrow.check(count3 - count2 == 4, f"{count3 - count2} collectives a layer, wanted 4")
colrow.check(bytes3 - bytes2 == 8 * B * S * h * (P - 1) // P * 4, f"{bytes3 - bytes2} bytes a layer")
wanted = share((4 * 2 + 2) * B * S * h + 3 * B * S + 3)
colrow.check(bytes2 == wanted, f"{bytes2} bytes a step, wanted {wanted}")
