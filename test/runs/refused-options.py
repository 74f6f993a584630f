# RUN: %python %s %t
"""Options of tp-compile that no step can have: numbers of the optimizer out of range, infinite or none,
outputs and targets that do not exist. One line each, before anything is written."""
import sys

import colrow

work = colrow.workspace(sys.argv[1])
model = colrow.gpt2_config(work / "model")
plan = work / "step.plan"
DECAYS = ("--beta1", "--beta2", "[0, 1)")
RATES = ("--eps", "--weight-decay", "--clip-grad-norm", "positive", "finite")
for option, values, says in (("--beta1", (1, 1.5, -0.25, "nan"), DECAYS), ("--beta2", (1, -1, "inf", "nan"), DECAYS),
                             ("--eps", (0, -1, "inf", "nan", 1e31), RATES),
                             ("--weight-decay", (-0.5, "inf", "nan"), RATES),
                             ("--clip-grad-norm", (-1, "inf", "nan"), RATES),
                             ("--outputs", ("logit", "gradients,loss"), ("--outputs", "gradients, logits")),
                             ("--target", ("cuda",), ("--target cuda", "cpu"))):
    for value in values:
        colrow.refuse("tp-compile", model, "--batch", 2, "--seq", 8, f"{option}={value}", "-o", plan, says=says,
                      leaves=(plan,))
# The ends of the ranges are inside.
colrow.succeed("tp-compile", model, "--batch", 2, "--seq", 8, "--beta1=0", "--beta2=0", "--weight-decay=0",
               "--clip-grad-norm=0", "--eps=1e30", "-o", plan)
