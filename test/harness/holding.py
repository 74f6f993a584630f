# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes held at a certain system call: the kernel asks here what to do about it (seccomp's user notification),
so that a run can be killed, stopped or slowed down between two chosen lines of its code."""
import array
import ctypes
import fcntl
import os
import select
import socket
import struct
import subprocess
import threading

import calls

# With sanitizers the search for leaks at a process' end is a process too, and says so when either is killed.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"

_SECCOMP = (317, 277)[calls.MACHINE]
_RECEIVE, _SEND, _CONTINUE = 0xC0502100, 0xC0182101, 1


def _listener(names):
    """A filter that holds the calls of `names`, of this process and of those that it starts."""
    code = [calls.Instruction(0x20, 0, 0, 0)]  # the call's number
    for name in names:
        for number in calls.NUMBERS[name][calls.MACHINE]:
            code += [calls.Instruction(0x15, 0, 1, number), calls.Instruction(0x06, 0, 0, 0x7fc00000)]
    code.append(calls.Instruction(0x06, 0, 0, 0x7fff0000))
    program = calls.Program(len(code), (calls.Instruction * len(code))(*code))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0):
        os._exit(99)
    listener = libc.syscall(_SECCOMP, 1, 8, ctypes.byref(program))
    if listener < 0:
        os._exit(98)
    return listener


# Where launchers say a process' number: tp-run -n, Open MPI, MPICH.
_NUMBER = (b"COLROW_PROCESS", b"OMPI_COMM_WORLD_RANK", b"PMI_RANK")


def _process_of(thread):
    """Process id and number in its job (nothing: it has none) of a thread."""
    with open(f"/proc/{thread}/status") as status:
        pid = next(int(line.split()[1]) for line in status if line.startswith("Tgid:"))
    with open(f"/proc/{pid}/environ", "rb") as environment:
        for entry in environment.read().split(b"\0"):
            name, _, value = entry.partition(b"=")
            if name in _NUMBER:
                return pid, int(value)
    return pid, None


class Held(subprocess.Popen):
    """A command, alone in its session. Before a process of its job makes a call of `call`, action(process, number of
    its call, pid) is called; the call is made when that returns true. A process that was sent a signal there must
    not make it: it is asked for again when the process goes on."""

    def __init__(self, command, call, action, **options):
        self._action, self._calls, self._lock = action, {}, threading.Lock()
        mine, theirs = socket.socketpair()
        with mine, theirs:
            def hold():
                socket.send_fds(theirs, [b"."], [_listener([call])])
            super().__init__(command, preexec_fn=hold, start_new_session=True, **options)
            theirs.close()
            self._listener = socket.recv_fds(mine, 1, 1)[1][0]
        self._end, self._ended = os.pipe()
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def _answer(self):
        while self._end not in select.select([self._listener, self._end], [], [])[0]:
            held = array.array("B", bytes(80))
            try:
                fcntl.ioctl(self._listener, _RECEIVE, held)
            except OSError:  # the process has ended meanwhile
                continue
            # Its own thread, so that one call that is held for long holds no other.
            threading.Thread(target=self._decide, args=struct.unpack_from("QI", held), daemon=True).start()

    def _decide(self, number, thread):
        try:
            pid, process = _process_of(thread)
            if process is not None:
                with self._lock:
                    self._calls[process] = calls = self._calls.get(process, 0) + 1
                if not self._action(process, calls, pid):
                    return
            fcntl.ioctl(self._listener, _SEND, struct.pack("QqiI", number, 0, 0, _CONTINUE))
        except OSError:  # the process has ended meanwhile
            pass

    def release(self):
        """To be called when the command has ended."""
        os.write(self._ended, b".")
        self._thread.join()
        for file in (self._listener, self._end, self._ended):
            os.close(file)


# In the environment of all that this test starts: launchers may give processes sessions of their own.
_MARK = f"COLROW_TEST_STARTED_BY={os.getpid()}".encode()
os.environ.update([_MARK.decode().split("=")])


def members(session):
    """Processes of a session that live, and of this test's runs, each with its number in the job."""
    found = {}
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{int(entry)}/stat") as file:
                fields = file.read().rsplit(") ", 1)[1].split()
            if fields[0] in "ZX":
                continue
            number = _process_of(entry)[1]
            if int(fields[3]) == session or number is not None and _is_ours(entry):
                found[int(entry)] = number
        except (OSError, IndexError, ValueError):
            continue
    return found


def _is_ours(pid):
    with open(f"/proc/{pid}/environ", "rb") as environment:
        return _MARK in environment.read().split(b"\0")
