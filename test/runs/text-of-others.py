# RUN: %python %s %t
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What another process of a run says is shown in one line and as printable text, before the processes know each
other and after; of names that are not ASCII nothing changes."""
import os
import socket
import struct
import subprocess
import sys

import colrow

TEXT = "gone \x1b[2J\r\n in \u00fc \u202e\x07\x9b".encode() + b"\xff\xc3"
SHOWN = r"gone \x1b[2J\x0d\x0a in " + "\u00fc " + r"\xe2\x80\xae\x07\xc2\x9b\xff\xc3"
work = colrow.workspace(sys.argv[1])
plan = colrow.compile_plan(colrow.gpt2_config(work / "model"), work / "step.plan", 2, 2, 8)


def send(end, kind, text, *numbers):
    payload = kind + struct.pack(f"<{len(numbers)}I", *numbers) + text
    end.sendall(struct.pack("<I", len(payload)) + payload)


def wait_for(end, kind, count=1):
    """Until process 0 has sent so many more messages of a kind."""
    while count:
        size = struct.unpack("<I", end.recv(4, socket.MSG_WAITALL))[0]
        count -= end.recv(size, socket.MSG_WAITALL)[:1] == kind


def fail(end):
    send(end, b"f", TEXT)


def fail_in_order(end):
    wait_for(end, b"a")
    send(end, b"p", b"g-" + TEXT, 1)
    wait_for(end, b"a")
    send(end, b"p", b"b", 2)


def beat_and_go(end):
    text = b"1 1 0 " + TEXT
    send(end, b"h", text, 1, len(text))
    wait_for(end, b"h", 2)  # one may have been under way
    end.shutdown(socket.SHUT_WR)


# This program is process 1.
for say, shown in ((fail, SHOWN), (fail_in_order, f"process 1 of 2: {SHOWN}"),
                   (beat_and_go, f"process 1, last at {SHOWN}: is gone")):
    end, other = socket.socketpair()
    environment = {**os.environ, "COLROW_PROCESS": "0", "COLROW_PROCESSES": "2", "COLROW_CONTROL_FDS": str(other.fileno())}
    process = subprocess.Popen([colrow.tool("tp-run"), "train", plan, "--seed", "1", "--steps", "1", "--limit", "2"],
                               env=environment, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    other.close()
    if say != fail:
        send(end, b"p", b"g" + socket.gethostname().encode(), 0)
    say(end)
    errors = process.communicate(timeout=30)[1]
    colrow.check(process.returncode == 1 and errors == f"tp-run: error: {shown}\n".encode(), f"{say.__name__}: {errors}")
    end.close()
