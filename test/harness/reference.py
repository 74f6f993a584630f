# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 and Llama forward in numpy and double, from the papers and from docs/kernels.md, dropout masks
included: what losses, logits and gradients are compared with.

Weights are a dictionary by the checkpoint's names, `config` that of config.json as a dictionary. Needs
numpy only.
"""
import functools
import math

import numpy as np

_ERF = np.vectorize(math.erf, otypes=[float])


def philox(seed, stream, step, index):
    """Word 0 of Philox4x32-10 (Salmon et al., 2011): key (seed low, high), counter (index low, high,
    stream, step)."""
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    index = np.asarray(index, np.uint64)
    counter = [index & mask, index >> shift, np.full_like(index, stream), np.full_like(index, step)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(second >> shift) ^ counter[1] ^ np.uint64(key[0]), second & mask,
                   (first >> shift) ^ counter[3] ^ np.uint64(key[1]), first & mask]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter[0]


@functools.cache
def uniform(seed, stream, step, count):
    """[0, 1): 24 bits of the words of elements 0 to count - 1."""
    return (philox(seed, stream, step, np.arange(count)) >> np.uint64(8)).astype(np.float64) * 2.0 ** -24


class Dropout:
    """Factors of the places where values are dropped, numbered from 1 in the order of the graph; the
    mask is a function of the number, the seed, the step and the element's index, row-major."""

    def __init__(self, seed, step):
        self.seed, self.step, self.place = seed, step, 0

    def __call__(self, x, probability):
        if probability == 0:
            return x
        self.place += 1
        kept = uniform(self.seed, self.place, self.step, x.size) >= np.float64(np.float32(probability))
        return x * (kept / (1 - probability)).reshape(x.shape)


def activation(name, x):
    if name == "relu":
        return np.maximum(x, 0)
    if name == "silu":
        return x / (1 + np.exp(-x))
    if name == "gelu_new":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    assert name == "gelu", name
    return 0.5 * x * (1 + _ERF(x / math.sqrt(2)))


def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + eps) * weight + bias


def rms_norm(x, weight, eps):
    return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + eps) * weight


def attention(q, k, v, dropout, probability):
    """Causal; q [b, s, heads, d], k and v [b, s, groups, d]: heads of a group follow each other."""
    heads, size = q.shape[2:]
    k, v = (np.repeat(x, heads // x.shape[2], axis=2) for x in (k, v))
    scores = np.einsum("bsnd,btnd->bnst", q, k) / math.sqrt(size)
    positions = np.arange(q.shape[1])
    scores = np.where(positions[:, None] >= positions, scores, -np.inf)
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    p = dropout(exponentials / exponentials.sum(-1, keepdims=True), probability)
    return np.einsum("bnst,btnd->bsnd", p, v).reshape(*q.shape[:2], heads * size)


def rotary(x, theta):
    """Pairs (i, i + d/2) of [b, s, heads, d] turned by position."""
    half = x.shape[-1] // 2
    angles = np.outer(np.arange(x.shape[1]), theta ** (-np.arange(half) / half))[:, None, :]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angles) - b * np.sin(angles),
                           b * np.cos(angles) + a * np.sin(angles)], -1)


def gpt2_logits(w, config, ids, dropout):
    w = {name.removeprefix("transformer."): tensor for name, tensor in w.items()}
    heads, eps = config["n_head"], config["layer_norm_epsilon"]
    x = dropout(w["wte.weight"][ids] + w["wpe.weight"][:ids.shape[1]], config["embd_pdrop"])
    for layer in range(config["n_layer"]):
        def linear(x, name, layer=layer):
            return x @ w[f"h.{layer}.{name}.weight"] + w[f"h.{layer}.{name}.bias"]

        def norm(x, name, layer=layer):
            return layer_norm(x, w[f"h.{layer}.{name}.weight"], w[f"h.{layer}.{name}.bias"], eps)

        parts = np.split(linear(norm(x, "ln_1"), "attn.c_attn"), 3, axis=-1)
        q, k, v = (part.reshape(*part.shape[:2], heads, -1) for part in parts)
        y = linear(attention(q, k, v, dropout, config["attn_pdrop"]), "attn.c_proj")
        x = x + dropout(y, config["resid_pdrop"])
        y = activation(config["activation_function"], linear(norm(x, "ln_2"), "mlp.c_fc"))
        x = x + dropout(linear(y, "mlp.c_proj"), config["resid_pdrop"])
    x = layer_norm(x, w["ln_f.weight"], w["ln_f.bias"], eps)
    return x @ (w["wte.weight"] if config["tie_word_embeddings"] else w["lm_head.weight"]).T


def llama_logits(w, config, ids, dropout):
    w = {name.removeprefix("model."): tensor for name, tensor in w.items()}
    eps, size = config["rms_norm_eps"], config["hidden_size"] // config["num_attention_heads"]
    x = w["embed_tokens.weight"][ids]
    for layer in range(config["num_hidden_layers"]):
        def linear(x, name, layer=layer):
            return x @ w[f"layers.{layer}.{name}.weight"].T

        h = rms_norm(x, w[f"layers.{layer}.input_layernorm.weight"], eps)
        q, k, v = (linear(h, f"self_attn.{name}_proj").reshape(*ids.shape, -1, size) for name in "qkv")
        q, k = rotary(q, config["rope_theta"]), rotary(k, config["rope_theta"])
        x = x + linear(attention(q, k, v, dropout, config["attention_dropout"]), "self_attn.o_proj")
        h = rms_norm(x, w[f"layers.{layer}.post_attention_layernorm.weight"], eps)
        gate = activation(config["hidden_act"], linear(h, "mlp.gate_proj"))
        x = x + linear(gate * linear(h, "mlp.up_proj"), "mlp.down_proj")
    x = rms_norm(x, w["norm.weight"], eps)
    return x @ (w["embed_tokens.weight"] if config["tie_word_embeddings"] else w["lm_head.weight"]).T


def logits(weights, config, ids, seed=0, step=1):
    """[batch, seq, vocabulary] of int [batch, seq]."""
    weights = {name: tensor.astype(np.float64) for name, tensor in weights.items()}
    forward = {"gpt2": gpt2_logits, "llama": llama_logits}[config["model_type"]]
    return forward(weights, config, ids, Dropout(seed, step))


def loss(weights, config, ids, labels, seed=0, step=1):
    """Mean cross-entropy; position i predicts label i + 1, and -100 is no label."""
    x = logits(weights, config, ids, seed, step)[:, :-1]
    wanted = labels[:, 1:]
    top = x.max(-1)
    total = top + np.log(np.exp(x - top[..., None]).sum(-1))
    own = np.take_along_axis(x, np.where(wanted < 0, 0, wanted)[..., None], -1)[..., 0]
    return float((total - own)[wanted != -100].mean())


def slope(weights, name, direction, size, *inputs, **options):
    """Derivative of the loss along `direction` in parameter `name`, by central differences."""
    ends = []
    for sign in (1, -1):
        moved = {**weights, name: weights[name].astype(np.float64) + sign * size * direction}
        ends.append(loss(moved, *inputs, **options))
    return (ends[0] - ends[1]) / (2 * size)
