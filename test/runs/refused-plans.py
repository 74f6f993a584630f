# RUN: %python %s %test_source/passes %t
"""Plan files that are wrong: each plan of test/passes/plan-verify-*.mlir, translated to a file without
being verified, is refused by tp-run in one line that names file, program, instruction and fault as
plan-verify does."""
import pathlib
import re
import sys

import colrow

passes = pathlib.Path(sys.argv[1])
work = colrow.workspace(sys.argv[2])
MESSAGE = re.compile(r"expected-error@\+1 {{'(\S+)' op (.*)}}")

count = 0
for page in sorted(passes.glob("plan-verify-*.mlir")):
    for text in page.read_text().split("// -----\n"):
        found = MESSAGE.search(text)
        colrow.check(found, f"{page}: a plan without an error:\n{text}")
        program = re.search(r'plan\.program "(\w+)"', text)[1]
        source, plan = work / f"{program}.mlir", work / f"{program}.plan"
        source.write_text(text)
        colrow.succeed("tp-translate", "--mlir-to-plan", source, "-o", plan)
        blamed = text[found.end():].strip().splitlines()[0]
        name = re.search(r'"(\w+)"(?: {)?$', blamed)
        where = () if found[1] == "plan.program" else ("instruction", *(name.groups() if name else ()))
        says = (plan.name, program, found[2], *where)
        outputs = work / "outputs.safetensors"
        colrow.refuse("tp-run", "function", plan, "--outputs", outputs, says=says, leaves=(outputs,))
        colrow.refuse("tp-translate", "--plan-to-mlir", plan, says=says)
        count += 1
colrow.check(count > 20, f"only {count} plans")
