# RUN: %python %s %t
"""Changes of layout that run: what is cut along each dimension of three is in the right place on each
rank, joined again it is what it was, and summands of all ranks are added, whole and in blocks."""
import sys

import colrow
import numpy as np

work = colrow.workspace(sys.argv[1])
SHAPE = (6, 12, 24)
PASSES = ("--tp-partition", "--tp-fuse", "--lower-to-plan", "--plan-expand-attention", "--plan-assign-streams",
          "--plan-place", "--plan-compile-kernels", "--plan-verify")


def layout(dim=None, state=""):
    dims = ["_"] * 3
    if dim is not None:
        dims[dim] = f'{{{SHAPE[dim]} over "tp"}}'
    return f"#tp.layout<#mesh, [{', '.join(dims)}]{state}>"


def graph(ranks, dim):
    def tensor(*which):
        return f"tensor<{'x'.join(map(str, SHAPE))}xf32, {layout(*which)}>"

    whole, blocks, summands = tensor(), tensor(dim), tensor(None, ' partial "tp"')
    return f"""#mesh = #tp.mesh<"tp"={ranks}>
module attributes {{tp.mesh = #mesh}} {{
  func.func @main(%x: {whole} {{tp.input = #tp.input<data "x">}}, %p: {summands} {{tp.input = #tp.input<data "p">}}) {{
    %cut = tp.slice %x over ["tp"] : {whole} -> {blocks}
    %joined = tp.unslice %cut over ["tp"] : {blocks} -> {whole}
    %sum = tp.g %p over ["tp"] : {summands} -> {whole}
    %parts = tp.scatter %p over ["tp"] : {summands} -> {blocks}
    tp.output "cut", %cut : {blocks}
    tp.output "joined", %joined : {whole}
    tp.output "sum", %sum : {whole}
    tp.output "parts", %parts : {blocks}
    return
  }}
}}
"""


values = {name: np.random.default_rng(i).integers(-99, 99, SHAPE).astype(np.float32) for i, name in enumerate("xp")}
data, ir, plan, out = (work / name for name in ("in.safetensors", "a.mlir", "a.plan", "out.safetensors"))
colrow.save_safetensors(data, values)
for ranks in (1, 2, 3):
    for dim in range(3):
        ir.write_text(graph(ranks, dim))
        colrow.succeed("tp-opt", ir, *PASSES, f"--plan-write=output={plan}", "-o", work / "placed.mlir")
        colrow.succeed("tp-run", "function", plan, "--inputs", data, "--outputs", out)
        found = colrow.load_safetensors(out)
        for name, want in (("cut", values["x"]), ("joined", values["x"]), ("sum", ranks * values["p"]),
                           ("parts", ranks * values["p"])):
            colrow.check(np.array_equal(found[name], want), f"{ranks} ranks, dimension {dim}: {name} is another")
