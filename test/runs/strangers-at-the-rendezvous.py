# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""While process 0 waits for the others, a hundred connections that are none of theirs stop nothing: silent ones,
ones that end half-way, garbage, another protocol, wrong tokens; each comes again as soon as it is thrown out. A
second job on the same port is refused, both are named, and the first goes on."""
import filecmp
import hashlib
import os
import socket
import sys
import threading
import time

import by_hand
import colrow

TOKEN = {"COLROW_TOKEN": "the job's own"}
LINE = b"colrow-control 1\n"
work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 2, 8)
other = colrow.compile_plan(work / "model", work / "other.plan", 2, 2, 8)
data = colrow.random_tokens(work / "tokens.bin", 400, 64)


def train(which, folder):
    return "train", which, "--seed", 1, "--data", data, "--steps", 3, "--limit", 20, "--save", work / folder


def hello(name, process, processes):
    """What a process says first."""
    job = hashlib.sha256(name.encode() + b"\0").digest()
    return LINE + b"J" + os.urandom(32) + process.to_bytes(4, "little") + processes.to_bytes(4, "little") + job + b"\x01x"


def wrong_token(one):
    one.sendall(hello(plan.name, 1, 2))
    one.recv(256)
    one.sendall(b"P" + os.urandom(32))


STRANGERS = (lambda one: None, wrong_token,
             lambda one: one.sendall(os.urandom(4000)),
             lambda one: one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             lambda one: one.sendall(hello(plan.name, 1, 2)[:70]),
             lambda one: (one.sendall(LINE), one.shutdown(socket.SHUT_WR)),
             lambda one: one.sendall(hello("of another job", 1, 2)),
             lambda one: one.sendall(hello(plan.name, 1, 7)),
             lambda one: one.sendall(b"\x16\x03\x01\x02\x00" + os.urandom(300)),
             lambda one: one.sendall(LINE + b"P" + os.urandom(32)))


class Stranger(threading.Thread):
    """Connects, says its own, waits to be thrown out, and comes again, until told to stop."""
    visits = 0

    def __init__(self, port, says):
        super().__init__(daemon=True)
        self.port, self.says, self.stopping = port, says, False

    def run(self):
        while not self.stopping:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as one:
                    Stranger.visits += 1
                    self.says(one)
                    while not self.stopping and one.recv(256):
                        pass
            except OSError:
                time.sleep(0.01)


def wait_until_it_listens(port):
    for _ in range(500):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
    sys.exit("FAILED: process 0 does not listen")


def refused(process, name):
    """A process of a second job that is refused: both jobs are named."""
    codes, _, errors = by_hand.together([{**by_hand.environment(process, 2, port), **TOKEN}], *train(other, "left"))
    colrow.check(codes == [1] and errors.count("\n") == 1, f"{name}: exit code {codes[0]}: {errors}")
    for word in ("step.plan (pid", "other.plan (pid", str(port)):
        colrow.check(word in errors, f"{name}: the message does not say {word!r}: {errors}")
    print(f"refused as wanted: {errors}", end="")


colrow.succeed("tp-run", *train(plan, "threads"))
port = by_hand.free_port()
first = by_hand.start({**by_hand.environment(0, 2, port), **TOKEN}, *train(plan, "met"))
wait_until_it_listens(port)
refused(0, "second job, process 0")
refused(1, "second job, process 1")
strangers = [Stranger(port, STRANGERS[i % len(STRANGERS)]) for i in range(100)]
for stranger in strangers:
    stranger.start()
while Stranger.visits < 100:
    time.sleep(0.01)
second = by_hand.start({**by_hand.environment(1, 2, port), **TOKEN}, *train(plan, "met"))
codes, outs, errors = by_hand.end([first, second])
for stranger in strangers:
    stranger.stopping = True
colrow.check(codes == [0, 0] and not errors, f"exit codes {codes}: {errors}")
colrow.check("step 3" in outs[0], f"no progress: {outs}")
for name in ("model.safetensors", "optimizer.safetensors"):
    colrow.check(filecmp.cmp(work / "threads" / name, work / "met" / name, shallow=False), f"{name} differs")
colrow.check(not (work / "left").exists(), "the refused job left something")
print(f"{Stranger.visits} connections of strangers")
