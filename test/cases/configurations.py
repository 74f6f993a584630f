#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains small models that no committed case covers and compares every figure with
test/harness/reference.py: fields of configs away from their defaults, sequences of several attention
tiles, dropout, norms near the clipping limit.

usage: configurations.py [NAME ...] [--tp N ...] [--dtype bf16] [--bin DIR]
                                                 NAME: the beginning of a name in ALL

The bounds are ten times what rounding does to these models: loss 2e-6 and norm 3e-5, relative;
gradients and the optimizer's moments 3e-5 and logits 1e-5 of the tensor's largest element; parameters a
hundredth of a learning rate. In bf16 they are those of check.py.
"""
import argparse
import dataclasses
import os
import pathlib
import sys
import tempfile

import numpy as np

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "harness"))
import check  # noqa: E402
import colrow  # noqa: E402
import reference  # noqa: E402

BOUNDS = check.Bounds(loss=2e-6, norm=3e-5, gradient=3e-5, logits=1e-5, parameter=1e-5, share=1, rates=0.01)
MOMENT = 3e-5


@dataclasses.dataclass
class Configuration:
    config: dict
    batch: int = 2
    seq: int = 12
    steps: int = 3
    clip: float = 0.7           # as a multiple of the first step's norm; 0: no clipping
    scale: dict = dataclasses.field(default_factory=dict)  # of first weights, by the end of their name
    tps: tuple = (1, 2, 4)


def gpt2(fields, **options):
    return Configuration({**colrow.GPT2, "n_embd": 24, "vocab_size": 50, **fields}, **options)


def llama(fields, **options):
    return Configuration({**colrow.LLAMA, "hidden_size": 24, "vocab_size": 50, **fields}, **options)


# A head and a last norm this small make every gradient small: norms of 1e-5, where the 1e-6 that
# clipping adds to the norm counts.
TINY = {"lm_head.weight": 1e-5, "model.norm.weight": 1e-5}
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=16)

ALL = {
    "gpt2-gelu": gpt2(dict(activation_function="gelu", layer_norm_epsilon=1e-3, n_inner=44)),
    "gpt2-relu": gpt2(dict(activation_function="relu", scale_attn_weights=False, vocab_size=51,
                           tie_word_embeddings=False), clip=0),
    "gpt2-silu": gpt2(dict(activation_function="silu", scale_attn_by_inverse_layer_idx=True, n_layer=3,
                           layer_norm_epsilon=1e-1), batch=3),
    # Three tiles of 64 query rows and one of 8.
    "gpt2-tiles": gpt2(dict(n_positions=210, n_layer=1, n_head=3), seq=200, steps=2, tps=(1, 2, 3)),
    "gpt2-dropout": gpt2(dict(embd_pdrop=0.1, attn_pdrop=0.2, resid_pdrop=0.3)),
    "gpt2-dropout-tiles": gpt2(dict(n_positions=80, attn_pdrop=0.3, n_head=3), seq=70, batch=3, steps=2,
                               tps=(1, 2, 3)),
    "gpt2-just-clipped": gpt2({}, clip=0.9998),
    "gpt2-just-unclipped": gpt2({}, clip=1.0002),
    "llama-biases": llama(dict(rms_norm_eps=1e-2, attention_bias=True, mlp_bias=True, hidden_act="gelu",
                               num_key_value_heads=2), tps=(1, 2)),
    "llama-one-group": llama(dict(num_key_value_heads=1, head_dim=10, tie_word_embeddings=True,
                                  rope_theta=500.0, hidden_act="relu", rms_norm_eps=1e-3), clip=0),
    "llama-linear": llama(dict(rope_scaling=dict(rope_type="linear", factor=3.0), intermediate_size=45,
                               hidden_act="gelu_new"), seq=30, batch=1),
    "llama-llama3": llama(dict(rope_scaling=LLAMA3, head_dim=16, max_position_embeddings=64), seq=40),
    "llama-tiles": llama(dict(num_attention_heads=6, num_key_value_heads=2, num_hidden_layers=1,
                              max_position_embeddings=256), seq=200, steps=2, tps=(1, 2)),
    "llama-dropout": llama(dict(attention_dropout=0.2, num_attention_heads=6, num_key_value_heads=2),
                           tps=(1, 2)),
    "llama-dropout-one-group": llama(dict(attention_dropout=0.3, num_attention_heads=3, num_key_value_heads=1,
                                          max_position_embeddings=80), seq=70, steps=2, tps=(1, 2, 3)),
    "llama-tiny": llama({}, scale=TINY, clip=0.1, steps=1),
}


def tokens(configuration, seed):
    """ids and labels [steps, batch, seq]; some labels count for nothing, in every row another number."""
    c, rng = configuration, np.random.default_rng(seed)
    ids = rng.integers(0, c.config["vocab_size"], (c.steps, c.batch, c.seq))
    labels = ids.copy()
    for row in range(c.batch):
        labels[:, row, :2 + row] = -100
    return ids, labels


def wanted(configuration, seed):
    """Expected settings and tensors as a case's files hold them, and the first weights."""
    c = configuration
    weights = reference.initial_weights(c.config, seed)
    for name in weights:
        weights[name] *= next((s for end, s in c.scale.items() if name.endswith(end)), 1.0)
    weights = {name: array.astype(np.float32) for name, array in weights.items()}
    ids, labels = tokens(c, seed)
    # Keys' biases have no gradient but rounding: this epsilon keeps it from becoming whole steps.
    want = dict(lr=1e-3, beta1=0.8, beta2=0.95, eps=1e-4, weight_decay=0.2, clip_grad_norm=0.0,
                batch=c.batch, seq=c.seq, steps=c.steps)
    if c.clip:
        first = reference.train(c.config, weights, ids[:1], labels[:1], want, seed)
        want["clip_grad_norm"] = c.clip * first["grad_norm"][0]
    found = reference.train(c.config, weights, ids, labels, want, seed)
    tensors = {"logits.0": found["logits"]}
    for prefix, key in (("grad", "gradients"), ("param", "weights"), ("exp_avg", "exp_avg"),
                        ("exp_avg_sq", "exp_avg_sq")):
        tensors |= {f"{prefix}.{name}": array for name, array in found[key].items()}
    return {**want, "loss": found["loss"], "grad_norm": found["grad_norm"]}, tensors, weights


def run(name, tps, work, dtype, seed=(5 << 32) + 7):
    """Prints the comparison at every tp; true when all bounds hold."""
    c = ALL[name]
    want, expected, weights = wanted(c, seed)
    model = colrow.write_config(work / "model", c.config)
    colrow.save_safetensors(model / "model.safetensors", weights)
    ids, labels = tokens(c, seed)
    colrow.save_safetensors(work / "batch.safetensors", {"input_ids": ids, "labels": labels})
    moments = {n: t for n, t in expected.items() if n.startswith("exp_avg")}
    good = True
    for tp in tps:
        print(f"{name}, tp={tp}, {dtype}")
        report, outputs, saved, state = check.train(model, work / "batch.safetensors", want, tp,
                                                    colrow.workspace(work / f"tp{tp}"), "--seed", seed,
                                                    dtype=dtype)
        table = check.compare(want, expected, report, outputs, saved, BOUNDS if dtype == "f32" else check.BF16)
        if dtype == "f32":
            check.compare_scaled(table, "moments", state, moments, MOMENT)
        good &= not table.failed
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[""])
    parser.add_argument("--tp", type=int, nargs="+", help="default: those of the configuration")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--bin", help="folder of the tools (default: $COLROW_BIN, else PATH)")
    arguments = parser.parse_args()
    if arguments.bin:
        os.environ["COLROW_BIN"] = arguments.bin
    names = [name for name in ALL if name.startswith(tuple(arguments.names))]
    if not names:
        sys.exit(f"configurations.py: no configuration begins with {arguments.names}; there are {[*ALL]}")
    failed = []
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            if not run(name, arguments.tp or ALL[name].tps, colrow.workspace(pathlib.Path(work) / name),
                       arguments.dtype):
                failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
