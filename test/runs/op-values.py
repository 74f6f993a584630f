# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each op gives, against its formula in float64: op-test compares ops with themselves. Inputs hold zeros of
both signs, equal numbers, and labels that are ignored or name no column."""
import math
import sys

import colrow
import numpy as np

rng = np.random.default_rng(0)
IGNORE = 2


def numbers(*shape):
    x = rng.normal(0, 2, shape).astype(np.float32)
    flat = x.reshape(-1)
    flat[::5] = 0
    flat[1::11] = -0.0
    flat[-1] = flat[-2]  # equal, also as the largest of a row
    return x


def integers(high, *shape):
    return rng.integers(0, high, shape, dtype=np.int32)


X, Y, DY = numbers(2, 5, 7), numbers(2, 5, 7), numbers(2, 5, 7)
W, D3, G, B = numbers(3, 7), numbers(2, 5, 3), numbers(7), numbers(7)
TABLE, IDS, LABELS, LONG = numbers(11, 7), integers(11, 2, 5), integers(7, 2, 5), integers(9, 2, 6)
LABELS[0, :2] = IGNORE
SUMEXP, PICKED, MAX, DR = np.exp(numbers(2, 5)), numbers(2, 5), numbers(2, 5), numbers(2, 5)
Q, K, V, DA = numbers(2, 3, 2, 2, 4), numbers(2, 5, 2, 4), numbers(2, 5, 2, 4), numbers(2, 3, 2, 2, 4)
R = numbers(2, 3, 5, 6)
COUNT, SUM = np.float32(3), np.float32(-7.5)
INPUTS = {name: np.asarray(value) for name, value in
          dict(x=X, y=Y, dy=DY, w=W, d3=D3, g=G, b=B, table=TABLE, ids=IDS, labels=LABELS, long=LONG, sumexp=SUMEXP,
               picked=PICKED, max=MAX, dr=DR, q=Q, k=K, v=V, da=DA, r=R, count=COUNT, sum=SUM).items()}
f64 = {name: value.astype(np.float64) for name, value in INPUTS.items() if value.dtype == np.float32}
x, y, dy, w, d3, g, b, table, sumexp, picked, maximum, dr, q, k, v, da, r = (
    f64[n] for n in "x y dy w d3 g b table sumexp picked max dr q k v da r".split())
erf = np.vectorize(math.erf)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def gelu_grad(z):
    return 0.5 * (1 + erf(z / math.sqrt(2))) + z * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def tanh_gelu_grad(z):
    a = math.sqrt(2 / math.pi)
    t = np.tanh(a * (z + 0.044715 * z**3))
    return 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * a * (1 + 3 * 0.044715 * z * z)


def norm(z, gain, eps, centred):
    """The normalised rows, 1 / their deviation, and the gradients of gain * rows."""
    z = z - z.mean(-1, keepdims=True) if centred else z
    inverse = 1 / np.sqrt((z * z).mean(-1, keepdims=True) + eps)
    rows, scaled = z * inverse, gain * dy
    dx = scaled - rows * (scaled * rows).mean(-1, keepdims=True)
    if centred:
        dx -= scaled.mean(-1, keepdims=True)
    return rows, dx * inverse, (dy * rows).sum((0, 1))


def rotary(z, frequencies, scale, sign):
    angle = np.arange(z.shape[1])[:, None] * np.array(frequencies)
    cos, sin = (scale * f(angle)[None, :, None, :] for f in (np.cos, np.sin))
    half = z.shape[-1] // 2
    a, c = z[..., :half], z[..., half:]
    return np.concatenate([a * cos - sign * c * sin, c * cos + sign * a * sin], -1)


def attention(causal, scale):
    scores = scale * np.einsum("bsmgd,btmd->bsmgt", q, k)
    if causal:
        scores = np.where((np.arange(5) > np.arange(3)[:, None])[None, :, None, None, :], -np.inf, scores)
    lse = np.log(np.exp(scores).sum(-1))
    p = np.exp(scores - lse[..., None])
    dp = np.einsum("bsmgd,btmd->bsmgt", da, v)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale
    return (np.einsum("bsmgt,btmd->bsmgd", p, v), lse, np.einsum("bsmgt,btmd->bsmgd", ds, k),
            np.einsum("bsmgt,bsmgd->btmd", ds, q), np.einsum("bsmgt,bsmgd->btmd", p, da))


def one_hot(labels, columns):
    return (labels[..., None] == np.arange(columns)).astype(np.float64)


CASES = []


def case(text, *wanted):
    """`text` is an op, "%x" its inputs; `wanted` what its results are."""
    CASES.append((text, wanted))


case("matmul %x, %w", x @ w.T)
case("matmul_dgrad %d3, %w", d3 @ w)
case("matmul_wgrad %d3, %x", np.einsum("bsk,bsh->kh", d3, x))
case("embedding %ids, %table", table[IDS])
case("embedding_grad %ids, %dy", np.einsum("bsv,bsh->vh", one_hot(IDS, 11), dy))
case("take_rows %table", table[:5])
case("pad_rows %w", np.pad(w, ((0, 4), (0, 0))))
case("shift_labels %long", LONG[:, 1:])
case("add %x, %y", x + y)
case("add %x, %g", x + g)
case("mul %x, %y", x * y)
case("mul %x, %g", x * g)
case("accumulate %x, %y", x + y)
case("scale %x {factor = -2.5 : f64}", -2.5 * x)
case("stop_gradient %x", x)
case("sum_leading %x", x.sum((0, 1)))
case("gelu %x", x * 0.5 * (1 + erf(x / math.sqrt(2))))
case("gelu %x {tanh}", 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))
case("gelu_grad %x, %dy", dy * gelu_grad(x))
case("gelu_grad %x, %dy {tanh}", dy * tanh_gelu_grad(x))
case("relu %x", np.maximum(x, 0))
case("relu_grad %x, %dy", dy * (x > 0))
case("silu %x", x * sigmoid(x))
case("silu_grad %x, %dy", dy * sigmoid(x) * (1 + x * (1 - sigmoid(x))))
case("softcap %x {cap = 3.0 : f64}", 3 * np.tanh(x / 3))
case("softcap_grad %y, %dy {cap = 9.0 : f64}", dy * (1 - (y / 9)**2))
rows, dx, dgamma = norm(x, g, 0.3, centred=True)
case("layer_norm %x, %g, %b {eps = 0.3 : f64}", rows * g + b)
case("layer_norm_grad %x, %g, %dy {eps = 0.3 : f64}", dx, dgamma, dy.sum((0, 1)))
rows, dx, dgamma = norm(x, g, 0.3, centred=False)
case("rms_norm %x, %g {eps = 0.3 : f64}", rows * g)
case("rms_norm_grad %x, %g, %dy {eps = 0.3 : f64}", dx, dgamma)
FREQUENCIES = (1.0, 0.5, 0.125)
LIST = "frequencies = array<f64: 1.0, 0.5, 0.125>"
case(f"rotary %r {{{LIST}}}", rotary(r, FREQUENCIES, 1, 1))
case(f"rotary %r {{{LIST}, scale = 1.5 : f64, inverse}}", rotary(r, FREQUENCIES, 1.5, -1))
for attributes, results in (("scale = 0.3 : f64", attention(False, 0.3)), ("scale = 0.5 : f64, causal", attention(True, 0.5))):
    case(f"attention %q, %k, %v {{{attributes}}}", *results[:2])
case("row_max %x", x.max(-1))
case("sum_exp %x, %max", np.exp(x - maximum[..., None]).sum(-1))
case("sum_exp_grad %x, %max, %dr", np.exp(x - maximum[..., None]) * dr[..., None])
case("pick %x, %labels", (x * one_hot(LABELS, 7)).sum(-1))
case("pick_grad %labels, %dr", one_hot(LABELS, 7) * dr[..., None])
counted = LABELS != IGNORE
case(f"token_loss %max, %sumexp, %picked, %labels {{ignore = {IGNORE} : i64}}",
     (counted * (np.log(sumexp) + maximum - picked)).sum(), float(counted.sum()))
case(f"token_loss_grad %sumexp, %labels, %sum {{ignore = {IGNORE} : i64}}",
     counted * SUM / sumexp, -1.0 * counted * SUM)
chosen = np.log(np.exp(x).sum(-1)) - (x * one_hot(LABELS, 7)).sum(-1)
case(f"cross_entropy %x, %labels {{ignore = {IGNORE} : i64}}", (counted * chosen).sum(), float(counted.sum()))
case("mean %sum, %count", SUM / COUNT)
case("seed", np.float64(1))
case("constant {value = -0.75 : f64}", np.float64(-0.75))
case("sum_squares %x", np.array([0, (x * x).sum(), 0]))


def type_of(value):
    kind = {"i": "i32", "f": "f32"}[np.asarray(value).dtype.kind]
    return f"tensor<{''.join(f'{n}x' for n in np.shape(value))}{kind}>"


def graph(cases):
    lines, results, types = [], [], []
    for n, (text, wanted) in enumerate(cases):
        made = [f"%r{n}_{i}" for i in range(len(wanted))]
        op, _, rest = text.partition(" ")
        names = [word[1:] for word in rest.split("{")[0].replace(",", " ").split()]
        into = ", ".join(type_of(value) for value in wanted)
        into = f"({into})" if len(wanted) > 1 else into
        lines.append(f"  {', '.join(made)} = tp.{text} : ({', '.join(type_of(INPUTS[a]) for a in names)}) -> {into}")
        results += made
        types += [type_of(value) for value in wanted]
    arguments = ", ".join(f'%{name}: {type_of(value)} {{tp.input = #tp.input<data "{name}">}}' for name, value in INPUTS.items())
    return "\n".join([f"func.func @main({arguments}) -> ({', '.join(types)}) {{", *lines,
                      f"  return {', '.join(results)} : {', '.join(types)}", "}", ""])


def main():
    work = colrow.workspace(sys.argv[1])
    path, plan, inputs, outputs = (work / name for name in ("graph.mlir", "plan", "in.safetensors", "out.safetensors"))
    path.write_text(graph(CASES))
    colrow.succeed("tp-compile", path, "--function", "-o", plan)
    colrow.save_safetensors(inputs, INPUTS)
    colrow.succeed("tp-run", "function", plan, "--inputs", inputs, "--outputs", outputs)
    found = colrow.load_safetensors(outputs)
    n = 0
    for text, wanted in CASES:
        for value in wanted:
            got, n = found[f"result{n}"], n + 1
            error = np.abs(got - value).max() if np.size(value) else 0
            colrow.check(got.shape == np.shape(value) and error <= 2e-6 * max(1, np.abs(value).max()),
                         f"{text}: off by {error}")


main()
