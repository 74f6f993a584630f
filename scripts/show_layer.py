#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the second layer of a sharded graph so that it fits a terminal: parameters are left out, and
types are cut to shape and layout.

usage: show_layer.py GRAPH.mlir [WIDTH]

The second layer: from the norm before the third tp.f to what follows the tp.g after the fourth. In
another layout than Megatron's there may be more or fewer of them, and then the lines are others.
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
    first = next(i for i in range(fs[2], 0, -1) if "_norm" in lines[i] or is_g[i])
    last = next(g for g in gs if g > fs[3])
    for i in range(first, min(last + 4, len(lines))):
        if "tp.param " not in lines[i]:
            print(("▶ " if is_f[i] or is_g[i] else "  ") + shorten(lines[i], width - 2))
    print("  (#r replicated, #c copied, #p partial sums, #s split; each name says the rank and the dimension)")


def shorten(line, width):
    line = re.sub(r" \{[^{}]*\}(?= :)", "", re.sub(r" loc\(.*$", "", line)).strip()
    line = re.sub(r"tensor<([0-9x]*)xf32, (#\w+)>", r"\1 \2", line)
    return line if len(line) <= width else line[:width - 1] + "…"


if __name__ == "__main__":
    main()
