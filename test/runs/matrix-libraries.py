# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tp-run needs no library to start but libc's and libstdc++; those that multiply matrices are found when a plan
has matrix products, and are named when they are missing. bf16 by oneDNN and by conversion agree."""
import pathlib
import re
import subprocess
import sys

import numpy as np
from colrow import check, load_safetensors, refuse, save_safetensors, succeed, tool, workspace

ALLOWED = {"linux-vdso", "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libgcc_s", "libstdc++",
           "libdl", "libpthread", "librt", "libresolv"}  # the last are libc's, or a sanitizer's
PRODUCT = """
func.func @product(%x: tensor<24x96xf32>, %w: tensor<40x96xf32>) -> tensor<24x40xf32> {
  %xn = tp.cast %x : (tensor<24x96xf32>) -> tensor<24x96xbf16>
  %wn = tp.cast %w : (tensor<40x96xf32>) -> tensor<40x96xbf16>
  %yn = tp.matmul %xn, %wn : (tensor<24x96xbf16>, tensor<40x96xbf16>) -> tensor<24x40xbf16>
  %y = tp.cast %yn : (tensor<24x40xbf16>) -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}
"""


def compiled(folder, name, graph):
    (folder / f"{name}.mlir").write_text(graph)
    succeed("tp-compile", folder / f"{name}.mlir", "--function", "--mesh", "tp=1", "-o", folder / f"{name}.plan")
    return folder / f"{name}.plan"


def arguments(plan, program, inputs, outputs):
    return "function", plan, "--program", program, "--inputs", inputs, "--outputs", outputs


def rounded(array):
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32)


def needed(path):
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    return {re.split(r"\.so", pathlib.Path(line.split()[0]).name)[0] for line in listed.splitlines() if line.strip()}


def main():
    more = needed(tool("tp-run")) - ALLOWED
    check(not more, f"tp-run needs {', '.join(sorted(more))} to start")

    folder = workspace(sys.argv[1])
    random = np.random.default_rng(0)
    x, w = random.normal(size=(24, 96)).astype(np.float32), random.normal(size=(40, 96)).astype(np.float32)
    inputs, outputs = folder / "in.safetensors", folder / "out.safetensors"
    save_safetensors(inputs, {"arg0": x, "arg1": w})
    wide = compiled(folder, "wide", PRODUCT.replace("xbf16", "xf32"))
    narrow = compiled(folder, "narrow", PRODUCT)
    sums = compiled(folder, "sums", "func.func @sums(%x: tensor<24x96xf32>) -> tensor<24x96xf32> {\n"
                    "  %y = tp.add %x, %x : (tensor<24x96xf32>, tensor<24x96xf32>) -> tensor<24x96xf32>\n"
                    "  return %y : tensor<24x96xf32>\n}\n")
    has_bf16 = "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()

    nowhere = {"COLROW_BLAS": "/nowhere/libblas.so", "COLROW_ONEDNN": "/nowhere/libdnnl.so"}
    refuse("tp-run", *arguments(wide, "product", inputs, outputs), leaves=[outputs], env=nowhere,
           says=["wide.plan: ", "COLROW_BLAS=/nowhere/libblas.so: cannot be loaded"])
    refuse("tp-run", *arguments(narrow, "product", inputs, outputs), leaves=[outputs], env=nowhere,
           says=["narrow.plan: ", f"{'COLROW_ONEDNN' if has_bf16 else 'COLROW_BLAS'}=/nowhere/"])
    save_safetensors(folder / "x.safetensors", {"arg0": x})
    succeed("tp-run", *arguments(sums, "sums", folder / "x.safetensors", outputs), env=nowhere)
    succeed("tp-run", "--help", env=nowhere)

    def run(plan, **env):
        succeed("tp-run", *arguments(plan, "product", inputs, outputs), env=env)
        return next(iter(load_safetensors(outputs).values()))

    exact = rounded(x).astype(np.float64) @ rounded(w).astype(np.float64).T
    found = {name: run(narrow, **env) for name, env in
             (("own", {}), ("converted", {"COLROW_ONEDNN": "none"}), ("older CPU", {"DNNL_MAX_CPU_ISA": "AVX2"}))}
    for name, array in found.items():
        off = np.abs(array - exact).max() / np.abs(exact).max()
        check(off < 2 ** -8, f"{name}: {off}")
        check(np.array_equal(array, rounded(array)), f"{name}: the result is not bf16")
    check(np.array_equal(found["older CPU"], found["converted"]), "oneDNN without bf16 is not left aside")
    check(np.array_equal(run(narrow), found["own"]), "two runs differ")
    off = np.abs(run(wide) - x.astype(np.float64) @ w.astype(np.float64).T).max()
    check(off < 1e-4, f"float32: {off}")


main()
