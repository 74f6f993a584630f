# RUN: %python %s %t
"""Files that a run could not write at its end, or would overwrite, are refused before step 1."""
import json
import sys

import colrow

work = colrow.workspace(sys.argv[1])
model = work / "model"
model.mkdir()
(model / "config.json").write_text(json.dumps({
    "model_type": "gpt2", "vocab_size": 32, "n_positions": 16, "n_embd": 16, "n_layer": 1, "n_head": 2,
    "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True}))
plan = colrow.compile_plan(model, work / "step.plan", 1, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 400, 32)
run = ("tp-run", "train", plan, "--seed", 1, "--data", data, "--steps", 1, "--lr", 1e-3)
before = plan.read_bytes()

colrow.refuse(*run, "--report", work, says=("--report", "folder"))
colrow.refuse(*run, "--trace", work / "nowhere" / "t.json", says=("--trace", "nowhere"))
colrow.refuse(*run, "--report", plan, says=("--report", "the plan"))
colrow.refuse(*run, "--report", work / "r.json", "--trace", work / "r.json", says=("--trace", "--report"))
colrow.check(plan.read_bytes() == before, "the plan was changed")
colrow.check(not (work / "r.json").exists(), "a report was written")
