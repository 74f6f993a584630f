#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plots the loss curves of two reports in the terminal and says whether they are equal (to BOUND,
relative; 1e-5 unless given) and fall.

usage: compare_curves.py ONE.json TWO.json [BOUND]
"""
import json
import sys

ROWS, COLUMNS = 12, 64


def curve(path):
    return [step["loss"] for step in json.load(open(path))["steps"]]


def plot(one, two):
    """'o' where both curves are, '1' and '2' where only one is."""
    columns = min(COLUMNS, len(one))
    top, bottom = max(one + two), min(one + two)
    span = (top - bottom) or 1.0
    grid = [[" "] * columns for _ in range(ROWS)]
    for mark, values in (("1", one), ("2", two)):
        for column in range(columns):
            value = values[column * (len(values) - 1) // max(columns - 1, 1)]
            row = round((top - value) / span * (ROWS - 1))
            grid[row][column] = "o" if grid[row][column] != " " else mark
    for row, marks in enumerate(grid):
        print(f"{top - span * row / (ROWS - 1):8.3f} |{''.join(marks)}")
    print(" " * 9 + "+" + "-" * columns)
    print(f"{'':10}step 1{'':{max(columns - 12, 1)}}{len(one):>6}   o both, 1 only tp=1, 2 only tp=2")


def main():
    one, two = curve(sys.argv[1]), curve(sys.argv[2])
    if len(one) != len(two) or not one:
        sys.exit(f"compare_curves: {len(one)} and {len(two)} steps")
    bound = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-5
    plot(one, two)
    print(f"\n{'step':>6} {'tp=1':>12} {'tp=2':>12} {'apart':>9}")
    for i in sorted({0, *range(len(one) // 5 - 1, len(one), max(len(one) // 5, 1)), len(one) - 1}):
        print(f"{i + 1:>6} {one[i]:>12.7f} {two[i]:>12.7f} {abs(one[i] - two[i]) / one[i]:>9.1e}")
    apart = max(abs(a - b) / abs(a) for a, b in zip(one, two))
    tenth = max(len(one) // 10, 1)
    start, end = sum(one[:tenth]) / tenth, sum(one[-tenth:]) / tenth
    equal, falls = apart <= bound, end < start
    print(f"\nlargest relative difference {apart:.2e} ({'within' if equal else 'NOT within'} {bound:g}); "
          f"loss {'falls' if falls else 'does NOT fall'} from {start:.3f} to {end:.3f}")
    sys.exit(0 if equal and falls else 1)


if __name__ == "__main__":
    main()
