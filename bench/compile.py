#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile time and peak memory: GPT-2 small for tp=2, and GPTs of hidden 12288 with 12 to 96 layers for
tp=8 (batch 1, seq 2048), from configs alone.

usage: compile.py --bin DIR [--repeat 3]      DIR holds tp-compile; standard library only
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SMALL = dict(n_embd=768, n_head=12, n_layer=12, n_positions=1024)
LARGE = dict(n_embd=12288, n_head=96, n_positions=2048)


def compile_once(tool, config, tp, seq, work):
    """(seconds, peak bytes) of one tp-compile."""
    folder = work / "model"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(dict(
        model_type="gpt2", vocab_size=50257, activation_function="gelu_new", layer_norm_epsilon=1e-5,
        initializer_range=0.02, tie_word_embeddings=True, attn_pdrop=0.0, embd_pdrop=0.0,
        resid_pdrop=0.0, **config)))
    log = open(work / "log", "w+")
    start = time.perf_counter()
    process = subprocess.Popen([tool, folder, "--mesh", f"tp={tp}", "--batch", "1", "--seq", str(seq),
                                "-o", work / "step.plan"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        log.seek(0)
        sys.exit(f"compile.py: tp-compile ended with {process.returncode}:\n{log.read()[-2000:]}")
    return seconds, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent / "build" / "bin")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    rows = [("GPT-2 small, tp=2", SMALL, 2, 1024, 2.0)]
    rows += [(f"hidden 12288, {n} layers, tp=8", dict(LARGE, n_layer=n), 8, 2048,
              10.0 if n == 96 else None) for n in (12, 24, 48, 96)]
    print(f"{'':32} {'seconds':>8} {'ms a layer':>11} {'peak MB':>8}   bound")
    good = True
    with tempfile.TemporaryDirectory() as work:
        for name, config, tp, seq, bound in rows:
            runs = [compile_once(arguments.bin / "tp-compile", config, tp, seq, pathlib.Path(work))
                    for _ in range(arguments.repeat)]
            seconds = sorted(r[0] for r in runs)[len(runs) // 2]
            memory = max(r[1] for r in runs)
            held = not bound or (seconds < bound and (tp == 2 or memory < 2 << 30))
            good &= held
            print(f"{name:32} {seconds:>8.2f} {1000 * seconds / config['n_layer']:>11.1f} "
                  f"{memory / 1e6:>8.0f}   "
                  + (f"{bound:g} s{', 2 GiB' if tp == 8 else ''}: {'held' if held else 'NOT held'}"
                     if bound else ""), flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
