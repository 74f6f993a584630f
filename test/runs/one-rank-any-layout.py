# RUN: %python %s %t
"""On one rank a layout changes nothing: whatever is pinned, losses, norms, the clipped steps and the
dropout masks are equal to the bit."""
import sys

import colrow

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 33)
DROPOUT = dict(attn_pdrop=0.2, embd_pdrop=0.1, resid_pdrop=0.1)
gpt2 = colrow.gpt2_config(work / "gpt2", vocab_size=33, n_inner=50, **DROPOUT)
llama = colrow.llama_config(work / "llama", vocab_size=33, num_key_value_heads=2, attention_dropout=0.1)
PINS = {
    gpt2: ("transformer.wte.weight=0:tp", "transformer.wte.weight=1:tp",
           "transformer.h.1.mlp.c_fc.weight=0:tp",
           "transformer.h.1.attn.c_proj.weight=1:tp", "transformer.h.0.attn.c_attn.weight.v=0:tp"),
    llama: ("model.embed_tokens.weight=0:tp", "lm_head.weight=0:tp", "model.layers.1.mlp.down_proj.weight=1:tp",
            "model.layers.0.self_attn.q_proj.weight=0:tp"),
}


def run(model, pin=None):
    options = ("--clip-grad-norm", 0.5, *(("--pin", pin) if pin else ()))
    plan, saved = work / "a.plan", work / f"{model.name}-{pin}"
    colrow.succeed("tp-compile", model, "--mesh", "tp=1", "--batch", 2, "--seq", 16, *options, "-o", plan)
    report = colrow.train(plan, "--seed", 1, "--data", data, "--steps", 5, "--lr", 1e-2, "--save", saved)
    norms = [step["grad_norm"] for step in report["steps"]]
    weights = (saved / "model.safetensors").read_bytes()
    return colrow.losses(report), norms, weights


for model, pins in PINS.items():
    wanted = run(model)
    for pin in pins:
        found = run(model, pin)
        colrow.check(found == wanted, f"{pin}: losses and norms {found[:2]}, without the pin {wanted[:2]}")
