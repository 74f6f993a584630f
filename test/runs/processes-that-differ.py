# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two processes of one run that would not compute the same are refused, with one line that says what differs, and
leave nothing: another plan, data, weights, checkpoint, option, library or code path of it. --allow-mixed-cpus lets
the libraries' difference pass, if all give it."""
import sys

import numpy as np

import by_hand
import colrow

TWO = """
func.func @first(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
func.func @second(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
"""
work = colrow.workspace(sys.argv[1])
here, there = work / "here", colrow.workspace(work / "there")
here.mkdir()
model = colrow.gpt2_config(work / "model")
plan = colrow.compile_plan(model, here / "step.plan", 2, 2, 8)
bf16 = colrow.compile_plan(model, here / "bf16.plan", 2, 2, 8, "--dtype", "bf16")
(here / "two.mlir").write_text(TWO)
two = here / "two.plan"
colrow.succeed("tp-compile", here / "two.mlir", "--function", "--mesh", "tp=2", "--topology", colrow.FLAT, "-o", two)
colrow.compile_plan(model, there / "step.plan", 2, 2, 8, "--weight-decay", 0.5)
tokens = colrow.random_tokens(here / "tokens.bin", 4000, 64)
random = colrow.random_tokens(there / "tokens.bin", 4000, 64, seed=1)
# One token, of step 47, between the places by which files are told apart at start.
labels = np.random.default_rng(0).integers(0, 64, (4000, 8))
ids = labels.copy()
ids[93, 0] ^= 1
for folder, rows in ((here, labels), (there, ids)):
    colrow.save_safetensors(folder / "rows.safetensors", {"input_ids": rows, "labels": labels})
for folder, seed, steps in (("here", 1, 2), ("there", 2, 2), ("later", 1, 3)):
    colrow.succeed("tp-run", "train", plan, "--seed", seed, "--data", tokens, "--steps", steps, "--save", work / folder / "run")
DATA = ("--data", tokens)
SEED = ("--seed", 1)
MIXED = ("--allow-mixed-cpus",)
# OpenBLAS may have been told its code path for all of the tests.
PATH, OTHER_PATH = {"OPENBLAS_CORETYPE": "Haswell"}, {"OPENBLAS_CORETYPE": "Sandybridge"}


def pair(verb, arguments, each, environments=({}, {})):
    """Both processes: exit codes, output of process 0, all messages."""
    port = by_hand.free_port()
    own = [{**by_hand.environment(rank, 2, port), **environments[rank]} for rank in range(2)]
    codes, outs, errors = by_hand.together(own, verb, *arguments, "--limit", 20, each=each)
    return codes, outs[0], errors


def refuse(what, arguments, each=((), ()), says=(), environments=({}, {}), verb="train", steps=3):
    more = ("--steps", steps, "--save", work / "left") if verb == "train" else ("--outputs", work / "left")
    codes, _, errors = pair(verb, (*arguments, *more), each, environments)
    colrow.check(codes == [1, 1] and errors.count("\n") == 1, f"{what}: exit codes {codes}: {errors}")
    for word in ("do not run the same", "process 0", "process 1", *says):
        colrow.check(word in errors, f"{what}: the message does not say {word!r}: {errors}")
    colrow.check(not (work / "left").exists(), f"{what}: left something")
    print(f"refused as wanted: {errors}", end="")


def pass_mixed(what, arguments, environments):
    codes, out, errors = pair("train", (*arguments, "--steps", 3, *MIXED), ((), ()), environments)
    colrow.check(codes == [0, 0] and not errors and "step 3" in out, f"{what}: exit codes {codes}: {errors}")


refuse("plan", (*SEED, *DATA), ((plan,), (there / "step.plan",)), ("the plan",))
refuse("data", (plan, *SEED), (DATA, ("--data", random)), ("the contents of --data",))
refuse("a token", (plan, *SEED), (("--data", here / "rows.safetensors"), ("--data", there / "rows.safetensors")),
       ("the input of step 47 ",), steps=60)
refuse("weights", (plan, *DATA), (("--weights", here / "run"), ("--weights", there / "run")), ("the contents of --weights",))
for folder in (there, work / "later"):
    refuse("checkpoint", (plan, *DATA), (("--resume", here / "run"), ("--resume", folder / "run")), ("--resume", "step 2"))
for option, values in (("--lr", (0.1, 0.2)), ("--seed", (1, 2)), ("--save-every", (1, 2))):
    refuse(option, (plan, "--seed", 1, *DATA) if option != "--seed" else (plan, *DATA),
           ((option, values[0]), (option, values[1])), (option,))
for option in ("--overwrite", "--allow-mixed-cpus", "--split-last-axis"):
    refuse(option, (plan, *SEED, *DATA), ((), (option,)), (option, "not given"))

for folder, value in ((here, 1), (there, 2)):
    colrow.save_safetensors(folder / "x.safetensors", {"x": np.full((2, 3), value, np.float32),
                                                       "arg0": np.full((2, 3), value, np.float32)})
first = ("--program", "first", "--inputs", here / "x.safetensors")
refuse("program", (two,), (first, ("--program", "second", *first[2:])), ("--program",), verb="function")
refuse("inputs", (two,), (first, (*first[:2], "--inputs", there / "x.safetensors")), ("the input of step 1",), verb="function")

refuse("code path", (plan, *SEED, *DATA), ((), ()), ("OpenBLAS", "Haswell", "Sandybridge", MIXED[0]), (PATH, OTHER_PATH))
pass_mixed("code path", (plan, *SEED, *DATA), (PATH, OTHER_PATH))
# On a CPU without AVX512_BF16 oneDNN is not used, so another path of BLAS has to differ beside it.
none = {**OTHER_PATH, "COLROW_ONEDNN": "none"}
refuse("library", (bf16, *SEED, *DATA), ((), ()), ("what computes", "bf16 converted to float32", MIXED[0]), (PATH, none))
pass_mixed("library", (bf16, *SEED, *DATA), (PATH, none))

# What all write: one file, whatever its path, and in no case another one of the user's.
outputs = colrow.compile_plan(model, work / "outputs.plan", 2, 2, 8, "--outputs", "gradients")
(work / "alias").symlink_to(here)
other, null = work / "other.txt", here / "other.txt"
null.symlink_to("/dev/null")
TRAIN, FUNCTION = ("train", outputs, *SEED, *DATA, "--steps", 1), ("function", two, *first)
for option, command in (("--trace", TRAIN), ("--dump-outputs", TRAIN), ("--outputs", FUNCTION)):
    for what, names in (("a device and a file", ("/dev/null", other)), ("a file and a device", (other, "/dev/null")),
                        ("a device by the file's name", (null, other)), ("two names", (here / "a.out", here / "b.out")),
                        ("two folders", (here / "a.out", there / "a.out"))):
        other.write_text("mine")
        codes, _, errors = pair(command[0], command[1:], [(option, name) for name in names])
        said = all(str(name) in errors for name in (option, *names, "process 1 of 2"))
        colrow.check(codes == [1, 1] and errors.count("\n") == 1 and said, f"{option}: {what}: {codes}, {errors}")
        colrow.check(other.read_text() == "mine", f"{option}: {what}: a file was written over")
        colrow.check(not list(work.rglob("*.out*")) and not list(work.rglob("*.tmp-*")), f"{what}: left something")
    codes, _, errors = pair(command[0], command[1:], [(option, work / name / "c.out") for name in ("here", "alias")])
    colrow.check(codes == [0, 0] and (here / "c.out").stat().st_size > 0, f"{option}: one file: {codes}, {errors}")
    (here / "c.out").unlink()
