# RUN: %python %s %t
"""Models and meshes that cannot work are refused in one line that says what was found and what would
do, with exit code 1 and no output file."""
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
plan = work / "step.plan"


def refused(model, says, tp=2, batch=2, seq=8, more=()):
    colrow.refuse("tp-compile", model, "--mesh", f"tp={tp}", "--batch", batch, "--seq", seq, *more,
                  "-o", plan, says=says, leaves=(plan,))


# Numbers that cannot work: which one, and what would.
refused(colrow.gpt2_config(work / "heads", n_head=5), ("5", "32"))
refused(colrow.gpt2_config(work / "ranks"), ("64", "4"), tp=64)
refused(colrow.llama_config(work / "kv", num_key_value_heads=2), ("2", "4"), tp=4)
refused(colrow.llama_config(work / "groups", num_key_value_heads=3), ("3", "4"))
refused(colrow.gpt2_config(work / "positions"), ("32", "64"), seq=64)
good = colrow.gpt2_config(work / "good")
colrow.refuse("tp-compile", good, "--mesh", "tp=0", "--batch", 2, "--seq", 8, "-o", plan,
              says=("tp", "0", "1"), leaves=(plan,))
refused(good, ("no.such.parameter",), more=("--pin", "no.such.parameter=0:tp"))
refused(good, ("no-such-file",), more=("--topology", work / "no-such-file.yaml"))

# Unknown or unsupported: by name, with what is known.
refused(colrow.gpt2_config(work / "type", model_type="gpt5"), ("gpt5", "gpt2", "llama"))
refused(colrow.gpt2_config(work / "activation", activation_function="mish"), ("activation_function", "mish"))
refused(colrow.llama_config(work / "act", hidden_act="mish"), ("hidden_act", "mish"))
refused(colrow.llama_config(work / "rope", rope_scaling={"rope_type": "yarn", "factor": 4.0}), ("yarn",))
refused(colrow.gpt2_config(work / "cross", add_cross_attention=True), ("add_cross_attention",))

# Folders and files that are not what they say.
(work / "empty").mkdir()
refused(work / "empty", ("config.json",))
refused(work / "nowhere", ("nowhere",))
(work / "text").mkdir()
(work / "text" / "config.json").write_text('{"model_type": "gpt2",')
refused(work / "text", ("config.json",))
colrow.gpt2_config(work / "field", n_embd="many")
refused(work / "field", ("n_embd",))

# Weights: a missing and a mis-shaped tensor, a file that ends early.
colrow.compile_plan(good, plan, 2, 2, 8)
colrow.succeed("tp-run", "train", plan, "--seed", 1, "--steps", 0, "--save", work / "saved")
weights = colrow.load_safetensors(work / "saved" / "model.safetensors")
name = "transformer.h.1.mlp.c_fc.weight"
plan.unlink()


def folder(title, tensors):
    model = colrow.gpt2_config(work / title)
    colrow.save_safetensors(model / "model.safetensors", tensors)
    return model


refused(folder("missing", {n: t for n, t in weights.items() if n != name}), (name,))
shaped = {**weights, name: np.zeros((32, 96), np.float32)}
refused(folder("shaped", shaped), (name, "96", "128"))
cut = folder("cut", weights)
file = cut / "model.safetensors"
file.write_bytes(file.read_bytes()[:-100])
refused(cut, ("model.safetensors",))
