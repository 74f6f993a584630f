# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A network between the processes of a job and process 0 that is slow, cuts or joins what is sent, or fails.

usage: proxy.py LISTEN_HOST:PORT HOST:PORT delay|cut|join COMMAND [ARGUMENT...]
The network is there as long as the command runs. Its exit code, or 98 when nobody used the network.
"""
import queue
import socket
import subprocess
import sys
import threading
import time

DELAY = 0.02  # s, each way
JOIN = 0.005  # s


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def close(one):
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def received(one):
    """Pieces as they come, with when; an empty one at the end."""
    while True:
        try:
            piece = one.recv(65536)
        except OSError:
            piece = b""
        yield time.monotonic(), piece
        if not piece:
            return


def delay(source, target):
    """All arrives, in its pieces, DELAY later."""
    pieces = queue.Queue()
    threading.Thread(target=lambda: [pieces.put(piece) for piece in received(source)], daemon=True).start()
    while True:
        came, piece = pieces.get()
        time.sleep(max(0, came + DELAY - time.monotonic()))
        if not piece:
            return
        target.sendall(piece)


def cut(source, target):
    """Every byte by itself."""
    for _, piece in received(source):
        for byte in piece:
            target.sendall(bytes([byte]))


def join(source, target):
    """What comes within JOIN is sent at once."""
    for _, piece in received(source):
        if not piece:
            return
        time.sleep(JOIN)
        source.setblocking(False)
        try:
            while more := source.recv(65536):
                piece += more
        except OSError:
            pass
        source.setblocking(True)
        target.sendall(piece)


struck = threading.Event()


def swallow(source, target):
    """Once it is struck nothing arrives, though both connections stay open."""
    for _, piece in received(source):
        if not piece:
            return
        if not struck.is_set():
            target.sendall(piece)


def garble(source, target):
    """Once it is struck all that comes is part of a message that does not end."""
    begin = (65536).to_bytes(4, "little")
    for _, piece in received(source):
        if not piece:
            return
        if struck.is_set():
            piece, begin = begin + piece, b""
        target.sendall(piece)


WAYS = {"delay": delay, "cut": cut, "join": join, "swallow": swallow, "garble": garble}


class Proxy:
    """Listens until the test ends; `connections` counts those that reached the other side."""

    def __init__(self, listen, forward, way):
        self.forward, self.way, self.connections = forward, WAYS[way], 0
        self.listener = socket.create_server(listen)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            one, _ = self.listener.accept()
            threading.Thread(target=self.connect, args=[one], daemon=True).start()

    def connect(self, one):
        try:
            other = socket.create_connection(self.forward, timeout=5)
        except OSError:
            one.close()
            return
        self.connections += 1
        for end in (one, other):
            end.settimeout(None)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, target in ((one, other), (other, one)):
            threading.Thread(target=self.pump, args=[source, target], daemon=True).start()

    def pump(self, source, target):
        try:
            self.way(source, target)
        except OSError:
            pass
        close(source)
        close(target)


if __name__ == "__main__":
    proxy = Proxy(address(sys.argv[1]), address(sys.argv[2]), sys.argv[3])
    code = subprocess.run(sys.argv[4:]).returncode
    sys.exit(code or (98 if proxy.connections == 0 else 0))
