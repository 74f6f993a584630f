# RUN: %python %s %t
"""Fault 22: the global norm of gradients of any size that floats have: no square of it overflows or underflows,
split or not, and a clipped step is taken. Against the norm of the dumped gradients, in double."""
import sys

import colrow
import equal
import numpy as np
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
model = ranks.t0(work / "model", n_layer=1)
initial = ranks.initial_weights(work, model)


def check_norm(name, start, tp, least, most):
    """One clipped step: the norm, that all weights moved, and the clipped gradient in the first moment."""
    found = equal.train(work, name, tp, start=start, data=data, steps=1, name="range",
                        options=("--clip-grad-norm", 0.5, "--eps", 1e-8))
    wanted = found.gradient_norm()
    what = f"tp={tp}: norm {found.norms[0]}, wanted {wanted}"
    colrow.check(least <= wanted <= most, f"{what}: no such gradient came out")
    colrow.check(abs(found.norms[0] / wanted - 1) <= 1e-5, what)
    state = colrow.load_safetensors(work / f"range-tp{tp}-saved/optimizer.safetensors")
    scale = min(1, 0.5 / (wanted + 1e-6))
    for parameter, gradient in found.gradients.items():
        moments = [t for n, t in state.items() if parameter in n and n.startswith("exp_avg.")]
        colrow.check(len(moments) == 1, f"{what}: {len(moments)} first moments of {parameter} in {sorted(state)}")
        colrow.check(ranks.apart(moments[0], 0.1 * scale * gradient) <= 1e-5, f"{what}: moment of {parameter}")
    print(what)


# Large: the last norm's weight scales the gradients of all before it. Their sizes lie on both sides of
# the bound between large and middle values.
for factor, least, most in ((1e14, 1e12, 1e15), (1e20, 1e19, 1e22), (1e30, 1e29, 1e32)):
    weights = {n: t.copy() for n, t in initial.items()}
    weights["transformer.ln_f.weight"][:] *= np.float32(factor)
    for tp in (1, 2):
        check_norm(model, ranks.with_weights(model, weights), tp, least, most)

# Small: both weights of a product are, so both gradients are.
GRAPH = """
module attributes {tp.model_type = "graph"} {
  tp.parameter @table : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, SIZE>}
  tp.parameter @head : tensor<32x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, SIZE>}
  func.func @main(%ids: tensor<2x8xi32> {tp.role = "ids"}, %labels: tensor<2x9xi32> {tp.role = "labels"})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @table : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %head = tp.param @head : tensor<32x16xf32>
    %logits = tp.matmul %x, %head : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %l = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %l : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
"""
for size, least, most in ((1e-14, 1e-16, 1e-12), (1e-25, 1e-26, 1e-23)):
    graph = work / f"small{size}.mlir"
    graph.write_text(GRAPH.replace("SIZE", f"{size:.1e}"))
    for tp in (1, 2):
        check_norm(graph, ("--seed", 1), tp, least, most)

# Without clipping a gradient whose square no float holds would spoil the second moments: left out.
weights = {n: t.copy() for n, t in initial.items()}
weights["transformer.ln_f.weight"][:] *= np.float32(1e25)
start = ranks.with_weights(model, weights)
found = equal.train(work, model, 1, start=start, data=data, steps=1, name="free")
colrow.check(np.isfinite(found.norms[0]) and found.norms[0] > 1e20, f"norm {found.norms[0]}")
colrow.check(all((found.weights[n] == t).all() for n, t in weights.items()), "the step was taken")
