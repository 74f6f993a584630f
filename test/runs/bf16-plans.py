# RUN: %python %s %t
"""What a plan in bf16 does: no kernel only casts, collectives of activations move bf16, products take it,
and each parameter that is stored in bf16 has a float32 master. In float32 nothing of that is there."""
import re
import sys

import colrow

work = colrow.workspace(sys.argv[1])
MODELS = {"gpt2": colrow.gpt2_config(work / "gpt2", attn_pdrop=0.1, embd_pdrop=0.1, resid_pdrop=0.1),
          "untied": colrow.gpt2_config(work / "untied", tie_word_embeddings=False, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0),
          "llama": colrow.llama_config(work / "llama", num_key_value_heads=2),
          "tied": colrow.llama_config(work / "tied", tie_word_embeddings=True, attention_bias=True, mlp_bias=True)}


def instructions(model, tp, *more):
    plan = work / "step.plan"
    colrow.compile_split(MODELS[model], plan, tp, "--batch", 3, "--seq", 16, *more)
    return colrow.succeed("tp-translate", "--plan-to-mlir", plan).stdout


def kernels(model, tp):
    """The text of each kernel of a training plan that gives out no logits, which would leave it in float32."""
    graph = work / "graph.mlir"
    text = colrow.succeed("tp-import", MODELS[model], "--batch", 3, "--seq", 16).stdout
    text = re.sub(r", tensor<\S+> \{tp.role = \"logits\"\}", "", text)
    graph.write_text(re.sub(r"return (%\S+), %\S+ : tensor<f32>, \S+", r"return \1 : tensor<f32>", text))
    text = colrow.succeed("tp-opt", graph, f"--tp-step=dtype=bf16 mesh=tp={tp} topology={colrow.FLAT}", "--tp-partition",
                          "--tp-fuse", "--lower-to-plan", "--plan-expand-attention").stdout
    return re.findall(r"plan\.kernel @\S+ \[.*?\] \{(.*?)\}", text, re.S)


def only_casts(kernel):
    """Everything that is stored was loaded, some of it in the other type."""
    types = dict(re.findall(r"(arg\d+): (\w+) ", kernel))
    loads = dict(re.findall(r"(%\d+) = load (arg\d+) ", kernel))
    stores = re.findall(r"store (arg\d+) offset \S+ (%\d+)", kernel)
    values = set(re.findall(r"(%\d+) = ", kernel))
    return (values == set(loads) and "store " in kernel
            and any(types[to] != types[loads[value]] for to, value in stores))


colrow.check(only_casts('"arg0: f32 read" "arg1: bf16 write" "%0 = load arg0 offset 0" "store arg1 offset 0 %0"'), "a cast is none")

for model in MODELS:
    for tp in (1, 2):
        found = kernels(model, tp)
        colrow.check(len(found) > 20, f"{model}, tp={tp}: {len(found)} kernels")
        colrow.check(not any(map(only_casts, found)), f"{model}, tp={tp}: only casts: {[*filter(only_casts, found)]}")
        text = instructions(model, tp, "--dtype", "bf16")
        gemms = re.findall(r"plan\.gemm .*", text)
        colrow.check(gemms and all(line.count(": bf16") >= 2 for line in gemms),
                     f"{model}, tp={tp}: a product of float32 operands")
        # [3, 16, 32] of activations, 12 layers' worth at most; rows' numbers and norms are fewer.
        moved = re.findall(r"plan\.all_reduce sum of (\d+) %\S+ : (\w+)", text)
        large = {kind for count, kind in moved if int(count) == 3 * 16 * 32}
        colrow.check(large == ({"bf16"} if tp > 1 else set()), f"{model}, tp={tp}: activations move as {large}")
        stored = set(re.findall(r"tp\.parameter @(\S+) : tensor<[\dx]*xbf16>", text))
        masters = set(re.findall(r"tp\.state @\S+ of @(\S+) \"master\" : tensor<[\dx]*xf32>.*master", text))
        colrow.check(stored and stored == masters, f"{model}, tp={tp}: stored in bf16 {stored}, with a master {masters}")
    colrow.check(not re.search(r"(: |x|<)bf16", instructions(model, 2)), f"{model}: bf16 in a plan of float32")

colrow.refuse("tp-compile", MODELS["gpt2"], "--batch", 3, "--seq", 16, "--dtype", "f16", "-o", work / "never.plan",
              says=("--dtype f16: wanted f32 or bf16",), leaves=(work / "never.plan",))
