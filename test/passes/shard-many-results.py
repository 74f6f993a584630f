# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function that returns the hidden values of all its layers, each of which reads one more input: nothing
that leaves, and no input, keeps the solver's table large until the last layer."""
import sys

import colrow

LAYERS, SHAPE, WEIGHT = 40, "tensor<4x8x64xf32>", "tensor<64x64xf32>"
work = colrow.workspace(sys.argv[1])


def graph():
    """x = gelu(x w) + input, LAYERS times; every x is a result."""
    hidden = [f"%x{i + 1}" for i in range(LAYERS)]
    inputs = ", ".join(f"%i{i}: {SHAPE}" for i in range(LAYERS))
    lines = [f"tp.parameter @w{i} : {WEIGHT} {{id = {i} : i64, init = #tp.init<normal 0.0, 0.5>}}" for i in range(LAYERS)]
    lines.append(f"func.func @main(%x0: {SHAPE}, {inputs}) -> ({', '.join([SHAPE] * LAYERS)}) attributes {{tp.forward}} {{")
    for i in range(LAYERS):
        # The first half of the layers reads all inputs, so that they live long.
        lines += [f"  %w{i} = tp.param @w{i} : {WEIGHT}",
                  f"  %y{i} = tp.matmul %x{i}, %w{i} : ({SHAPE}, {WEIGHT}) -> {SHAPE}",
                  f"  %g{i} = tp.gelu %y{i} : ({SHAPE}) -> {SHAPE}",
                  f"  %r{i} = tp.relu %i{LAYERS - 1 - i} : ({SHAPE}) -> {SHAPE}",
                  f"  %a{i} = tp.add %g{i}, %i{i} : ({SHAPE}, {SHAPE}) -> {SHAPE}",
                  f"  %x{i + 1} = tp.add %a{i}, %r{i} : ({SHAPE}, {SHAPE}) -> {SHAPE}"]
    lines += [f"  return {', '.join(hidden)} : {', '.join([SHAPE] * LAYERS)}", "}"]
    return "\n".join(lines) + "\n"


path = work / "graph.mlir"
path.write_text(graph())
for ranks in (1, 2, 8):
    text = colrow.succeed("tp-opt", path, f"--tp-shard=mesh=tp={ranks}", "--tp-insert-conjugates").stdout
    colrow.check(text.count(" = tp.matmul ") == LAYERS, f"tp={ranks}: {text.count('tp.matmul')} products")
