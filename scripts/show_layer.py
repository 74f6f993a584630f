#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints one layer of a sharded graph, cut to the terminal's width.

usage: show_layer.py GRAPH.mlir [WIDTH]

A layer is what lies between one residual sum's tp.g and the next but one: a layer has two tp.g, so
the lines after the second tp.g of the forward function up to the fourth are the second layer
(the embedding's own tp.g, if it has one, shifts that by one and shows as well).
"""
import re
import sys


def main():
    lines = open(sys.argv[1]).read().splitlines()
    width = int(sys.argv[2]) if len(sys.argv) > 2 else 110
    is_g = [bool(re.search(r"\btp\.g\b", line)) for line in lines]
    is_f = [bool(re.search(r"\btp\.f\b", line)) for line in lines]
    gs = [i for i, g in enumerate(is_g) if g]
    fs = [i for i, f in enumerate(is_f) if f]
    if len(gs) < 4 or len(fs) < 4:
        sys.exit(f"show_layer: {sys.argv[1]} has {len(fs)} tp.f and {len(gs)} tp.g; "
                 "wanted two of each a layer")
    # The third f enters the second layer's attention; the fourth its MLP.
    first = max((g for g in gs if g < fs[2]), default=fs[2] - 3)
    last = next(g for g in gs if g > fs[3])
    for i in range(first + 1, min(last + 2, len(lines))):
        line = re.sub(r" loc\(.*$", "", lines[i])
        line = line if len(line) <= width - 2 else line[:width - 3] + "…"
        print(("▶ " if is_f[i] or is_g[i] else "  ") + line.replace("    ", "", 1))


if __name__ == "__main__":
    main()
