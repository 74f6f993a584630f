# RUN: %python %s %t
"""Options of tp-compile that no step can have: numbers of the optimizer out of range, infinite or none,
outputs and targets that do not exist, options that are for the other kind of model. One line each, before
anything is written."""
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


def refused(says, *arguments):
    colrow.refuse("tp-compile", *arguments, says=(says,), leaves=(plan,))


# Sizes: of a folder both, of a graph none.
plan.unlink()
graph = work / "graph.mlir"
colrow.succeed("tp-import", model, "--batch", 2, "--seq", 8, "-o", graph)
for sizes in ((), ("--batch", 2), ("--seq", 8), ("--batch", 0, "--seq", 8), ("--batch", 2, "--seq", 0),
              ("--batch", -1, "--seq", 8), ("--batch", 2, "--seq", -8)):
    refused("a model folder needs --batch and --seq, both at least 1", model, *sizes, "-o", plan)
for sizes in (("--batch", 2), ("--seq", 8), ("--batch", 2, "--seq", 8)):
    refused("--batch and --seq are for model folders", graph, *sizes, "-o", plan)
# Gradients are summed in bf16 where there is bf16, and there are gradients.
for value in ("f16", "", "BF16"):
    refused(f"--grad-reduce {value}: wanted f32 or bf16", model, "--batch", 2, "--seq", 8, "--dtype", "bf16",
            f"--grad-reduce={value}", "-o", plan)
refused("--grad-reduce bf16 without --dtype bf16", model, "--batch", 2, "--seq", 8, "--grad-reduce", "bf16", "-o",
        plan)
# What a function has not, and a graph without logits.
refused("--function with --clip-grad-norm", graph, "--function", "--clip-grad-norm", 1, "-o", plan)
refused("--function with --grad-reduce bf16", graph, "--function", "--dtype", "bf16", "--grad-reduce", "bf16", "-o", plan)
refused("--function with --outputs", graph, "--function", "--outputs", "gradients", "-o", plan)
none = work / "none.mlir"
none.write_text(graph.read_text().replace('"logits"', '"scores"'))
refused("--outputs logits: no result of the graph has the role", none, "--outputs", "logits", "-o", plan)
colrow.succeed("tp-compile", graph, "--outputs", "logits", "-o", plan)
plan.unlink()
refused("-o takes a step.plan, not ''", graph, "-o", "")
refused("graph.mlir: is also the model", graph, "-o", graph)
refused("nowhere", work / "nowhere.mlir", "-o", plan)
topology = work / "machine.yaml"
topology.write_text(colrow.FLAT.read_text())
refused("is also --topology", graph, "--topology", topology, "-o", topology)
broken = work / "broken.mlir"
broken.write_text("module {\n  func.func @f(\n}\n")
refused(f"{broken}:2:16: ", broken, "-o", plan)
# A wrong command line is another exit code, and one that names the option.
for arguments in ((graph,), ("-o", plan), (graph, "--nonsense", "-o", plan), (graph, "--eps=x", "-o", plan)):
    done = colrow.run("tp-compile", *arguments)
    colrow.check(done.returncode == 2 and done.stderr.startswith("tp-compile: ") and not plan.exists(),
                 f"{arguments}: exit code {done.returncode}: {done.stderr}")
