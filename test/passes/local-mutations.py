# RUN: %python %s %t
"""After tp-partition types tell nothing of layouts any more, yet tp-verify-phase refuses a step in which
a collective, a position, a mask's value, an output or an update was taken out, doubled or changed: each
one of a GPT's, with a padded vocabulary, padded heads and dropout, in turn."""
import re
import sys

import colrow

work = colrow.workspace(sys.argv[1])
FILL = {"with 0.000000e+00": "with 0xFFF0000000000000", "with 0xFFF0000000000000": "with 0.000000e+00"}


def local_step():
    folder = colrow.gpt2_config(work / "gpt2", vocab_size=33, n_embd=30, n_head=3, n_layer=1, attn_pdrop=0.1,
                                embd_pdrop=0.1, resid_pdrop=0.1)
    graph, step = work / "graph.mlir", work / "local.mlir"
    colrow.succeed("tp-import", folder, "--batch", 2, "--seq", 8, "-o", graph)
    colrow.succeed("tp-opt", graph, f"--tp-shard=mesh=tp=2 topology={colrow.FLAT} pin=transformer.wte.weight=0:tp",
                   "--tp-insert-conjugates", "--tp-differentiate", "--tp-optimize", "--tp-partition",
                   "--tp-verify-phase=phase=local", "-o", step)
    return step.read_text().splitlines()


def refused(lines, what, *says):
    changed = work / "changed.mlir"
    changed.write_text("\n".join(lines) + "\n")
    done = colrow.run("tp-opt", changed, "--mlir-print-op-on-diagnostic=false", "--tp-verify-phase=phase=local",
                      "-o", work / "out.mlir")
    errors = re.findall(r"error: (.*)", done.stderr)
    colrow.check(done.returncode == 1 and len(errors) == 1,
                 f"{what}: exit code {done.returncode}, {len(errors)} errors: {done.stderr}")
    colrow.check(any(s in errors[0] for s in says), f"{what}: refused for another reason: {errors[0]}")


def places(lines, pattern, at_least):
    found = [(n, m) for n, line in enumerate(lines) if (m := re.search(pattern, line))]
    colrow.check(len(found) >= at_least, f"{len(found)} places of {pattern}, wanted {at_least}")
    print(f"{len(found):3} x {pattern}")
    return found


def instead(lines, number, value, source):
    """The lines without one; uses of its value read `source` instead."""
    use = re.compile(re.escape(value) + r"\b")
    return [use.sub(source, line) for line in lines[:number] + lines[number + 1:]]


lines = local_step()
states = ("cannot be used", "is a collective missing or one too many")
for n, m in places(lines, r"(%\w+) = tp\.all_reduce (%\w+) ", 8):
    refused(instead(lines, n, m[1], m[2]), f"removed: {lines[n]}", *states)
    again = lines[n].replace(f"{m[1]} =", "%again =", 1).replace(f" {m[2]} ", f" {m[1]} ", 1)
    later = [re.sub(re.escape(m[1]) + r"\b", "%again", line) for line in lines[n + 1:]]
    refused(lines[:n + 1] + [again] + later, f"doubled: {lines[n]}", *states)
    swapped = (lines[n].replace("reduction<max>", "reduction<sum>") if "reduction<max>" in lines[n]
               else re.sub(r'over \["tp"\] (\{)?', r'over ["tp"] {reduction = #tp.reduction<max>, ', lines[n]))
    refused(lines[:n] + [swapped] + lines[n + 1:], f"sum and max: {lines[n]}", *states)
for n, m in places(lines, r"tp\.(embedding|embedding_grad|pick|pick_grad|attention|attention_grad) .*layout = #\w+", 6):
    bare = re.sub(r"layout = #\w+(, )?", "", lines[n])
    refused(lines[:n] + [bare] + lines[n + 1:], f"no position: {lines[n]}", "has no layout attribute", *states)
for n, m in places(lines, r"tp\.mask_padding .*(with \S+)", 3):
    refused(lines[:n] + [lines[n].replace(m[1], FILL[m[1]])] + lines[n + 1:], f"another fill: {lines[n]}",
            "sets padding to")
for n, m in places(lines, r'tp\.output "(loss|grad_norm)"', 2):
    refused(lines[:n] + lines[n + 1:], f"removed: {lines[n]}", f'has an optimizer, but no tp.output "{m[1]}"')
    refused(lines[:n + 1] + lines[n:], f"doubled: {lines[n]}", "lets a second value leave")
for n, m in places(lines, r"tp\.update @([\w.]+)", 30):
    refused(lines[:n] + lines[n + 1:], f"removed: {lines[n]}", "is kept for training, but no tp.update sets @")
    refused(lines[:n + 1] + lines[n:], f"doubled: {lines[n]}", "a second time")
