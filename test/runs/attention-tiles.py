# RUN: %python %s %t
"""plan.attention and its gradient against numpy, in double precision: several tiles of rows, the last one
short, causal or not, windows that begin inside a tile and that hold one key, more keys than queries,
groups and batches."""
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
rng = np.random.default_rng(0)
PASSES = ("--plan-expand-attention", "--plan-assign-streams", "--plan-place", "--plan-compile-kernels", "--plan-verify")


def program(shapes, outputs, sizes, how):
    """IR of a program that runs attention forward and backward on its inputs."""
    def tensor(shape):
        return f"tensor<{'x'.join(map(str, shape))}xf32>"

    lines = [f'%{n} = plan.input {4 * np.prod(s)} "{n}" role "data" as {tensor(s)} : !plan.buffer<f32>'
             for n, s in shapes.items()]
    lines += [f"%{n} = plan.buffer {4 * np.prod(s)} : !plan.buffer<f32>" for n, s in outputs.items()]
    lines += [f"plan.attention %q : f32, %k : f32, %v : f32 to %y : f32, %lse : f32 sizes {sizes} {how}",
              f"plan.attention_grad %q : f32, %k : f32, %v : f32, %lse : f32, %dy : f32 to %dq : f32, %dk : f32, %dv : f32 "
              f"sizes {sizes} {how}"]
    lines += [f'plan.output "{n}" role "{n}" %{n} : f32 as {tensor(s)}' for n, s in outputs.items()]
    body = "\n".join(f"    {line}" for line in [*lines, "plan.end"])
    return (f'module attributes {{tp.mesh = #tp.mesh<"tp"=1>}} {{\n  plan.program "attend" phases ["forward"] {{\n'
            f"{body}\n  }}\n}}\n")


def wanted(q, k, v, dy, scale, causal, window):
    row, key = np.arange(q.shape[1])[:, None], np.arange(k.shape[1])
    seen = np.ones((q.shape[1], k.shape[1]), bool)
    if causal:
        seen = key <= row
    if window:
        seen &= key > row - window
    x = np.where(seen, np.einsum("bsmgd,btmd->bmgst", q, k) * scale, -np.inf)
    lse = np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1)) + x.max(-1)
    p = np.exp(x - lse[..., None])
    dp = np.einsum("bsmgd,btmd->bmgst", dy, v)
    dx = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale
    return {"y": np.einsum("bmgst,btmd->bsmgd", p, v), "lse": lse.transpose(0, 3, 1, 2),
            "dq": np.einsum("bmgst,btmd->bsmgd", dx, k), "dk": np.einsum("bmgst,bsmgd->btmd", dx, q),
            "dv": np.einsum("bmgst,bsmgd->btmd", p, dy)}


for b, m, g, s, t, d, causal, window in ((2, 3, 2, 150, 150, 4, True, 0), (2, 2, 1, 150, 150, 4, True, 40),
                                         (1, 2, 3, 70, 200, 6, False, 0), (2, 1, 2, 130, 171, 4, True, 90),
                                         (1, 1, 1, 100, 100, 4, True, 1), (2, 1, 1, 66, 5, 3, True, 0)):
    q, keys = (b, s, m, g, d), (b, t, m, d)
    shapes = {"q": q, "k": keys, "v": keys, "dy": q}
    values = {n: rng.normal(0, 1, shape).astype(np.float32) for n, shape in shapes.items()}
    outputs = {"y": q, "lse": q[:-1], "dq": q, "dk": keys, "dv": keys}
    how = f"scale 0.375{' causal' if causal else ''}{f' window {window}' if window else ''}"
    ir, plan, data, out = (work / f"a.{end}" for end in ("mlir", "plan", "safetensors", "out.safetensors"))
    ir.write_text(program(shapes, outputs, [b, m, g, s, t, d], how))
    colrow.save_safetensors(data, values)
    colrow.succeed("tp-opt", ir, *PASSES, f"--plan-write=output={plan}", "-o", work / "placed.mlir")
    colrow.succeed("tp-run", "function", plan, "--inputs", data, "--outputs", out)
    found = colrow.load_safetensors(out)
    for name, want in wanted(*(values[n].astype(np.float64) for n in shapes), 0.375, causal, window).items():
        colrow.check(found[name].shape == want.shape, f"{how}: {name} has shape {found[name].shape}")
        apart = np.abs(found[name] - want).max() / max(np.abs(want).max(), 0.1)
        colrow.check(apart < 1e-5, f"{how}, {s} queries, {t} keys: {name} apart by {apart:.1e} of its largest element")
