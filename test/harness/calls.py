# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""System calls that fail in a child process: what a disk, a file system or a limit answers."""
import ctypes
import os
import platform

# Numbers by name, x86-64 and AArch64; some calls have an older one there. "rename": to a new
# name, and over what is there.
NUMBERS = {"symlinkat": ((88, 266), (36,)), "mkdirat": ((83, 258), (34,)), "renameat": ((264,), (38,)),
           "renameat2": ((316,), (276,)), "unlinkat": ((263,), (35,)), "fsync": ((74,), (82,)),
           "flock": ((73,), (32,)), "getrandom": ((318,), (278,)), "memfd_create": ((319,), (279,)),
           "faccessat2": ((439,), (439,)), "getdents64": ((217,), (61,)), "clone": ((56, 435), (220, 435)),
           "pwrite64": ((18,), (68,)), "fdatasync": ((75,), (83,)), "eventfd2": ((290,), (19,)),
           "pidfd_open": ((434,), (434,)), "recvmsg": ((47,), (212,)), "exit_group": ((231,), (94,)),
           "madvise": ((28,), (233,)), "pread64": ((17,), (67,)), "rename": ((82, 316), (38, 276)),
           "shutdown": ((48,), (210,))}
MACHINE = ("x86_64", "aarch64").index(platform.machine())


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("code", ctypes.POINTER(Instruction))]


def failing(call, error):
    """For subprocess's preexec_fn: from then on `call` fails with the number `error`."""
    def forbid():
        code = [Instruction(0x20, 0, 0, 0)]  # the call's number
        for number in NUMBERS[call][MACHINE]:
            code += [Instruction(0x15, 0, 1, number), Instruction(0x06, 0, 0, 0x00050000 | error)]
        code.append(Instruction(0x06, 0, 0, 0x7fff0000))
        array = (Instruction * len(code))(*code)
        libc = ctypes.CDLL(None)
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(Program(len(code), array)), 0, 0):
            os._exit(99)
    return forbid
