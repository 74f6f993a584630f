# RUN: %python %s %t
"""A run that stops and resumes gives the losses and weights of one that did not, to the bit."""
import sys

import colrow

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 3000, 64)
SEED = (1 << 40) + 5  # all of its bits count
model = colrow.gpt2_config(work / "model", attn_pdrop=0.1, embd_pdrop=0.1, resid_pdrop=0.1)
for tp in (1, 2):
    plan = colrow.compile_plan(model, work / f"{tp}.plan", tp, 4, 16)
    common = ("--data", data, "--lr", 1e-3)
    whole = colrow.train(plan, "--seed", SEED, *common, "--steps", 6, "--save", work / f"whole{tp}")
    first = colrow.train(plan, "--seed", SEED, *common, "--steps", 3, "--save", work / f"half{tp}")
    rest = colrow.train(plan, "--resume", work / f"half{tp}", *common, "--steps", 6,
                        "--save", work / f"half{tp}")
    colrow.check(colrow.losses(first) == colrow.losses(whole)[:3], f"tp={tp}: the first steps differ")
    colrow.check(colrow.losses(rest)[-3:] == colrow.losses(whole)[3:],
                 f"tp={tp}: resumed {colrow.losses(rest)}, uninterrupted {colrow.losses(whole)}")
    a = colrow.load_safetensors(work / f"whole{tp}" / "model.safetensors")
    b = colrow.load_safetensors(work / f"half{tp}" / "model.safetensors")
    colrow.check(all(a[n].tobytes() == b[n].tobytes() for n in a), f"tp={tp}: saved weights differ")

# The optimizer state is cut up as the plan's parameters are: another mesh is refused for now.
line = colrow.refuse("tp-run", "train", work / "1.plan", "--resume", work / "half2", "--data", data,
                     "--steps", 8, "--lr", 1e-3, "--report", work / "never.json", says=("resum",),
                     leaves=(work / "never.json",))
colrow.check("2" in line and "1" in line, "the message names neither mesh")
