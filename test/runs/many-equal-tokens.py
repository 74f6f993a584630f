# RUN: %python %s %t
"""A million equal tokens: the gradients of biases, norms and embeddings, sums over all of them, are those
of two hundred equal tokens. (Weights' gradients are matrix products, and their rounding BLAS's.)"""
import sys

import colrow
import numpy as np
import ranks

work = colrow.workspace(sys.argv[1])
data = work / "tokens.bin"
np.full(1200000, 5, np.uint16).tofile(data)
SIZES = dict(vocab_size=16, n_positions=100)
gpt2 = colrow.gpt2_config(work / "gpt2", n_embd=8, n_head=2, n_layer=1, n_inner=12, tie_word_embeddings=False,
                            **SIZES)
llama = colrow.llama_config(work / "llama", vocab_size=16, hidden_size=8, intermediate_size=12,
                            num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2,
                            max_position_embeddings=100)


def gradients(model, tp, batch):
    stem = work / f"{model.name}-{tp}-{batch}"
    plan = colrow.compile_plan(model, f"{stem}.plan", tp, batch, 100, "--outputs", "gradients")
    colrow.train(plan, "--seed", 1, "--data", data, "--steps", 1, "--lr", 1e-3,
                 "--dump-outputs", f"{stem}.safetensors")
    return colrow.load_safetensors(f"{stem}.safetensors")


for model, tp in ((gpt2, 1), (gpt2, 2), (llama, 1)):
    wanted = gradients(model, 1, 2)
    sums = 0
    for name, found in gradients(model, tp, 10000).items():
        if found.ndim > 1 and not any(table in name for table in ("wte", "wpe", "embed")):
            continue
        apart = ranks.apart(found, wanted[name])
        colrow.check(apart <= 1e-5, f"{model.name} tp={tp}: {name} is off by {apart:.1e}")
        sums += 1
    colrow.check(sums >= 4, f"{model.name}: {sums} gradients that are sums over tokens")
