# RUN: %python %s %t
"""Faults 20 and 31: padded vocabulary rows neither enter the softmax nor a checkpoint, in a long run
too; what one mesh saved loads on another to the bit."""
import sys

import colrow
import ranks

work = colrow.workspace(sys.argv[1])
data = colrow.random_tokens(work / "tokens.bin", 2000, 33)
model = ranks.t0(work / "long", vocab_size=33)
one = ranks.train(work, model, 1, steps=100, data=data)
for tp in (2, 4):
    found = ranks.train(work, model, tp, steps=100, data=data,
                        options=("--pin", "transformer.wte.weight=0:tp"))
    apart = colrow.relative(found.losses, one.losses)
    colrow.check(apart <= 2e-5, f"tp={tp}: losses apart by {apart:.1e} within 100 steps")

for vocabulary in (65, 255):
    model = ranks.t0(work / f"v{vocabulary}", vocab_size=vocabulary)
    data = colrow.random_tokens(work / "tokens.bin", 400, vocabulary)
    for tp, other in ((2, 4), (4, 2), (4, 1)):
        saved = ranks.train(work, model, tp, data=data, name=f"v{vocabulary}-to{other}").weights
        colrow.check(saved["transformer.wte.weight"].shape == (vocabulary, 16), "padding was saved")
        folder = work / f"v{vocabulary}-to{other}-tp{tp}-saved"
        plan = colrow.compile_plan(model, work / "other.plan", other, 2, 8)
        colrow.succeed("tp-run", "train", plan, "--weights", folder, "--steps", 0, "--save", work / "again")
        again = colrow.load_safetensors(work / "again" / "model.safetensors")
        colrow.check(again.keys() == saved.keys()
                     and all(again[n].tobytes() == saved[n].tobytes() for n in saved),
                     f"vocabulary {vocabulary}: saved at tp={tp}, altered at tp={other}")
