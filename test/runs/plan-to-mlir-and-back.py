# RUN: %python %s %cases %t
"""The plan file of every reference case, shown as IR and written again, is the same to the byte; the IR
passes plan-verify, and says the same in the generic form."""
import pathlib
import re
import sys

import colrow

cases = pathlib.Path(sys.argv[1])
work = colrow.workspace(sys.argv[2])

count = 0
for case, tp in sorted(re.fullmatch(r"(.*)-tp(\d+)", p.stem).groups() for p in cases.glob("*-tp*.test")):
    plan, ir, again = work / f"{case}-{tp}.plan", work / f"{case}-{tp}.mlir", work / f"{case}-{tp}-again.plan"
    colrow.compile_plan(cases / case, plan, tp, 2, 16, "--clip-grad-norm", 1, "--outputs", "gradients,logits")
    colrow.succeed("tp-translate", "--plan-to-mlir", plan, "-o", ir)
    colrow.succeed("tp-translate", "--mlir-to-plan", ir, "-o", again)
    colrow.check(plan.read_bytes() == again.read_bytes(), f"{case} at tp={tp}: another file")
    count += 1
generic = work / "generic.mlir"
colrow.succeed("tp-opt", ir, "--plan-verify", "--mlir-print-op-generic", "-o", generic)
colrow.succeed("tp-translate", "--mlir-to-plan", generic, "-o", again)
colrow.check(plan.read_bytes() == again.read_bytes(), "the generic form makes another file")
colrow.check(count >= 11, f"only {count} cases")
