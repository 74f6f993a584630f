# RUN: %python %s %t
"""What is written in place and what is not. A symbol's value is that of the start of the step, wherever its
tp.param stands and however late it is read: before the update, between the new value and the update, and
behind it. A summand that is read beside its all-reduce stays a summand, also through a reshape. Each is
compared to the bit with a copy made before anything could be overwritten."""
import re
import sys

import colrow

work = colrow.workspace(sys.argv[1])
GRAPH = """
module attributes {tp.model_type = "graph"} {
  tp.parameter @wte : tensor<32x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @w : tensor<16x16xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
  tp.parameter @b : tensor<16xf32> {id = 2 : i64, init = #tp.init<normal 0.0, 0.5>}
  func.func @main(%ids: tensor<2x8xi32> {tp.role = "ids"}, %labels: tensor<2x9xi32> {tp.role = "labels"})
      -> (tensor<f32> {tp.role = "loss"}, tensor<16xf32> {tp.role = "start"}) {
    %table = tp.param @wte : tensor<32x16xf32>
    %x = tp.embedding %ids, %table : (tensor<2x8xi32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    %w = tp.param @w : tensor<16x16xf32>
    %y = tp.matmul %x, %w : (tensor<2x8x16xf32>, tensor<16x16xf32>) -> tensor<2x8x16xf32>
    %b = tp.param @b : tensor<16xf32>
    %z = tp.add %y, %b : (tensor<2x8x16xf32>, tensor<16xf32>) -> tensor<2x8x16xf32>
    %g = tp.gelu %z {tanh} : (tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %r = tp.add %x, %g : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> tensor<2x8x16xf32>
    %logits = tp.matmul %r, %table : (tensor<2x8x16xf32>, tensor<32x16xf32>) -> tensor<2x8x32xf32>
    %next = tp.shift_labels %labels : (tensor<2x9xi32>) -> tensor<2x8xi32>
    %sum, %count = tp.cross_entropy %logits, %next : (tensor<2x8x32xf32>, tensor<2x8xi32>) -> (tensor<f32>, tensor<f32>)
    %loss = tp.mean %sum, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %loss, %b : tensor<f32>, tensor<16xf32>
  }
}
"""
data = colrow.random_tokens(work / "tokens.bin", 400, 32)


def run(name, lines):
    """The first step's outputs, and the losses of three steps."""
    step, plan, dump = work / f"{name}.mlir", work / f"{name}.plan", work / f"{name}.safetensors"
    step.write_text("\n".join(lines) + "\n")
    colrow.succeed("tp-opt", step, "--tp-fuse", "--lower-to-plan", "--plan-place", "--plan-compile-kernels",
                   "--plan-verify", f"--plan-write=output={plan}", "-o", work / "plan.mlir")
    report = colrow.train(plan, "--data", data, "--seed", 1, "--steps", 3, "--lr", 0.1, "--dump-outputs", dump)
    return colrow.load_safetensors(dump), colrow.losses(report)


def only(lines, pattern):
    found = [(n, m) for n, line in enumerate(lines) if (m := re.search(pattern, line))]
    colrow.check(len(found) == 1, f"{len(found)} places of {pattern}")
    return found[0]


graph = work / "graph.mlir"
graph.write_text(GRAPH)
local = colrow.succeed("tp-opt", graph, "--tp-shard=mesh=tp=2 pin=wte=0:tp",
                       "--tp-insert-conjugates", "--tp-differentiate", "--tp-optimize",
                       "--tp-partition").stdout.splitlines()

# A parameter read late.
_, b = only(local, r"(%\S+) = tp\.param @b :")
made, new = only(local, rf"(%\S+), .* = tp\.adamw {re.escape(b[1])},")
update, _ = only(local, r"tp\.update @b,")


def reads(value, name):
    return [f"%{name} = tp.scale {value} {{factor = 2.0 : f64}} : (tensor<16xf32>) -> tensor<16xf32>",
            f'tp.output "{name}", %{name} : tensor<16xf32>']


again = ["%read = tp.param @b : tensor<16xf32>"]
lines = (local[:made] + reads(b[1], "before") + local[made:update] + reads(b[1], "between") + local[update:update + 1]
         + reads(b[1], "behind") + again + reads("%read", "again") + reads(new[1], "new") + local[update + 1:])
outputs, losses = run("late", lines)
for name in ("before", "between", "behind", "again"):
    colrow.check((outputs[name] == 2 * outputs["start"]).all(), f"{name}: {outputs[name]}, start {outputs['start']}")
colrow.check((outputs["new"] != 2 * outputs["start"]).all(), "the update changes every element")
colrow.check(losses == run("plain", local)[1], "reading changes nothing")

# A summand read raw beside its sum.
_, looked_up = only(local, r"(%\S+) = tp\.embedding ")
at, sum_ = only(local, rf"(%\S+) = tp\.all_reduce ({re.escape(looked_up[1])}) ")
residual, _ = only(local, rf"tp\.add {re.escape(sum_[1])}, ")


def raw(summand):
    """The residual adds `summand` in place of the sum."""
    return [line.replace(sum_[1], summand, 1) if n == residual else line for n, line in enumerate(local)]


shape = "tensor<2x8x16xf32>"
copy = [f"%copy = tp.scale {sum_[2]} {{factor = 1.0 : f64}} : ({shape}) -> {shape}"]
kept = raw("%copy")
wanted = run("copied", kept[:at] + copy + kept[at:])[1]
colrow.check(wanted != losses, "a summand is not the sum")
colrow.check(run("raw", raw(sum_[2]))[1] == wanted, "the summand was overwritten by its sum")
flat = "tensor<16x16xf32>"
through = [f"%flat = tp.reshape {sum_[2]} : ({shape}) -> {flat}",
           f'%whole = tp.all_reduce %flat over ["tp"] : {flat} -> {flat}',
           f"{sum_[1]} = tp.reshape %whole : ({flat}) -> {shape}"]
reshaped = raw(sum_[2])
colrow.check(run("reshaped", reshaped[:at] + through + reshaped[at + 1:])[1] == wanted,
             "the summand was overwritten through a reshape")
