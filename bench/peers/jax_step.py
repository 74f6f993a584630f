#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A GPT training step in JAX: GSPMD with Megatron's layout on host devices of one process.

jax_step.py --tp 2

Prints one JSON line: seconds of each step, losses, compile time, peak memory of the process.
"""
import argparse
import json
import os
import resource
import time

parser = argparse.ArgumentParser(description=__doc__)
for name, value in dict(layers=4, hidden=512, heads=8, vocab=8192, seq=256, batch=8, tp=2,
                        steps=8).items():
    parser.add_argument(f"--{name}", type=int, default=value)
a = parser.parse_args()
# Devices are made when JAX is imported.
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                           + f" --xla_force_host_platform_device_count={a.tp}")
os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

SIZE = a.hidden // a.heads
mesh = Mesh(np.array(jax.devices()[:a.tp]), ("tp",))

# Shape, standard deviation (None: ones) and split of every parameter.
LAYER = dict(
    norm1=((a.hidden,), None, P()), norm1_bias=((a.hidden,), 0, P()),
    qkv=((a.hidden, 3, a.heads, SIZE), 0.02, P(None, None, "tp", None)),
    qkv_bias=((3, a.heads, SIZE), 0, P(None, "tp", None)),
    out=((a.heads, SIZE, a.hidden), 0.02, P("tp", None, None)), out_bias=((a.hidden,), 0, P()),
    norm2=((a.hidden,), None, P()), norm2_bias=((a.hidden,), 0, P()),
    up=((a.hidden, 4 * a.hidden), 0.02, P(None, "tp")), up_bias=((4 * a.hidden,), 0, P("tp")),
    down=((4 * a.hidden, a.hidden), 0.02, P("tp", None)), down_bias=((a.hidden,), 0, P()))
MODEL = dict(tokens=((a.vocab, a.hidden), 0.02, P("tp", None)),
             places=((a.seq, a.hidden), 0.02, P()),
             norm=((a.hidden,), None, P()), norm_bias=((a.hidden,), 0, P()),
             head=((a.vocab, a.hidden), 0.02, P("tp", None)), layers=[LAYER] * a.layers)


def is_entry(x):
    return isinstance(x, tuple)


def initial(rng):
    def draw(entry):
        shape, deviation, _ = entry
        return np.ones(shape, np.float32) if deviation is None else \
            rng.normal(0, deviation, shape).astype(np.float32)
    return jax.tree.map(draw, MODEL, is_leaf=is_entry)


def layer_norm(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * weight + bias


def replicated(x):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P()))


def block(x, p):
    y = layer_norm(x, p["norm1"], p["norm1_bias"])
    q, k, v = jnp.einsum("bsh,hcnd->cbnsd", y, p["qkv"]) + p["qkv_bias"][:, None, :, None, :]
    scores = jnp.einsum("bnqd,bnkd->bnqk", q, k) / np.sqrt(SIZE)
    causal = jnp.tril(jnp.ones((a.seq, a.seq), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), -1)
    mixed = jnp.einsum("bnqk,bnkd->bqnd", weights, v)
    x = replicated(x + jnp.einsum("bqnd,ndh->bqh", mixed, p["out"]) + p["out_bias"])
    y = layer_norm(x, p["norm2"], p["norm2_bias"])
    y = jax.nn.gelu(y @ p["up"] + p["up_bias"], approximate=True)
    return replicated(x + y @ p["down"] + p["down_bias"])


def loss_of(p, tokens):
    x = p["tokens"][tokens[:, :-1]] + p["places"]
    for layer in p["layers"]:
        x = block(x, layer)
    logits = layer_norm(x, p["norm"], p["norm_bias"]) @ p["head"].T
    logits = logits - jax.lax.stop_gradient(logits.max(-1, keepdims=True))
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return (jnp.log(jnp.exp(logits).sum(-1)) - picked).mean()


def step(state, tokens):
    """Adam, learning rate 1e-3."""
    p, m, v, n = state
    loss, g = jax.value_and_grad(loss_of)(p, tokens)
    n = n + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    p = jax.tree.map(lambda p, m, v: p - 1e-3 * (m / (1 - 0.9 ** n))
                     / (jnp.sqrt(v / (1 - 0.999 ** n)) + 1e-8), p, m, v)
    return (p, m, v, n), loss


def main():
    split = jax.tree.map(lambda e: NamedSharding(mesh, e[2]), MODEL, is_leaf=is_entry)
    whole = NamedSharding(mesh, P())
    layout = (split, split, split, whole)
    p = jax.device_put(initial(np.random.default_rng(0)), split)
    zeros = [jax.device_put(jax.tree.map(lambda x: np.zeros(x.shape, np.float32), p), split)
             for _ in range(2)]
    state = (p, *zeros, jax.device_put(jnp.float32(0), whole))
    tokens = jnp.array(np.random.default_rng(0).integers(0, a.vocab, (a.batch, a.seq + 1)), jnp.int32)
    jitted = jax.jit(step, in_shardings=(layout, whole), out_shardings=(layout, whole),
                     donate_argnums=0)
    start = time.perf_counter()
    compiled = jitted.lower(state, tokens).compile()
    compile_seconds = time.perf_counter() - start
    seconds, losses = [], []
    for _ in range(a.steps):
        start = time.perf_counter()
        state, loss = compiled(state, tokens)
        jax.block_until_ready((state, loss))
        seconds.append(time.perf_counter() - start)
        losses.append(float(loss))
    print(json.dumps(dict(peer="jax", version=jax.__version__, tp=a.tp, seconds=seconds, losses=losses,
                          compile_seconds=compile_seconds,
                          peak_rss_bytes=[resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024])))


if __name__ == "__main__":
    main()
