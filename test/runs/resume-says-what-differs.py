# RUN: %python %s %t
"""Going on with a plan of another model or optimizer, from other data, or from files that hold more than
the plan has: what changes the mathematics is refused by name unless --accept-changes, the rest is said."""
import json
import shutil
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
B, S = 2, 8
data = colrow.random_tokens(work / "tokens.bin", 1000, 64)


def compiled(title, *more, make=colrow.gpt2_config, **config):
    return colrow.compile_plan(make(work / title, **config), work / f"{title}.plan", 1, B, S, *more)


def train(plan, *more, data=data):
    return colrow.succeed("tp-run", "train", plan, "--data", data, "--lr", 1e-3, *more).stderr


plan = compiled("gpt2", activation_function="gelu_new", transformers_version="4.1", n_inner=None)
out = work / "out"
train(plan, "--seed", 1, "--steps", 2, "--save", out)
before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}


def refused(plan, start, *says):
    colrow.refuse("tp-run", "train", plan, *start, "--data", data, "--steps", 4, "--save", work / "never",
                  says=("--accept-changes", *says), leaves=(work / "never",))
    if start[0] == "--resume":
        colrow.refuse("tp-run", "train", plan, *start, "--data", data, "--steps", 4, "--save", out, says=says)
    colrow.check({p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before, "a refused run wrote")


# The same shapes, another model.
for title, config, says in (("heads", {"n_head": 2}, ("n_head", "4", "2")),
                            ("activation", {"activation_function": "relu"}, ("activation_function", "gelu_new", "relu")),
                            ("eps", {"layer_norm_epsilon": 1e-3}, ("layer_norm_epsilon", "1e-05", "0.001")),
                            ("dropout", {"attn_pdrop": 0.5}, ("attn_pdrop", "0.5"))):
    other = compiled(title, **config)
    refused(other, ("--resume", out), *says)
    refused(other, ("--weights", out), *says)
    for start in ("--resume", "--weights"):
        said = train(other, start, out, "--steps", 4, "--save", work / f"{title}{start}", "--accept-changes")
        colrow.check(all(word in said for word in says), f"{title}: not said: {said}")
    saved = json.loads((work / f"{title}--resume" / "config.json").read_text())
    colrow.check(all(saved[key] == value for key, value in config.items()), f"{title}: the old config was saved")

# Other optimizer numbers: of a run that goes on, not of one that starts from its weights.
for option, value, old, name in (("--beta1", 0.5, "0.9", "beta1"), ("--beta2", 0.5, "0.999", "beta2"),
                                 ("--eps", 0.125, "1e-08", "eps"), ("--weight-decay", 0.5, "0.01", "weight_decay"),
                                 ("--clip-grad-norm", 0.5, "0", "clip_grad_norm")):
    other = compiled(f"gpt2{option}", option, value)
    refused(other, ("--resume", out), f"{name} is {old}", str(value))
    colrow.check(name in train(other, "--resume", out, "--steps", 4, "--accept-changes"), f"{name}: not said")
    colrow.check(train(other, "--weights", out, "--steps", 1) == "", f"{name}: --weights speaks of the optimizer")

# Bookkeeping does not count, nor do other spellings of one value.
same = compiled("same", activation_function="gelu_new", transformers_version="5.0", n_inner=None, torch_dtype="float16",
                _name_or_path="elsewhere", eos_token_id=3, layer_norm_epsilon=0.00001, initializer_range=0.5)
colrow.check(train(same, "--resume", out, "--steps", 4) == "", "bookkeeping is spoken of")
colrow.check(train(same, "--weights", out, "--steps", 1) == "", "bookkeeping is spoken of")

# Other data goes on at the same sample, and says so; the same data in another place is the same.
other = colrow.random_tokens(work / "other.bin", 1000, 64, seed=1)
said = train(plan, "--resume", out, "--steps", 4, data=other)
colrow.check(all(word in said for word in ("other.bin", "tokens.bin", "sample 4")), f"other data is not said: {said}")
shutil.copy(data, work / "moved.bin")
colrow.check(train(plan, "--resume", out, "--steps", 4, data=work / "moved.bin") == "", "moved data is other data")

# Tensors that the plan has no use for.
weights = colrow.load_safetensors(out / "model.safetensors")


def folder(title, **more):
    target = colrow.gpt2_config(work / title)
    colrow.save_safetensors(target / "model.safetensors", {**weights, **more})
    return target


extra = np.zeros((3, 2), np.float32)
said = train(plan, "--weights", folder("extra", adapter=extra, other=extra), "--steps", 1)
colrow.check(said.count("\n") == 1 and "adapter" in said and "other" in said, f"unused tensors are not said: {said}")
masks = {"transformer.h.0.attn.bias": extra, "transformer.h.1.attn.masked_bias": extra}
colrow.check(train(plan, "--weights", folder("masks", **masks), "--steps", 1) == "", "masks are spoken of")
for name in ("model.safetensors", "optimizer.safetensors"):
    grown = work / f"grown-{name}"
    shutil.copytree(out, grown, symlinks=True)
    tensors = colrow.load_safetensors(grown / "step-2" / name)
    colrow.save_safetensors(grown / "step-2" / name, {**tensors, "adapter\nof mine": extra})
    colrow.refuse("tp-run", "train", plan, "--resume", grown, "--data", data, "--steps", 4, says=(name, "adapter?of mine"))
llama = compiled("llama", make=colrow.llama_config)
train(llama, "--seed", 1, "--steps", 0, "--save", work / "rotary")
target = colrow.llama_config(work / "rotary-old")
colrow.save_safetensors(target / "model.safetensors", {
    **colrow.load_safetensors(work / "rotary" / "model.safetensors"), "model.layers.0.self_attn.rotary_emb.inv_freq": extra})
colrow.check(train(llama, "--weights", target, "--steps", 1) == "", "rotary frequencies are spoken of")
