# RUN: %python %s %t
"""Small models against an implementation in numpy and double (test/harness/reference.py): loss, logits,
and the gradient of every parameter against differences of that loss. They cover what test/cases does not:
exact GELU, ReLU with biases that make signs differ, sequences of several attention tiles with a short last
one, query heads of one group on several ranks, and every mask of dropout, element by element."""
import json
import sys

import colrow
import numpy as np
import ranks
import reference

work = colrow.workspace(sys.argv[1])
BATCH, SEED = 2, (5 << 32) + 3
rng = np.random.default_rng(4)


def draw(name, shape):
    """Values of which every part of a model counts: no bias is zero, no norm's weight is one."""
    scale = 0.4 if len(shape) == 1 else 1.0 if "wte" in name or "embed" in name else 1.3 / np.sqrt(shape[-1])
    offset = 1.0 if len(shape) == 1 and name.endswith("weight") else 0.0
    return (offset + scale * rng.standard_normal(shape)).astype(np.float32)


def check(model, seq, meshes, directions=3):
    config = json.loads((model / "config.json").read_text())
    shapes = ranks.initial_weights(work, model, BATCH, seq)
    weights = {name: draw(name, tensor.shape) for name, tensor in shapes.items()}
    start = ranks.with_weights(model, weights)
    ids = rng.integers(0, config["vocab_size"], (BATCH, seq))
    labels = np.where(rng.random(ids.shape) < 0.1, -100, ids)
    data = work / f"{model.name}-data.safetensors"
    colrow.save_safetensors(data, {"input_ids": ids[None].astype(np.int64), "labels": labels[None].astype(np.int64)})
    inputs = (config, ids, labels)
    wanted_loss = reference.loss(weights, *inputs, seed=SEED)
    wanted_logits = reference.logits(weights, config, ids, seed=SEED)
    slopes = {}
    for name, tensor in weights.items():
        for _ in range(directions):
            direction = rng.standard_normal(tensor.shape)
            slopes.setdefault(name, []).append(
                (direction, reference.slope(weights, name, direction, 1e-6, *inputs, seed=SEED)))
    for tp in meshes:
        what = f"{model.name} tp={tp}"
        plan = colrow.compile_plan(model, work / f"{model.name}-{tp}.plan", tp, BATCH, seq,
                                   "--outputs", "gradients,logits")
        dump = work / f"{model.name}-{tp}.safetensors"
        report = colrow.train(plan, *start, "--seed", SEED, "--data", data, "--steps", 1, "--lr", 1e-3,
                              "--dump-outputs", dump)
        colrow.check(tp == 1 or report["collectives"], f"{what}: nothing is split, so nothing is tested")
        found = colrow.load_safetensors(dump)
        loss = colrow.losses(report)[0]
        colrow.check(abs(loss / wanted_loss - 1) <= 1e-5, f"{what}: loss {loss}, wanted {wanted_loss}")
        apart = ranks.apart(found["logits"], wanted_logits)
        colrow.check(apart <= 2e-5, f"{what}: logits are apart by {apart:.1e}")
        colrow.check(found.keys() == {"logits", *weights}, f"{what}: outputs {sorted(found)}")
        for name, pairs in slopes.items():
            gradient = found[name].astype(np.float64)
            size = np.sqrt((gradient ** 2).sum())
            for direction, wanted in pairs:
                error = abs((gradient * direction).sum() - wanted)
                colrow.check(error <= 2e-4 * size + 1e-8,
                             f"{what}: {name}: slope {(gradient * direction).sum()}, wanted {wanted}; "
                             f"the gradient's norm is {size}")
        print(f"{what}: loss {loss}, logits apart by {apart:.1e}")


DROPOUT = dict(embd_pdrop=0.1, attn_pdrop=0.3, resid_pdrop=0.2)
SMALL = dict(vocab_size=23, n_embd=12, n_head=3, n_inner=20, n_positions=210, layer_norm_epsilon=1e-3)
GROUPED = dict(vocab_size=23, hidden_size=24, intermediate_size=20, max_position_embeddings=210,
               rms_norm_eps=1e-2)
check(colrow.gpt2_config(work / "gelu", n_layer=1, activation_function="gelu", **SMALL), 200, (1, 2))
check(colrow.gpt2_config(work / "relu", n_layer=1, activation_function="relu", **SMALL), 7, (1, 2))
check(colrow.gpt2_config(work / "dropout", n_layer=2, activation_function="gelu", **DROPOUT, **SMALL), 70,
      (1, 2, 3))
check(colrow.llama_config(work / "one-group", num_hidden_layers=2, num_attention_heads=3, attention_dropout=0.3,
                          num_key_value_heads=1, **GROUPED), 70, (1, 2, 3))
check(colrow.llama_config(work / "groups", num_hidden_layers=1, num_attention_heads=6, attention_dropout=0.3,
                          num_key_value_heads=2, **GROUPED), 9, (1, 2))
