#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples in the pages of docs/ and compares what they show with what the tools print.

A comment before a fenced block says what the block is:

  <!-- input NAME -->                   an input for other blocks
  <!-- check [NAME]: tp-opt ARGS -->    an input; the command must accept it
  <!-- output [NAME] -->                lines that the last command printed, in this order
  <!-- output [NAME]: tp-opt ARGS -->   the same, after another run on that input
  <!-- error [NAME]: tp-opt ARGS -->    the same, for a command that must fail

NAME names an input, which other pages may use; without one the page's last input is meant.
In lines that are compared, `...` stands for anything and white space does not count.
"""
import pathlib
import re
import shlex
import subprocess
import sys

DIRECTIVE = re.compile(r"<!-- (input|check|output|error)(?: ([\w-]+))?(?:: (.+?))? -->")


def blocks(page):
    """Yields (line number, directive match, text) for each fenced block that a directive precedes."""
    directive, fence, lines = None, None, []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if fence is not None:
            if line.startswith("```"):
                if directive:
                    yield fence, directive, "\n".join(lines)
                directive, fence, lines = None, None, []
            else:
                lines.append(line)
        elif line.startswith("```"):
            fence = number
        elif match := DIRECTIVE.fullmatch(line.strip()):
            directive = match
        elif line.strip():
            directive = None


def run(command, text):
    """Exit code, and what was printed: on stdout, or on stderr where it failed."""
    result = subprocess.run(
        shlex.split(command), input=text, capture_output=True, text=True, timeout=120
    )
    return result.returncode, result.stderr if result.returncode else result.stdout


def first_missing(shown, printed):
    """The first line of `shown` that does not follow in `printed`, or None."""
    lines = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in filter(None, (" ".join(line.split()) for line in shown.splitlines())):
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))))
        if line != "..." and not any(pattern.search(found) for found in lines):
            return line
    return None


class Checker:
    def __init__(self, pages):
        self.pages = pages
        self.named = {}
        self.checked = 0
        self.failures = []
        for page in pages:
            for _, directive, text in blocks(page):
                if directive[1] in ("input", "check") and directive[2]:
                    self.named[directive[2]] = (text, directive[3])

    def page(self, page):
        current = printed = None
        for number, directive, text in blocks(page):
            kind, name, command = directive.groups()
            if kind in ("input", "check"):
                current = text
            elif name:
                if name not in self.named:
                    self.failures.append(f"{page}:{number}: no input is called {name}")
                    continue
                current = self.named[name][0]
                command = command or self.named[name][1]
            if command:
                code, printed = run(command, current)
                if bool(code) != (kind == "error"):
                    self.failures.append(f"{page}:{number}: {command}: exit code {code}\n{printed}")
                    continue
            if kind == "input":
                continue
            self.checked += 1
            missing = None if kind == "check" else first_missing(text, printed)
            if missing:
                self.failures.append(f"{page}:{number}: not printed in this place: {missing}\n{printed}")

    def run(self):
        for page in self.pages:
            self.page(page)
        for failure in self.failures:
            print(failure, file=sys.stderr)
        print(f"{self.checked} examples checked, {len(self.failures)} failed")
        return 1 if self.failures or not self.checked else 0


if __name__ == "__main__":
    sys.exit(Checker(sorted(pathlib.Path(sys.argv[1]).glob("*.md"))).run())
