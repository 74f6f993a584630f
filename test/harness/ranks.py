# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models for tests of several ranks: their weights, and how far arrays are apart."""
import numpy as np

import colrow


def apart(found, wanted):
    """Largest difference, in units of the largest wanted element."""
    scale = np.abs(wanted).max()
    return float(np.abs(found.astype(np.float64) - wanted).max() / (scale if scale else 1.0))


def initial_weights(work, model, batch=2, seq=8):
    """The model's weights for seed 1, by name, to change and save again."""
    plan = colrow.compile_plan(model, work / f"{model.name}-initial.plan", 1, batch, seq)
    folder = work / f"{model.name}-initial"
    colrow.succeed("tp-run", "train", plan, "--seed", 1, "--steps", 0, "--save", folder)
    return {n: t.copy() for n, t in colrow.load_safetensors(folder / "model.safetensors").items()}


def with_weights(model, weights):
    """Writes the weights into the model's folder and returns how tp-run starts from it."""
    colrow.save_safetensors(model / "model.safetensors", weights)
    return ("--weights", model)


def t0(folder, **changes):
    """The smallest GPT-2 of the fault tests: 2 layers, hidden 16, 4 heads, MLP 64, vocabulary 32."""
    return colrow.gpt2_config(folder, **{**dict(vocab_size=32, n_embd=16, n_head=4, n_positions=16),
                                         **changes})


def t0_llama(folder, **changes):
    return colrow.llama_config(folder, **{**dict(vocab_size=32, hidden_size=16, intermediate_size=64,
                                                 max_position_embeddings=16), **changes})
