# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""System calls that fail in a child process: what a disk, a file system or a limit answers."""
import ctypes
import os
import platform

# Numbers by name, x86-64 and AArch64; some calls have an older one there.
_NUMBERS = {"symlinkat": ((88, 266), (36,)), "mkdirat": ((83, 258), (34,)), "renameat": ((264,), (38,)),
            "renameat2": ((316,), (276,)), "unlinkat": ((263,), (35,)), "fsync": ((74,), (82,)),
            "flock": ((73,), (32,)), "getrandom": ((318,), (278,)), "memfd_create": ((319,), (279,)),
            "faccessat2": ((439,), (439,)), "getdents64": ((217,), (61,)), "clone": ((56, 435), (220, 435))}
_MACHINE = ("x86_64", "aarch64").index(platform.machine())


class _Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("code", ctypes.POINTER(_Instruction))]


def failing(call, error):
    """For subprocess's preexec_fn: from then on `call` fails with the number `error`."""
    def forbid():
        code = [_Instruction(0x20, 0, 0, 0)]  # the call's number
        for number in _NUMBERS[call][_MACHINE]:
            code += [_Instruction(0x15, 0, 1, number), _Instruction(0x06, 0, 0, 0x00050000 | error)]
        code.append(_Instruction(0x06, 0, 0, 0x7fff0000))
        array = (_Instruction * len(code))(*code)
        libc = ctypes.CDLL(None)
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(_Program(len(code), array)), 0, 0):
            os._exit(99)
    return forbid
