#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A GPT training step in PyTorch: DTensor's tensor parallelism over gloo ranks, or one process.

torchrun --nproc-per-node 2 torch_step.py --tp 2     one thread a rank
torch_step.py --tp 1 --threads 2
With --dtype bf16 the forward runs under autocast.

Prints one JSON line on rank 0: seconds of each step, losses, peak memory of each rank's process.
"""
import argparse
import contextlib
import json
import resource
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    """Pre-norm layer; the MLP is four times the hidden size."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.head_size = hidden // heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query, self.key = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.value, self.out = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x):
        y = self.norm1(x)
        heads = [p(y).unflatten(-1, (-1, self.head_size)).transpose(1, 2)
                 for p in (self.query, self.key, self.value)]
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.tokens = nn.Embedding(a.vocab, a.hidden)
        self.places = nn.Parameter(torch.zeros(a.seq, a.hidden))
        self.blocks = nn.ModuleList(Block(a.hidden, a.heads) for _ in range(a.layers))
        self.norm = nn.LayerNorm(a.hidden)
        self.head = nn.Linear(a.hidden, a.vocab, bias=False)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def forward(self, ids):
        x = self.tokens(ids) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def split(model, ranks):
    """Megatron's layout: column, row, vocabulary; the loss stays split over the vocabulary."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel,
                                                   parallelize_module)
    mesh = init_device_mesh("cpu", (ranks,))
    for block in model.blocks:
        parallelize_module(block, mesh, {
            "query": ColwiseParallel(), "key": ColwiseParallel(), "value": ColwiseParallel(),
            "out": RowwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel()})
    parallelize_module(model, mesh, {
        "tokens": RowwiseParallel(input_layouts=Replicate()),
        "head": ColwiseParallel(output_layouts=Shard(-1), use_local_output=False)})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in dict(layers=4, hidden=512, heads=8, vocab=8192, seq=256, batch=8, tp=2, steps=8,
                            threads=1).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    model, rank, loss_context = GPT(a), 0, contextlib.nullcontext
    if a.tp > 1:
        from torch.distributed.tensor.parallel import loss_parallel
        dist.init_process_group("gloo")
        rank, loss_context = dist.get_rank(), loss_parallel
        split(model, a.tp)
    # The fused optimizer does not take split and whole tensors together.
    how = dict(foreach=False) if a.tp > 1 else dict(fused=True)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, **how)
    tokens = torch.randint(0, a.vocab, (a.batch, a.seq + 1), generator=torch.Generator().manual_seed(0))
    seconds, losses = [], []
    for _ in range(a.steps):
        if a.tp > 1:
            dist.barrier()
        start = time.perf_counter()
        with loss_context():
            with torch.autocast("cpu", torch.bfloat16, enabled=a.dtype == "bf16"):
                logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if a.tp > 1:
            dist.barrier()
        seconds.append(time.perf_counter() - start)
        whole = loss.full_tensor() if hasattr(loss, "full_tensor") else loss
        losses.append(float(whole.detach()))
    peak = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]
    if a.tp > 1:
        everyone = [None] * a.tp
        dist.all_gather_object(everyone, peak[0])
        peak = everyone
    if rank == 0:
        print(json.dumps(dict(peer="torch", version=torch.__version__, tp=a.tp, seconds=seconds,
                              losses=losses, peak_rss_bytes=peak)))
    if a.tp > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
