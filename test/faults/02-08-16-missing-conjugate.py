# RUN: %python %s %t %S
"""Faults 2, 8, 13 and 16: a change of layout left out, or doubled, cannot be written down. From a sharded
graph each tp.f, tp.g and tp.unslice is removed in turn, its uses reading what it read, then repeated
on its own result; every such graph is refused by a verifier, for the way in which an op is used."""
import pathlib
import re
import sys

import colrow
import equal

work, folder = colrow.workspace(sys.argv[1]), pathlib.Path(sys.argv[2])
TYPE = r"tensor<[^>]*>"
CHANGE = re.compile(rf"^ *(%\w+) = (tp\.(?:f|g|g_max|unslice)) (%\w+) over .* : ({TYPE}) -> ({TYPE})$")


def without(lines, number, value, source, kind):
    """The lines but one; uses of `value` read `source`, of type `kind`, instead."""
    changed = []
    for line in lines[:number] + lines[number + 1:]:
        if re.search(re.escape(value) + r"\b", line):
            head, types = line.rsplit(" : ", 1)
            operands = re.findall(r"%\w+", re.sub(r"\{.*\}", "", head).split(" = ")[-1])
            parts = re.split(f"({TYPE})", types)
            for place, operand in enumerate(operands):
                if operand == value:
                    parts[2 * place + 1] = kind
            line = re.sub(re.escape(value) + r"\b", source, head) + " : " + "".join(parts)
        changed.append(line)
    return changed


def refused(lines, what):
    graph = work / "changed.mlir"
    graph.write_text("\n".join(lines) + "\n")
    done = colrow.run("tp-opt", graph, "--tp-differentiate", "-o", work / "step.mlir")
    error = re.search(r"error: (.*)", done.stderr)
    colrow.check(done.returncode == 1 and error, f"{what}: accepted, with exit code {done.returncode}")
    colrow.check(re.search(r"cannot be used on axis|on axis \"tp\" it takes", error[1]),
                 f"{what}: refused for another reason: {error[1]}")
    print(f"{what}: {error[1]}")


for name in ("13-norm-weight-shared.mlir", "36-three-matmuls.mlir", "05-norm-inside-split-mlp.mlir"):
    sharded = work / name
    colrow.succeed("tp-opt", folder / name, f"--tp-shard=mesh=tp=2 topology={colrow.FLAT}",
                   "--tp-insert-conjugates", "-o", sharded)
    colrow.succeed("tp-opt", sharded, "--tp-differentiate", "-o", work / "step.mlir")
    lines = sharded.read_text().splitlines()
    changes = [(number, match) for number, line in enumerate(lines) if (match := CHANGE.match(line))]
    colrow.check(len(changes) >= 5, f"{name}: {len(changes)} changes of layout")
    for number, match in changes:
        value, op, source, before, after = match.groups()
        refused(without(lines, number, value, source, before), f"{name}: {op} {value} removed")
        again = lines[number].replace(f"{value} =", "%again =", 1)
        again = again.replace(f" {source} ", f" {value} ", 1).replace(f" : {before} ", f" : {after} ")
        refused(lines[:number + 1] + [again] + lines[number + 1:], f"{name}: {op} {value} doubled")
