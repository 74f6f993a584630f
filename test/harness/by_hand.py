# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes of tp-run that are started by hand: RANK, WORLD_SIZE and where they meet are in the environment."""
import os
import socket
import subprocess

import colrow

LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "COLROW_TOKEN")


def free_port(count=1):
    """The first of so many ports in a row that nobody listens on, below those that the system deals out."""
    first = 20000 + os.getpid() * 8 % 8000
    for port in range(first, first + 4000, count):
        if all(is_free(port + i) for i in range(count)):
            return port
    raise OSError("no free port")


def is_free(port):
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def environment(rank, size, port):
    """Of one of `size` processes of one machine."""
    return {"RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def environments(size, port):
    return [environment(rank, size, port) for rank in range(size)]


def start(environment, *arguments):
    """One process, which ends with the test."""
    kept = {name: value for name, value in os.environ.items() if name not in LAUNCHERS}
    return subprocess.Popen([colrow.tool("tp-run"), *map(str, arguments)], env={**kept, **environment},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(processes, seconds=60):
    """Exit codes, standard outputs and all of stderr, once all have ended."""
    try:
        ends = [process.communicate(timeout=seconds) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [process.returncode for process in processes], [out for out, _ in ends], "".join(err for _, err in ends)


def together(environments, *arguments, each=(), seconds=60):
    """One process for each environment, with options of its own from `each`."""
    return end([start(environment, *arguments, *(each[i] if each else ())) for i, environment in enumerate(environments)],
               seconds)
