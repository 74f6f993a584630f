# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters longer than what is converted at a time, from files of other types, transposed and in strides, whole
and in blocks: every element is the one that its source names."""
import sys

import colrow
import numpy as np

N = 2611  # more than twice 1024, and nothing divides it
work = colrow.workspace(sys.argv[1])


def declare(name, element, number):
    source = f'"{name}" : [{N}, 3] size [{N}, 3] perm [1, 0]'
    if name == "plain":
        source = f'"{name}" : [3, {N}]'
    if name == "strided":
        source = f'"{name}" : [3, {2 * N}] from [0, 1] step [1, 2] size [3, {N}]'
    return (f"tp.parameter @{name}.{element} : tensor<3x{N}x{element}> {{id = {number} : i64, "
            f"init = #tp.init<zeros>, source = [#tp.source<{source}>]}}")


names = [(name, element) for name in ("plain", "turned", "strided") for element in ("f32", "bf16")]
lines = [declare(name, element, i) for i, (name, element) in enumerate(names)]
shape = f"tensor<3x{N}xf32>"
lines.append(f"func.func @main() -> ({', '.join([shape] * len(names))}) {{")
for i, (name, element) in enumerate(names):
    lines.append(f"  %p{i} = tp.param @{name}.{element} : tensor<3x{N}x{element}>")
    lines.append(f"  %y{i} = tp.cast %p{i} : (tensor<3x{N}x{element}>) -> {shape}" if element == "bf16" else
                 f"  %y{i} = tp.scale %p{i} {{factor = 1.0 : f64}} : ({shape}) -> {shape}")
lines += [f"  return {', '.join(f'%y{i}' for i in range(len(names)))} : {', '.join([shape] * len(names))}", "}"]
graph = work / "graph.mlir"
graph.write_text("\n".join(lines) + "\n")

random = np.random.default_rng(0)
tensors = {"plain": random.integers(0, 256, (3, N)), "turned": random.integers(0, 256, (N, 3)),
           "strided": random.integers(0, 256, (3, 2 * N))}  # bf16 holds them
wanted = {"plain": tensors["plain"], "turned": tensors["turned"].T, "strided": tensors["strided"][:, 1::2]}
for ranks in (1, 2):
    plan, outputs = work / f"{ranks}.plan", work / "out.safetensors"
    pins = [word for name, element in names for word in ("--pin", f"{name}.{element}=1:tp")] if ranks > 1 else []
    colrow.succeed("tp-compile", graph, "--function", "--mesh", f"tp={ranks}", *pins, "-o", plan)
    for kind in (np.float32, np.float16):
        folder = work / f"{ranks}-{np.dtype(kind).name}"
        folder.mkdir()
        colrow.save_safetensors(folder / "model.safetensors", {n: t.astype(kind) for n, t in tensors.items()})
        colrow.succeed("tp-run", "function", plan, "--weights", folder, "--outputs", outputs)
        found = colrow.load_safetensors(outputs)
        for i, (name, element) in enumerate(names):
            colrow.check(np.array_equal(found[f"result{i}"], wanted[name]),
                         f"{name} of {element} from {np.dtype(kind).name} at tp={ranks}")
