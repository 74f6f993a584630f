# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks on a mesh of two axes, from IR of the local phase: cut along two dimensions, each padded, masked, joined again with their padding; sums over one axis and over both. Each axis counts by its own coordinate."""
import sys

import colrow
import numpy as np

GRAPH = """
#mesh = #tp.mesh<"a"=2, "b"=3>
#rows = #tp.layout<#mesh, [{5 pad 6 over "a"}, _]>
#both = #tp.layout<#mesh, [{5 pad 6 over "a"}, {7 pad 9 over "b"}]>
#columns = #tp.layout<#mesh, [_, {7 pad 9 over "b"}]>
#joint = #tp.layout<#mesh, [{10 pad 12 over ("a", "b")}, _]>
module attributes {tp.mesh = #mesh} {
  func.func @blocks(%x: tensor<5x7xf32>, %y: tensor<10x4xf32>) attributes {tp.forward} {
    %r = tp.local_slice %x over ["a"] {dim = 0 : i64, layout = #rows} : tensor<5x7xf32> -> tensor<3x7xf32>
    %b = tp.local_slice %r over ["b"] {dim = 1 : i64, layout = #columns} : tensor<3x7xf32> -> tensor<3x3xf32>
    %m = tp.mask_padding %b with 0xFFF0000000000000 {layout = #both} : tensor<3x3xf32> -> tensor<3x3xf32>
    %g = tp.all_gather %m over ["b"] {dim = 1 : i64} : tensor<3x3xf32> -> tensor<3x9xf32>
    %w = tp.all_gather %g over ["a"] {dim = 0 : i64} : tensor<3x9xf32> -> tensor<6x9xf32>
    tp.output "whole", %w : tensor<6x9xf32>
    %one = tp.constant {value = 1.0 : f64} : () -> tensor<f32>
    %more = tp.add %b, %one : (tensor<3x3xf32>, tensor<f32>) -> tensor<3x3xf32>
    %k = tp.mask_padding %more with 0.0 {layout = #both} : tensor<3x3xf32> -> tensor<3x3xf32>
    %kg = tp.all_gather %k over ["b"] {dim = 1 : i64} : tensor<3x3xf32> -> tensor<3x9xf32>
    %kw = tp.all_gather %kg over ["a"] {dim = 0 : i64} : tensor<3x9xf32> -> tensor<6x9xf32>
    tp.output "zeros", %kw : tensor<6x9xf32>
    %t = tp.all_gather %b over ["b"] {dim = 1 : i64} : tensor<3x3xf32> -> tensor<3x7xf32>
    %u = tp.all_gather %t over ["a"] {dim = 0 : i64} : tensor<3x7xf32> -> tensor<5x7xf32>
    tp.output "trimmed", %u : tensor<5x7xf32>
    %sa = tp.all_reduce %g over ["a"] : tensor<3x9xf32> -> tensor<3x9xf32>
    tp.output "over_a", %sa : tensor<3x9xf32>
    %sb = tp.all_reduce %b over ["b"] : tensor<3x3xf32> -> tensor<3x3xf32>
    %s = tp.all_reduce %sb over ["a"] : tensor<3x3xf32> -> tensor<3x3xf32>
    %j = tp.all_reduce %b over ["a", "b"] : tensor<3x3xf32> -> tensor<3x3xf32>
    tp.output "one_by_one", %s : tensor<3x3xf32>
    tp.output "at_once", %j : tensor<3x3xf32>
    %v = tp.local_slice %y over ["a", "b"] {dim = 0 : i64, layout = #joint} : tensor<10x4xf32> -> tensor<2x4xf32>
    %n = tp.mask_padding %v with 0xFFF0000000000000 {layout = #joint} : tensor<2x4xf32> -> tensor<2x4xf32>
    %z = tp.all_gather %n over ["a", "b"] {dim = 0 : i64} : tensor<2x4xf32> -> tensor<12x4xf32>
    tp.output "joint", %z : tensor<12x4xf32>
    return
  }
}
"""
work = colrow.workspace(sys.argv[1])
graph, plan = work / "graph.mlir", work / "plan"
graph.write_text(GRAPH)
colrow.succeed("tp-opt", graph, "--tp-fuse", "--lower-to-plan", "--plan-place", "--plan-compile-kernels", "--plan-verify",
               f"--plan-write=output={plan}", "-o", work / "plan.mlir")
random = np.random.default_rng(0)
x, y = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((5, 7), (10, 4)))
colrow.save_safetensors(work / "in.safetensors", {"arg0": x, "arg1": y})
colrow.succeed("tp-run", "function", plan, "--inputs", work / "in.safetensors", "--outputs", work / "out.safetensors")
found = colrow.load_safetensors(work / "out.safetensors")

padding = ((0, 1), (0, 2))
least = np.pad(x, padding, constant_values=-np.inf)
blocks = np.pad(x, padding).reshape(2, 3, 3, 3).transpose(0, 2, 1, 3)  # a, b, rows, columns
wanted = {"whole": least, "zeros": np.pad(x + 1, padding), "trimmed": x, "over_a": least[:3] + least[3:],
          "one_by_one": blocks.sum((0, 1)),
          "at_once": blocks.sum((0, 1)), "joint": np.pad(y, ((0, 2), (0, 0)), constant_values=-np.inf)}
for name, value in wanted.items():
    colrow.check(np.array_equal(found[name], value), f"{name}: {found[name]}, wanted {value}")
