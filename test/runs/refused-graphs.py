# RUN: %python %s %t
"""Graphs that are no training step end with one line, never with a crash, and leave no plan: functions
without a body or with phases of their own, ids that no draw can be keyed by, losses whose gradient would
have to be left out."""
import sys

import colrow

work = colrow.workspace(sys.argv[1])
GRAPH = """
module {
  tp.parameter @table : tensor<32x16xf32> {id = ID : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @step(%ids: tensor<2x8xi32> {tp.role = "ids"}, %labels: tensor<2x9xi32> {tp.role = "labels"})
      -> (tensor<f32> {tp.role = "loss"}) {
    %table = tp.param @table : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %x, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %next = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %next : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean LOSS : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
"""
NO_BODY = "func.func private @step(tensor<2x8xi32>)\n"
PHASES = "func.func @step() {\n  tp.next ^second\n^second:\n  return\n}\n"


def graph(number="0", loss="%sum, %count"):
    return GRAPH.replace("ID", number).replace("LOSS", loss)


def write(name, text):
    path = work / f"{name}.mlir"
    path.write_text(text)
    return path


colrow.succeed("tp-compile", write("right", graph()), "-o", work / "right.plan")
# Deeper than the parser's stack; what stands in strings and comments does not count.
for name, text in (("modules", "module {" * 30000), ("lists", "#a = [" + "[" * 100000),
                   ("types", "func.func private @f(" + "tuple<" * 100000)):
    colrow.refuse("tp-compile", write(name, text), "-o", work / "deep.plan", says=("nested deeper",))
text = graph().replace("module {", 'module attributes {tp.model_type = "\\22(' + "[" * 2000 + '"} { // {' + "(" * 2000)
colrow.succeed("tp-compile", write("strings", text), "-o", work / "right.plan")
for name, text, *says in (
        ("no-body", NO_BODY, "has no body"),
        ("phases", PHASES, "ends a phase; a graph is forward only"),
        ("id-1", graph(number="-1"), "'tp.parameter' op attribute 'id'", "from 0 to 4294967295"),
        ("id-2", graph(number="-2"), "'tp.parameter' op attribute 'id'", "from 0 to 4294967295"),
        ("id-cut", graph(number="4294967296"), "'tp.parameter' op attribute 'id'", "from 0 to 4294967295"),
        ("count", graph(loss="%count, %sum"), "'tp.mean' op has no gradient of its result 0 in its operand 1"),
        ("sums", graph(loss="%sum, %sum"), "'tp.mean' op has no gradient of its result 0 in its operand 1")):
    for tp in (1, 2):
        plan = work / f"{name}-{tp}.plan"
        colrow.refuse("tp-compile", write(name, text), "--mesh", f"tp={tp}", "-o", plan, says=says, leaves=[plan])
