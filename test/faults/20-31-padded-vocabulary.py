# RUN: %python %s %t
"""Faults 20 and 31: padded vocabulary rows neither enter the softmax nor a checkpoint, in a long run
too; what one mesh saved loads on another to the bit."""
import sys

import colrow
import equal
import ranks

work = colrow.workspace(sys.argv[1])
rows = ("--pin", "transformer.wte.weight=0:tp")
data = colrow.random_tokens(work / "tokens.bin", 2000, 33)
model = ranks.t0(work / "long", vocab_size=33)
one = equal.train(work, model, 1, steps=60, data=data)
for tp in (2, 4):
    found = equal.train(work, model, tp, steps=60, data=data, options=rows)
    # 33 rows on 4 ranks are 9, 9, 9 and 6. Sixty steps carry rounding on, so losses get room.
    equal.same(found, one, f"vocabulary 33, tp={tp}", losses=2e-5)

for vocabulary in (65, 255):
    model = ranks.t0(work / f"v{vocabulary}", vocab_size=vocabulary)
    data = colrow.random_tokens(work / "tokens.bin", 400, vocabulary)
    saved = equal.train(work, model, 4, data=data, steps=1, options=rows).weights
    colrow.check(saved["transformer.wte.weight"].shape == (vocabulary, 16), "padding was saved")
    for other in (1, 2):
        plan = work / f"v{vocabulary}-on{other}.plan"
        equal.compile_plan(model, plan, other, *(rows if other > 1 else ()))
        colrow.succeed("tp-run", "train", plan, "--weights", work / f"v{vocabulary}-tp4-saved",
                       "--steps", 0, "--save", work / "again", "--overwrite")
        again = colrow.load_safetensors(work / "again" / "model.safetensors")
        colrow.check(again.keys() == saved.keys()
                     and all(again[n].tobytes() == saved[n].tobytes() for n in saved),
                     f"vocabulary {vocabulary}: saved at tp=4, altered at tp={other}")
