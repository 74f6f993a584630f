# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A connection to process 0 that stays open but lets nothing through, or nothing that makes sense, ends a run after
the limit, though both processes live on one machine and see each other. One line names the connection."""
import sys

import by_hand
import colrow
import proxy

LIMIT = 0.5
work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 4, 8)
data = colrow.random_tokens(work / "tokens.bin", 400, 64)
for way in ("swallow", "garble"):
    proxy.struck.clear()
    port = by_hand.free_port(2)
    between = proxy.Proxy(("127.0.0.1", port + 1), ("127.0.0.1", port), way)
    processes = [by_hand.start(environment, "train", plan, "--seed", 1, "--data", data, "--steps", 10**6, "--limit", LIMIT,
                               "--rendezvous", f"127.0.0.1:{port + rank}")
                 for rank, environment in enumerate(by_hand.environments(2, 1))]
    for _ in range(3):
        processes[0].stdout.readline()
    proxy.struck.set()
    codes, _, errors = by_hand.end(processes, seconds=LIMIT + 5)
    between.listener.close()
    colrow.check(set(codes) <= {1, -9} and errors.count("\n") == 1, f"{way}: exit codes {codes}: {errors}")
    for word in ("rank 1 (process 1)", "nothing has come over its connection to process 0 for 0.5 s"):
        colrow.check(word in errors, f"{way}: {word!r} is not in: {errors}")
    print(f"{way}: {errors.strip()}")
