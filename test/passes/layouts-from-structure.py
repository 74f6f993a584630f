# RUN: %python %s %t
"""Layouts follow from the graph alone: not from names, nor from what kind of model it is."""
import os
import re
import sys

import colrow

TOPOLOGY = os.path.join(os.path.dirname(__file__), "..", "topologies", "flat.yaml")
work = colrow.workspace(sys.argv[1])


def imported(folder):
    path = work / f"{folder.name}.mlir"
    colrow.succeed("tp-import", folder, "--batch", 2, "--seq", 40, "-o", path)
    return path


def sharded(path, pin, ranks=2):
    shard = f"--tp-shard=mesh=tp={ranks} topology={TOPOLOGY} pin={pin}=0:tp"
    return colrow.succeed("tp-opt", path, shard).stdout


def rename(text):
    """Every parameter, and every tensor of its checkpoint, under a name that says nothing; the
    order of the names is not that of the parameters."""
    names = sorted(set(re.findall(r"@([\w.]+)", text)) | set(re.findall(r'source<"([^"]+)"', text)))
    table = {name: f"p{(i * 7 + 3) % 101}" for i, name in enumerate(names) if name != "main"}
    assert len(set(table.values())) == len(table)
    text = re.sub(r"@([\w.]+)", lambda m: "@" + table.get(m[1], m[1]), text)
    return re.sub(r'source<"([^"]+)"', lambda m: f'source<"{table[m[1]]}"', text), table


def stored(text):
    """{parameter: its layout}, aliases resolved to what they hold."""
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    found = re.findall(r"tp\.parameter @([\w.]+) : tensor<[^,>]*, (#\w+)>", text)
    return {name: aliases[alias] for name, alias in found}


def ways(text):
    return re.findall(r"(tp\.\w+).*tp\.ways = \{tp = \"(\w+)\"\}", text)


# The same graph under other names gives the same text, but for the names.
gpt2 = imported(colrow.gpt2_config(work / "gpt2", n_embd=96, vocab_size=200, n_positions=48))
renamed, table = rename(gpt2.read_text())
other = work / "renamed.mlir"
other.write_text(renamed)
plain = sharded(gpt2, "transformer.wte.weight")
colrow.check(rename(plain)[0] == sharded(other, table["transformer.wte.weight"]),
             "other names give other layouts")
colrow.check(all(re.fullmatch(r"p\d+|main", name) for name in re.findall(r"@([\w.]+)", renamed)),
             "a name is left in the renamed graph")

# Megatron-LM's layouts: columns into the split region, rows out of it.
ROWS = re.compile(r"\[\{\d+ over \"tp\"\}(, _)?\]")
COLUMNS = re.compile(r"\[_, \{\d+ over \"tp\"\}\]")
WHOLE = re.compile(r"\[_(, _)?\]")


def expect(layouts, pattern, names):
    chosen = {name: layout for name, layout in layouts.items() if re.search(names, name)}
    colrow.check(chosen, f"no parameter is called {names}")
    for name, layout in chosen.items():
        colrow.check(pattern.search(layout), f"{name} is stored as {layout}")


layouts = stored(plain)
expect(layouts, ROWS, r"attn\.c_attn|mlp\.c_fc|wte")
expect(layouts, COLUMNS, r"(attn|mlp)\.c_proj\.weight")
expect(layouts, WHOLE, r"ln_|c_proj\.bias")

# An MLP of three matmuls, grouped heads, no biases.
llama = sharded(imported(colrow.llama_config(work / "llama", hidden_size=96, intermediate_size=176,
                                             vocab_size=200, num_key_value_heads=2,
                                             max_position_embeddings=48)),
                "model.embed_tokens.weight")
layouts = stored(llama)
expect(layouts, ROWS, r"(q|k|v|gate|up)_proj|embed_tokens|lm_head")
expect(layouts, COLUMNS, r"(o|down)_proj")
expect(layouts, WHOLE, r"norm")

# Both kinds of layers use their matmuls in the same ways: columns, then rows.
for text, matmuls in ((plain, ["k", "k", "k", "h", "k", "h"]),
                      (llama, ["k", "k", "k", "h", "k", "k", "h"])):
    used = [way for op, way in ways(text) if op == "tp.matmul"]
    colrow.check(used == matmuls * 2 + ["k"], f"matmuls are used as {used}")

# No Transformer: two chained matmuls with a nonlinearity between.
chain = work / "chain.mlir"
chain.write_text("""
tp.parameter @b : tensor<24x16xf32> {id = 0 : i64, init = #tp.init<normal 0.0, 0.5>}
tp.parameter @a : tensor<10x24xf32> {id = 1 : i64, init = #tp.init<normal 0.0, 0.5>}
func.func @step(%x: tensor<6x16xf32>) -> tensor<6x10xf32> {
  %0 = tp.param @b : tensor<24x16xf32>
  %1 = tp.param @a : tensor<10x24xf32>
  %u = tp.matmul %x, %0 : (tensor<6x16xf32>, tensor<24x16xf32>) -> tensor<6x24xf32>
  %r = tp.relu %u : (tensor<6x24xf32>) -> tensor<6x24xf32>
  %y = tp.matmul %r, %1 : (tensor<6x24xf32>, tensor<10x24xf32>) -> tensor<6x10xf32>
  return %y : tensor<6x10xf32>
}
""")
text = colrow.succeed("tp-opt", chain, f"--tp-shard=mesh=tp=2 topology={TOPOLOGY}").stdout
layouts = stored(text)
colrow.check(ROWS.search(layouts["b"]) and COLUMNS.search(layouts["a"]), f"a chain is {layouts}")
colrow.check(ways(text) == [("tp.matmul", "k"), ("tp.relu", "b1"), ("tp.matmul", "h")],
             f"a chain is used as {ways(text)}")
print("layouts follow from the graph")
