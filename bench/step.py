#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One training step beside PyTorch's and JAX's tensor parallelism, on this machine's cores.

usage: step.py --bin DIR --python PYTHON [--rounds 3] [--steps 8] [--peers torch,jax] [--dtype bf16]

DIR holds tp-compile and tp-run; PYTHON is one that imports torch, jax and numpy. Runs alternate (ours,
torch, jax, ours, ...), so that a slow minute of the machine hits all; a run's time is the median of its
steps but the first two, a row's the median of its runs. Peak memory is of the whole job: all ranks'
processes added. See README.md for what is measured and what is not.
"""
import argparse
import array
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import blas_peak

here = pathlib.Path(__file__).resolve().parent
SHAPE = dict(layers=4, hidden=512, heads=8, vocab=8192, seq=256, batch=8)


def gflop(layers, hidden, heads, vocab, seq, batch):
    """Of all matrix products of a step: forward once, backward twice; attention scores whole, though
    half of them is masked."""
    tokens = batch * seq
    layer = 24 * tokens * hidden ** 2 + 4 * tokens * seq * hidden
    return 3 * (layers * layer + 2 * tokens * hidden * vocab) / 1e9


def call(command, env=None):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(env or {})})
    if done.returncode:
        sys.exit(f"step.py: {' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Ours:
    def __init__(self, arguments, work, tp):
        self.name, self.tp = "Colrow", tp
        self.work, self.steps = work, arguments.steps
        self.run_tool = arguments.bin / "tp-run"
        self.plan = work / f"{tp}.plan"
        call([arguments.bin / "tp-compile", work / "model", "--mesh", f"tp={tp}", "--batch",
              SHAPE["batch"], "--seq", SHAPE["seq"], "--weight-decay", 0, "--dtype", arguments.dtype, "-o", self.plan])

    def run(self):
        report = self.work / "report.json"
        call([self.run_tool, "train", self.plan, "--seed", 1, "--data", self.work / "tokens.bin",
              "--steps", self.steps, "--lr", 1e-3, "--report", report])
        read = json.loads(report.read_text())
        return dict(seconds=[s["seconds"] for s in read["steps"]],
                    losses=[s["loss"] for s in read["steps"]], peak_rss_bytes=[read["peak_rss_bytes"]])


class Peer:
    def __init__(self, arguments, name, tp):
        self.name, self.tp = {"torch": "PyTorch", "jax": "JAX"}[name], tp
        sizes = [x for k, v in {**SHAPE, "tp": tp, "steps": arguments.steps}.items()
                 for x in (f"--{k}", v)]
        script = here / "peers" / f"{name}_step.py"
        self.env = None
        self.command = [arguments.python, script, *sizes]
        if name == "torch" and tp > 1:
            self.env = {"OMP_NUM_THREADS": "1"}
            self.command = [arguments.python, "-m", "torch.distributed.run", "--nproc-per-node", tp,
                            script, *sizes]
        elif name == "torch":
            self.command += ["--threads", os.cpu_count()]
        if arguments.dtype != "f32":
            self.command += ["--dtype", arguments.dtype]

    def run(self):
        return json.loads(call(self.command, self.env).strip().splitlines()[-1])


def prepare(work):
    """The peers' model as a GPT-2 folder (untied head) and random tokens."""
    folder = work / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(dict(
        model_type="gpt2", vocab_size=SHAPE["vocab"], n_positions=SHAPE["seq"], n_embd=SHAPE["hidden"],
        n_layer=SHAPE["layers"], n_head=SHAPE["heads"], activation_function="gelu_new",
        layer_norm_epsilon=1e-5, initializer_range=0.02, tie_word_embeddings=False, attn_pdrop=0.0,
        embd_pdrop=0.0, resid_pdrop=0.0)))
    rng = random.Random(0)
    # One batch, over and over, as the peers have it.
    count = SHAPE["batch"] * SHAPE["seq"] + 1
    (work / "tokens.bin").write_bytes(
        array.array("H", (rng.randrange(SHAPE["vocab"]) for _ in range(count))).tobytes())


def table(rows, peak):
    work = gflop(**SHAPE)
    times = {(r.name, r.tp): statistics.median(r.times) for r in rows}
    print(f"\n{'':9} {'tp':>2} {'s a step':>9} {'of BLAS peak':>13} {'peak MB':>8} "
          f"{'time / Colrow tp=2':>19}   first and last loss")
    for row in rows:
        time = times[row.name, row.tp]
        share = work / time / peak
        print(f"{row.name:9} {row.tp:>2} {time:>9.3f} {share:>12.1%} {row.memory / 1e6:>9.0f} "
              f"{time / times['Colrow', 2]:>19.2f}   {row.losses[0]:.4f} {row.losses[-1]:.4f}")
    print(f"\n{work:.0f} GFLOP a step; OpenBLAS peak in this run {peak:.0f} GFLOP/s float32")
    if ("PyTorch", 2) in times:
        ratio = times["PyTorch", 2] / times["Colrow", 2]
        print(f"ratio PyTorch tp=2 / Colrow tp=2: {ratio:.2f} "
              f"({'not slower' if ratio >= 1 else 'SLOWER'} than PyTorch)")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=here.parent / "build" / "bin")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--peers", default="torch,jax", help="empty for none")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32",
                        help="bf16: ours, and PyTorch's autocast; JAX has no such peer here")
    arguments = parser.parse_args()
    if arguments.dtype == "bf16" and "jax" in arguments.peers.split(","):
        parser.error("--dtype bf16 goes with --peers torch")
    peers = [p for p in arguments.peers.split(",") if p]
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        prepare(work)
        rows = []
        for tp in (2, 1):
            rows.append(Ours(arguments, work, tp))
            rows += [Peer(arguments, name, tp) for name in peers]
        for row in rows:
            row.times, row.memory, row.losses = [], 0, []
        peaks = []
        for turn in range(arguments.rounds):
            peaks.append(blas_peak.peak(os.cpu_count()))
            for row in rows:
                result = row.run()
                row.times.append(statistics.median(result["seconds"][2:] or result["seconds"]))
                row.memory = max(row.memory, sum(result["peak_rss_bytes"]))
                row.losses = result["losses"]
                print(f"round {turn + 1}: {row.name} tp={row.tp} {row.times[-1]:.3f} s", flush=True)
        table(rows, statistics.median(peaks))


if __name__ == "__main__":
    main()
