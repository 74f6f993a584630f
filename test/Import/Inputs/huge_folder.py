# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""huge_folder.py DIR: a GPT of 96 layers, hidden 12288, with all its weights in one sparse file; prints its GB."""
import json, os, struct, sys

folder = sys.argv[1]
layers, hidden, vocabulary, positions = 96, 12288, 50257, 2048
config = {"model_type": "gpt2", "vocab_size": vocabulary, "n_positions": positions, "n_embd": hidden,
          "n_layer": layers, "n_head": 96}
shapes = {"wte.weight": [vocabulary, hidden], "wpe.weight": [positions, hidden],
          "ln_f.weight": [hidden], "ln_f.bias": [hidden]}
for layer in range(layers):
    for name, inside, out in [("attn.c_attn", hidden, 3 * hidden), ("attn.c_proj", hidden, hidden),
                              ("mlp.c_fc", hidden, 4 * hidden), ("mlp.c_proj", 4 * hidden, hidden)]:
        shapes[f"h.{layer}.{name}.weight"] = [inside, out]
        shapes[f"h.{layer}.{name}.bias"] = [out]
    for name in "ln_1", "ln_2":
        shapes[f"h.{layer}.{name}.weight"] = shapes[f"h.{layer}.{name}.bias"] = [hidden]

header, end = {}, 0
for name, shape in shapes.items():
    begin = end
    size = 2
    for extent in shape:
        size *= extent
    end += size
    header["transformer." + name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
text = json.dumps(header).encode()
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "model.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text)
    file.truncate(8 + len(text) + end)
with open(os.path.join(folder, "config.json"), "w") as file:
    json.dump(config, file)
print("weights of", round(end / 1e9), "GB")
