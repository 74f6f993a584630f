# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests written in Python share: Safetensors in and out, small model folders, and running
the tools with every exit code and message checked. Needs numpy only."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

# Safetensors' names of element types. BF16 has no numpy type: it is read as uint16 and widened.
FLAT = pathlib.Path(__file__).resolve().parent.parent / "topologies" / "flat.yaml"
_TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16,
          "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8, "U8": np.uint8,
          "BOOL": np.bool_}


def load_safetensors(path):
    """{name: array} of a Safetensors file: 8 bytes of header size, JSON header, then the data."""
    data = pathlib.Path(path).read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:end]).items():
        if name == "__metadata__":
            continue
        first, last = entry["data_offsets"]
        array = np.frombuffer(data[end + first:end + last], _TYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = array.reshape(entry["shape"])
    return tensors


def save_safetensors(path, tensors):
    """The inverse, for arrays of the types above but BF16."""
    names = {np.dtype(t): n for n, t in _TYPES.items() if n != "BF16"}
    header, blobs, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name, array in tensors.items():
        blob = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def tool(name):
    """Path of one of Colrow's tools: in $COLROW_BIN (set by lit), else on PATH."""
    folder = os.environ.get("COLROW_BIN")
    path = os.path.join(folder, name) if folder else shutil.which(name)
    if not path or not os.path.exists(path):
        sys.exit(f"{name} not found; build it and set COLROW_BIN to the folder that holds it")
    return path


def run(name, *arguments, timeout=600, limit=None, env=None):
    """Runs a tool to its end, whatever its exit code. `limit`: largest file it may write, in KiB."""
    command = [tool(name), *map(str, arguments)]
    if limit is not None:
        command = ["bash", "-c", f'ulimit -f {limit}; exec "$@"', "bash", *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})


def shell(arguments):
    return " ".join(str(a) for a in arguments)


def succeed(name, *arguments, **options):
    """Runs a tool that must succeed; ends the test with its output if it does not."""
    done = run(name, *arguments, **options)
    if done.returncode:
        sys.exit(f"{name} {shell(arguments)}\nended with exit code {done.returncode}:\n"
                 f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done


def refuse(name, *arguments, says=(), leaves=(), **options):
    """Runs a tool on bad input: it must end with exit code 1 and exactly one line on stderr that
    holds every string of `says`, and leave no path of `leaves` behind, nor a part of it (an empty
    folder is no output)."""
    done = run(name, *arguments, **options)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    problems = []
    if done.returncode != 1:
        problems.append(f"exit code {done.returncode}, wanted 1")
    if len(lines) != 1:
        problems.append(f"{len(lines)} lines on stderr, wanted 1")
    for word in says:
        if str(word).lower() not in done.stderr.lower():
            problems.append(f"the message does not say {word!r}")
    for path in map(pathlib.Path, leaves):
        found = path.parent.glob(path.name + "*") if path.parent.is_dir() else []
        left = sorted(p.name for p in found if p.is_file() or any(p.iterdir()))
        if left:
            problems.append(f"left behind: {', '.join(left)}")
    if problems:
        sys.exit(f"{name} {shell(arguments)}\n" + "\n".join(f"  {p}" for p in problems)
                 + f"\nstderr was:\n{done.stderr[-4000:]}")
    print(f"refused as wanted: {lines[0]}")
    return lines[0]


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def workspace(path):
    """An empty folder for one test's files: what an earlier run left is deleted, other's is not."""
    path = pathlib.Path(path).resolve()
    if path.exists() and not is_ours(path) and any(path.iterdir()):
        sys.exit(f"{path} holds files that no test made; give a folder that is new or empty")
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    marker_of(path).touch()
    return path


def marker_of(path):
    """Stands beside a folder that tests made."""
    return path.with_name(f".{path.name}.workspace")


def is_ours(path):
    """Whether tests made the folder: lit's own, or a marked one, or one within such."""
    return any(folder.name == "Output" or marker_of(folder).exists()
               for folder in [path, *path.parents] if folder.name)


# Every field that is read, at the values of the smallest models here.
GPT2 = dict(model_type="gpt2", architectures=["GPT2LMHeadModel"], vocab_size=64, n_positions=32,
            n_embd=32, n_layer=2, n_head=4, n_inner=None, activation_function="gelu_new",
            layer_norm_epsilon=1e-5, initializer_range=0.02, tie_word_embeddings=True,
            attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0, scale_attn_weights=True,
            scale_attn_by_inverse_layer_idx=False, reorder_and_upcast_attn=False,
            add_cross_attention=False)
LLAMA = dict(model_type="llama", architectures=["LlamaForCausalLM"], vocab_size=64, hidden_size=32,
             intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
             max_position_embeddings=32, hidden_act="silu", rms_norm_eps=1e-6, initializer_range=0.02,
             tie_word_embeddings=False, attention_bias=False, mlp_bias=False, attention_dropout=0.0,
             rope_theta=10000.0, rope_scaling=None)


def write_config(folder, config):
    """A model folder of config.json alone."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    return folder


def gpt2_config(folder, **changes):
    """A small GPT-2 folder of config.json alone; `changes` replace or (None) keep fields."""
    return write_config(folder, {**GPT2, **changes})


def llama_config(folder, **changes):
    return write_config(folder, {**LLAMA, **changes})


def random_tokens(path, count, vocabulary, seed=0):
    """A flat uint16 token file."""
    tokens = np.random.default_rng(seed).integers(0, vocabulary, count, dtype=np.uint16)
    pathlib.Path(path).write_bytes(tokens.tobytes())
    return pathlib.Path(path)


def compile_plan(model, plan, tp, batch, seq, *more):
    """Compiles for the flat topology unless another is given: the default one, with its latency, would
    leave models this small replicated, and a test of tensor parallelism would test nothing."""
    compile_split(model, plan, tp, "--batch", batch, "--seq", seq, *more, must=False)
    return plan


def compile_split(model, plan, tp, *more, must=True):
    """The same; returns the stored layout of each parameter in tp-compile's summary ("replicated", or
    "split 0 over tp"). Ends the test when on several ranks nothing is split, unless `must` is false."""
    if "--topology" not in more:
        more += ("--topology", FLAT)
    done = succeed("tp-compile", model, "--mesh", f"tp={tp}", *more, "-o", plan)
    check(pathlib.Path(plan).is_file(), f"tp-compile wrote no {plan}")
    layouts = {m[1]: m[2] for m in re.finditer(r"^  (\S+) +x\d+ +(replicated|split.*?) *$", done.stdout, re.M)}
    if must:
        check(layouts, f"no parameters in the summary of tp-compile:\n{done.stdout}")
        check(tp == 1 or any("split" in layout for layout in layouts.values()),
              f"{model}: nothing is split at tp={tp}, so nothing is tested:\n{done.stdout}")
    return layouts


def train(plan, *more, report=None, **options):
    """Trains and returns report.json as a dictionary."""
    report = pathlib.Path(report or f"{plan}.report.json")
    report.unlink(missing_ok=True)
    succeed("tp-run", "train", plan, *more, "--report", report, **options)
    return json.loads(report.read_text())


def losses(report):
    return [step["loss"] for step in report["steps"]]


def relative(found, wanted):
    """Largest relative difference of two lists of equal length."""
    check(len(found) == len(wanted), f"{len(found)} values, wanted {len(wanted)}")
    return max((abs(a - b) / max(abs(b), 1e-30) if a != b else 0.0
                for a, b in zip(found, wanted)), default=0.0)
