#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses and verifies the IR examples in the descriptions of ops, attributes and passes.

usage: check_descriptions.py FOLDER ...     every *.td below is read

Every block fenced with ```mlir in a .td file must be accepted by tp-opt. A block is a whole file, or ops
alone: values that it reads but does not define are made for it, with the types that the op which reads
them lists. What is no IR has a plain fence. All blocks go through one
tp-opt, so the time is that of their text.
"""
import os
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r" *```(\S*) *")
VALUE = r"%[\w.$-]+"
BUFFER = re.compile(rf"({VALUE})(?:\[[^\]]*\])? : (\w+)")
DEFINED = re.compile(rf"^\s*({VALUE}(?::\d+)?(?:, *{VALUE}(?::\d+)?)*) = |({VALUE}):(?!:)", re.M)
OP_START = re.compile(r"\n(?=\s*(?:%|[a-z_]+\.|return))")
ERROR = re.compile(r"^<stdin>:(\d+):\d+: error: (.*)$", re.M)


def blocks(page):
    """Yields (line of the fence, text) for each mlir block."""
    fence, language, lines = None, "", []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        match = FENCE.fullmatch(line)
        if not match:
            lines.append(line)
        elif fence is None:
            fence, language, lines = number, match[1], []
        else:
            if language == "mlir":
                yield fence, "\n".join(lines)
            fence = None
    if fence is not None:
        yield fence, "the fence is not closed"


def split_top(text):
    """Parts between the commas that stand in no bracket."""
    parts, depth = [""], 0
    for at, letter in enumerate(text):
        depth += letter in "<([{"
        depth -= letter in ")]}" or letter == ">" and text[at - 1] != "-"
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def operand_types(op):
    """{operand: type} of one op as written: operands in order, types behind its last ` : `; of a plan
    op each operand's elements behind it."""
    if op.split(" = ", 1)[-1].startswith("plan."):
        return {value: f"!plan.buffer<{element}>" for value, element in BUFFER.findall(op)}
    read = re.sub(r'"(\\.|[^"\\])*"', '""', op.split(" = ", 1)[-1])
    head, colon, types = read.rpartition(" : ")
    types = re.split(r"\s->\s", types)[0].strip()
    if types.startswith("(") and types.endswith(")"):
        types = types[1:-1]
    operands, types = re.findall(VALUE, head), split_top(types)
    return dict(zip(operands, types)) if colon and len(operands) == len(types) else {}


def complete(text):
    """The block with the values that it lacks, made before its first op; the number of that line, and
    how many were made, a line each."""
    code = re.sub(r"//.*", "", text)
    defined = {name for match in DEFINED.findall(code) for name in re.findall(VALUE, " ".join(match))}
    lacking = {}
    for op in OP_START.split(code):
        for operand, kind in operand_types(" ".join(op.split())).items():
            if operand not in defined and kind:
                lacking.setdefault(operand, kind)
    made = [f"{value} = builtin.unrealized_conversion_cast to {kind}" for value, kind in lacking.items()]
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip() and not re.match(r"\s*(#|!|//)", line)), 0)
    return "\n".join(lines[:first] + made + lines[first:]), first, len(made)


def main():
    pages = sorted(p for folder in sys.argv[1:] for p in pathlib.Path(folder).rglob("*.td"))
    examples, texts, at = [], [], 1  # at: line in the text that tp-opt gets
    for page in pages:
        for fence, block in blocks(page):
            text, first, made = complete(block)
            examples.append((at, page, fence, first, made))
            texts.append(text)
            at += text.count("\n") + 2
    done = subprocess.run(["tp-opt", "--split-input-file", "-o", os.devnull], input="\n// -----\n".join(texts),
                          capture_output=True, text=True, timeout=120)
    failed = set()
    for line, message in ERROR.findall(done.stderr):
        start, page, fence, first, made = [e for e in examples if e[0] <= int(line)][-1]
        offset = int(line) - start
        offset -= min(made, max(0, offset - first))
        failed.add((page, fence))
        print(f"{page}:{fence + 1 + offset}: {message}", file=sys.stderr)
    if done.returncode and not failed:
        print(done.stderr, file=sys.stderr)
    print(f"{len(examples)} examples parsed, {len(failed)} failed")
    return 1 if done.returncode or failed or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
