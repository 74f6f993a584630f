# RUN: %python %s %t
"""A module with a training function and functions that only evaluate it, of the training's shape and of
another: one plan of several programs on the same parameters. Each program's loss is the independent one,
before training and with the weights that training saved, on 1 and 2 ranks; where the graphs are equal it
is the training step's. The plan comes back from its IR to the byte."""
import re
import sys

import numpy as np

import colrow
import reference

work = colrow.workspace(sys.argv[1])
TRAIN, OTHER, STEPS, LR = (4, 16), (3, 10), 3, 1e-2
# The vocabulary divides by no mesh.
FAMILIES = {
    "gpt2": ({**colrow.GPT2, "n_embd": 24, "vocab_size": 51}, dict(embd_pdrop=0.1, attn_pdrop=0.2, resid_pdrop=0.3)),
    "llama": ({**colrow.LLAMA, "hidden_size": 24, "vocab_size": 51, "num_key_value_heads": 2},
              dict(attention_dropout=0.2))}


def imported(config, name, shape):
    folder = colrow.write_config(work / name, config)
    graph = work / f"{name}-{shape[0]}-{shape[1]}.mlir"
    colrow.succeed("tp-import", folder, "--batch", shape[0], "--seq", shape[1], "-o", graph)
    return graph.read_text()


def evaluation(text, name):
    """The function of an imported graph, forward only."""
    function = re.search(r"^  func\.func @main.*?^  }\n", text, re.M | re.S)[0]
    head, body = function.split(" {\n", 1)
    return head.replace("@main", f"@{name}") + " attributes {tp.forward} {\n" + body


def batch(shape, seed):
    random = np.random.default_rng(seed)
    ids, labels = (random.integers(0, 51, shape, dtype=np.int32) for _ in range(2))
    labels[1, 3:6] = -100
    return {"input_ids": ids, "labels": labels}


def wanted(config, folder, data):
    weights = {n: w.astype(np.float64) for n, w in colrow.load_safetensors(folder / "model.safetensors").items()}
    loss, logits, _ = reference.forward_backward(config, weights, data["input_ids"], data["labels"])
    return loss, logits


EXACT, NEAR = (2e-6, 1e-5), (2e-3, 5e-2)  # of losses and logits, relative


def compare(plan, program, config, folder, data, bounds=EXACT):
    """Runs an evaluation, checks it and returns its loss."""
    inputs, outputs = work / "in.safetensors", work / "out.safetensors"
    colrow.save_safetensors(inputs, data)
    colrow.succeed("tp-run", "function", plan, "--program", program, "--weights", folder, "--accept-changes",
                   "--inputs", inputs, "--outputs", outputs)
    found, (loss, logits) = colrow.load_safetensors(outputs), wanted(config, folder, data)
    colrow.check(sorted(found) == ["logits", "loss"], f"{program} leaves {sorted(found)}")
    error = abs(found["loss"] - loss) / loss
    colrow.check(error <= bounds[0], f"{plan.name}: the loss of {program} is {found['loss']}, wanted {loss}")
    worst = np.abs(found["logits"] - logits).max() / np.abs(logits).max()
    colrow.check(worst <= bounds[1], f"{plan.name}: the logits of {program} differ by {worst}")
    return float(found["loss"])


for family, (config, dropout) in FAMILIES.items():
    dry = imported(config, f"{family}-dry", TRAIN)
    wet = imported({**config, **dropout}, f"{family}-wet", TRAIN)
    others = evaluation(dry, "same") + evaluation(imported(config, f"{family}-dry", OTHER), "other")
    start = colrow.write_config(work / f"{family}-start", config)
    colrow.save_safetensors(start / "model.safetensors",
                            {n: w.astype(np.float32) for n, w in reference.initial_weights(config, 5).items()})
    same, other = batch(TRAIN, 1), batch(OTHER, 2)
    data = work / "data.safetensors"
    colrow.save_safetensors(data, {n: np.stack([t] * STEPS) for n, t in same.items()})
    for tp in (1, 2):
        for kind, text in (("dry", dry), ("wet", wet), *([("bf16", dry)] if tp == 2 else [])):
            # Whatever stands first, what is trained decides.
            graph, plan, saved = (work / f"{family}-{kind}-{tp}{end}" for end in (".mlir", ".plan", "-saved"))
            graph.write_text(text.replace("  func.func @main", others + "  func.func @main"))
            dtype, bounds = ("bf16", NEAR) if kind == "bf16" else ("f32", EXACT)
            colrow.compile_split(graph, plan, tp, "--dtype", dtype)
            report = colrow.train(plan, "--weights", start, "--data", data, "--steps", STEPS, "--lr", LR,
                                  "--save", saved, "--accept-changes")
            losses = [compare(plan, name, config, folder, batch, bounds) for folder in (start, saved)
                      for name, batch in (("same", same), ("other", other))]
            colrow.check(losses[2] < 0.9 * losses[0], f"{plan.name}: trained in vain: {losses}")
            first = colrow.losses(report)[0]
            if kind != "wet":
                colrow.check(abs(first - losses[0]) <= 1e-6 * first,
                             f"{plan.name}: {first} in training, {losses[0]} in evaluation")
            else:
                colrow.check(abs(first - losses[0]) > 1e-3 * first, f"{plan.name}: dropout 0.2 changes nothing")
            ir, again = work / "plan.mlir", work / "again.plan"
            colrow.succeed("tp-translate", "--plan-to-mlir", plan, "-o", ir)
            colrow.succeed("tp-translate", "--mlir-to-plan", ir, "-o", again)
            colrow.check(plan.read_bytes() == again.read_bytes(), f"{plan.name}: another file from its IR")
            colrow.check(re.findall(r'plan\.program "(\w+)"', ir.read_text()) == ["train", "same", "other"],
                         f"{plan.name}: other programs")

# Which program, where there are several.
colrow.refuse("tp-run", "function", plan, "--weights", start, "--outputs", work / "none.safetensors",
              says=("has 3 programs: train, same, other", "--program"), leaves=[work / "none.safetensors"])
colrow.refuse("tp-run", "function", plan, "--program", "another", "--weights", start, "--outputs",
              work / "none.safetensors", says=("has no program another; programs: train, same, other",))

# A module that is only evaluated: no gradients, no optimizer, nothing to train.
graph, plan = work / "alone.mlir", work / "alone.plan"
graph.write_text(dry.replace(re.search(r"^  func\.func @main.*?^  }\n", dry, re.M | re.S)[0], others))
colrow.compile_split(graph, plan, 2)
compare(plan, "same", config, start, same)
compare(plan, "other", config, start, other)
colrow.compile_split(graph, plan, 2, "--dtype", "bf16")
compare(plan, "same", config, start, same, NEAR)
colrow.refuse("tp-run", "train", plan, "--weights", start, "--data", data, "--steps", 1, says=("has no program train",))
for name, text, *says in (
        ("two", dry.replace("  func.func @main", others.replace(" attributes {tp.forward}", "") + "  func.func @main"),
         "'same' and 'other' are both trained", "tp.forward"),
        ("private", dry.replace("func.func @main", "func.func private @main"), "'main' is private"),
        ("named", dry.replace("  func.func @main", evaluation(dry, "train") + "  func.func @main"),
         "forward only, but called 'train'")):
    graph.write_text(text)
    colrow.refuse("tp-compile", graph, "--mesh", "tp=2", "-o", work / f"{name}.plan", says=says,
                  leaves=[work / f"{name}.plan"])
