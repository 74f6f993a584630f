# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 and Llama with their training step, in float64 numpy, written from the papers and from what
transformers computes, not from Colrow: what whole runs are compared with when no committed case has
their configuration. test/cases/check_reference.py checks it on the committed cases and by central differences.

Gradients come from a tape over a handful of primitives, so no backward formula stands here."""
import math

import numpy as np
from tape import Tape, einsum


erf = np.vectorize(math.erf, otypes=[np.float64])


def activation(name, x):
    if name == "relu":
        return x.map(lambda v: np.maximum(v, 0), lambda v: (v > 0) * 1.0)
    if name == "silu":
        return x * x.map(lambda v: 1 / (1 + np.exp(-v)), lambda v: np.exp(-v) / (1 + np.exp(-v)) ** 2)
    if name == "gelu":
        return x * x.map(lambda v: (1 + erf(v / math.sqrt(2))) / 2,
                         lambda v: np.exp(-v * v / 2) / math.sqrt(2 * math.pi))
    inner = (x + x.power(3) * 0.044715) * math.sqrt(2 / math.pi)  # gelu_new
    return x * (inner.map(np.tanh, lambda v: 1 / np.cosh(v) ** 2) + 1.0) * 0.5


def layer_norm(x, weight, bias, epsilon):
    centred = x + x.mean() * -1.0
    return centred * ((centred * centred).mean() + epsilon).power(-0.5) * weight + bias


def rms_norm(x, weight, epsilon):
    return x * ((x * x).mean() + epsilon).power(-0.5) * weight


def uniform(seed, stream, step, shape):
    """Philox4x32-10 (Salmon et al., 2011) of key `seed` and counter (index, stream, step), one draw an
    element: the upper 24 bits of word 0 as a fraction. Words are kept in 64 bits for the products."""
    index = np.arange(math.prod(shape), dtype=np.uint64)
    low = np.uint64(0xFFFFFFFF)
    counter = [index & low, index >> np.uint64(32), np.full_like(index, stream), np.full_like(index, step)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(b >> np.uint64(32)) ^ counter[1] ^ np.uint64(key[0]), b & low,
                   (a >> np.uint64(32)) ^ counter[3] ^ np.uint64(key[1]), a & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return ((counter[0] >> np.uint64(8)) * 2.0 ** -24).reshape(shape)


def rotary(x, frequencies):
    """x [b, s, ..., d]: pairs (i, i + d/2) turned by position times frequency i."""
    seq, dim = x.value.shape[1], x.value.shape[-1]
    shape = (seq,) + (1,) * (x.value.ndim - 3) + (dim,)
    angles = np.outer(np.arange(seq), np.concatenate([frequencies, frequencies])).reshape(shape)
    turn = np.zeros((dim, dim))  # x @ turn = [-second half, first half]
    for i in range(dim // 2):
        turn[i + dim // 2, i], turn[i, i + dim // 2] = -1, 1
    letters = "bsmgh"[:x.value.ndim - 1]
    return x * np.cos(angles) + einsum(f"{letters}d,de->{letters}e", x, turn) * np.sin(angles)


def rope_frequencies(config, dim):
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    theta = rope.get("rope_theta", config.get("rope_theta", 10000.0))
    plain = theta ** (-np.arange(0, dim, 2) / dim)
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "linear":
        return plain / rope["factor"]
    if kind != "llama3":
        return plain
    # Long waves are stretched, short ones kept, those between blended (Llama 3.1).
    turns = rope["original_max_position_embeddings"] * plain / (2 * np.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    share = np.clip((turns - low) / (high - low), 0, 1)
    return plain * (share + (1 - share) / rope["factor"])


def attention(q, k, v, scale, drop):
    """Causal; q [b, s, groups, heads a group, d], k and v [b, s, groups, d]."""
    scores = einsum("bqmgd,bkmd->bmgqk", q, k) * scale
    scores += np.where(np.tri(scores.value.shape[-1], dtype=bool), 0.0, -np.inf)
    e = (scores + -scores.value.max(-1, keepdims=True)).map(np.exp, np.exp)
    return einsum("bmgqk,bkmd->bqmgd", drop(e * e.sum().power(-1)), v)


def loss_of(logits, labels):
    """Mean over the labels that are not -100 of minus the logarithm of the softmax."""
    vocabulary = logits.value.shape[-1]
    flat, wanted = logits.reshape(-1, vocabulary), labels.reshape(-1)
    top = flat.value.max(-1, keepdims=True)
    normal = (flat + -top).map(np.exp, np.exp).sum().map(np.log, lambda x: 1 / x) + top
    counted = (wanted != -100).astype(np.float64)
    pick = np.eye(vocabulary)[np.maximum(wanted, 0)]
    rows = normal + (flat * pick).sum() * -1.0
    return (rows * counted[:, None]).reshape(-1).sum().reshape() * (1 / counted.sum())


class Model:
    """One forward pass. `weights` holds arrays by checkpoint name; one that is missing is drawn, so that
    a model makes its own first weights: no bias zero, no norm weight one, nothing in a linear range."""

    def __init__(self, config, weights, seed=0, step=1, rng=None):
        self.config, self.weights, self.rng = config, weights, rng
        self.seed, self.step, self.drops = seed, step, 0
        self.tape, self.read = Tape(), {}

    def get(self, name, *shape):
        if name not in self.read:
            if name not in self.weights:
                table = name.endswith(("wte.weight", "embed_tokens.weight", "wpe.weight"))
                spread = 0.4 if len(shape) == 1 else 1.0 if table else 1.3 / math.sqrt(shape[-1])
                middle = 1.0 if len(shape) == 1 and name.endswith("weight") else 0.0
                self.weights[name] = self.rng.normal(middle, spread, shape).astype(np.float32).astype(np.float64)
            assert self.weights[name].shape == shape, (name, shape)
            self.read[name] = self.tape.node(self.weights[name])
        return self.read[name]

    def dropout(self, p):
        """The next dropout of the model, a function of nodes; it draws by its number, from 1 on."""
        if p == 0:
            return lambda x: x
        self.drops += 1
        stream, limit = self.drops, np.float64(np.float32(p))
        return lambda x: x * ((uniform(self.seed, stream, self.step, x.value.shape) >= limit) / (1 - p))

    def head(self, x, table):
        c = self.config
        if not c["tie_word_embeddings"]:
            table = self.get("lm_head.weight", *table.value.shape)
        return einsum("bsh,vh->bsv", x, table)

    def logits(self, ids):
        return {"gpt2": self.gpt2, "llama": self.llama}[self.config["model_type"]](ids)

    def gpt2(self, ids):
        c = self.config
        width, heads, (batch, seq) = c["n_embd"], c["n_head"], ids.shape
        inner, dim = c.get("n_inner") or 4 * width, width // heads

        def linear(x, path, inputs, outputs):
            y = einsum("bsi,io->bso", x, self.get(f"transformer.{path}.weight", inputs, outputs))
            return y + self.get(f"transformer.{path}.bias", outputs)

        def norm(x, path):
            return layer_norm(x, self.get(f"transformer.{path}.weight", width),
                              self.get(f"transformer.{path}.bias", width), c["layer_norm_epsilon"])

        table = self.get("transformer.wte.weight", c["vocab_size"], width)
        places = self.get("transformer.wpe.weight", c["n_positions"], width)
        x = self.dropout(c["embd_pdrop"])(table.rows(ids) + places.rows(np.arange(seq)))
        for i in range(c["n_layer"]):
            path = f"h.{i}."
            fused = linear(norm(x, path + "ln_1"), path + "attn.c_attn", width, 3 * width)
            # [q; k; v]: rows of the transposed columns are the parts.
            parts = fused.reshape(batch * seq, 3, width)
            q, k, v = (einsum("npw,p->nw", parts, np.eye(3)[part]) for part in range(3))
            scale = dim ** -0.5 if c["scale_attn_weights"] else 1.0
            if c["scale_attn_by_inverse_layer_idx"]:
                scale /= i + 1
            y = attention(q.reshape(batch, seq, heads, 1, dim), k.reshape(batch, seq, heads, dim),
                          v.reshape(batch, seq, heads, dim), scale, self.dropout(c["attn_pdrop"]))
            y = linear(y.reshape(batch, seq, width), path + "attn.c_proj", width, width)
            x = x + self.dropout(c["resid_pdrop"])(y)
            y = linear(norm(x, path + "ln_2"), path + "mlp.c_fc", width, inner)
            y = linear(activation(c["activation_function"], y), path + "mlp.c_proj", inner, width)
            x = x + self.dropout(c["resid_pdrop"])(y)
        return self.head(norm(x, "ln_f"), table)

    def llama(self, ids):
        c = self.config
        width, heads, groups = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"]
        batch, seq = ids.shape
        dim = c.get("head_dim") or width // heads
        frequencies = rope_frequencies(c, dim)

        def linear(x, path, outputs, bias):
            weight = self.get(f"model.{path}.weight", outputs, x.value.shape[-1])
            y = einsum("bsi,oi->bso", x, weight)
            return y + self.get(f"model.{path}.bias", outputs) if bias else y

        def norm(x, path):
            return rms_norm(x, self.get(f"model.{path}.weight", width), c["rms_norm_eps"])

        table = self.get("model.embed_tokens.weight", c["vocab_size"], width)
        x = table.rows(ids)
        for i in range(c["num_hidden_layers"]):
            path, bias = f"layers.{i}.", c["attention_bias"]
            y = norm(x, path + "input_layernorm")
            q = linear(y, path + "self_attn.q_proj", heads * dim, bias)
            k = linear(y, path + "self_attn.k_proj", groups * dim, bias)
            v = linear(y, path + "self_attn.v_proj", groups * dim, bias)
            y = attention(rotary(q.reshape(batch, seq, groups, heads // groups, dim), frequencies),
                          rotary(k.reshape(batch, seq, groups, dim), frequencies),
                          v.reshape(batch, seq, groups, dim), dim ** -0.5,
                          self.dropout(c["attention_dropout"]))
            x = x + linear(y.reshape(batch, seq, heads * dim), path + "self_attn.o_proj", width, bias)
            y, bias = norm(x, path + "post_attention_layernorm"), c["mlp_bias"]
            gate = activation(c["hidden_act"], linear(y, path + "mlp.gate_proj", c["intermediate_size"], bias))
            up = linear(y, path + "mlp.up_proj", c["intermediate_size"], bias)
            x = x + linear(gate * up, path + "mlp.down_proj", width, bias)
        return self.head(norm(x, "norm"), table)


def initial_weights(config, seed):
    weights = {}
    Model(config, weights, rng=np.random.default_rng(seed)).logits(np.zeros((1, 2), np.int64))
    return weights


def forward_backward(config, weights, ids, labels, seed=0, step=1):
    """(loss, logits, gradients by name). Labels are not shifted: position i predicts label i + 1."""
    model = Model(config, weights, seed, step)
    logits = model.logits(ids)
    shifted = np.full_like(labels, -100)
    shifted[:, :-1] = labels[:, 1:]
    loss = loss_of(logits, shifted)
    model.tape.backward(loss)
    return float(loss.value), logits.value, {name: node.grad for name, node in model.read.items()}


def train(config, weights, ids, labels, want, seed=0):
    """Trains on ids and labels [steps, batch, seq] with the optimizer that `want` describes (see
    test/cases/README.md). Returns loss and norm of each step, the first step's logits and gradients
    before clipping, and at the end weights, first and second moments."""
    weights = {name: array.astype(np.float64) for name, array in weights.items()}
    m = {name: np.zeros_like(array) for name, array in weights.items()}
    v = {name: np.zeros_like(array) for name, array in weights.items()}
    losses, norms, first = [], [], None
    beta1, beta2, lr = want["beta1"], want["beta2"], want["lr"]
    for t in range(1, len(ids) + 1):
        loss, logits, gradients = forward_backward(config, weights, ids[t - 1], labels[t - 1], seed, t)
        norm = math.sqrt(sum((g ** 2).sum() for g in gradients.values()))
        losses.append(loss)
        norms.append(norm)
        first = first or (logits, gradients)
        limit = want["clip_grad_norm"]
        clip = min(1.0, limit / (norm + 1e-6)) if limit else 1.0
        for name, gradient in gradients.items():
            g, p = gradient * clip, weights[name]
            m[name] = beta1 * m[name] + (1 - beta1) * g
            v[name] = beta2 * v[name] + (1 - beta2) * g * g
            move = m[name] / (1 - beta1 ** t) / (np.sqrt(v[name] / (1 - beta2 ** t)) + want["eps"])
            weights[name] = p * (1 - lr * want["weight_decay"] * (p.ndim >= 2)) - lr * move
    return dict(loss=losses, grad_norm=norms, logits=first[0], gradients=first[1], weights=weights,
                exp_avg=m, exp_avg_sq=v)
