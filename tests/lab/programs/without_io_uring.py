"""Runs a command as in a sandbox without io_uring: the kernel refuses that, and nothing else."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from typing import ClassVar

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
RETURN_ERRNO = 0x0005_0000
RETURN_ALLOW = 0x7FFF_0000
LOAD_WORD = 0x20
JUMP_IF_EQUAL = 0x15
RETURN = 0x06
IO_URING_SETUP = 425
"""The same number on every architecture."""


class Instruction(ctypes.Structure):
    """`struct sock_filter` of linux/filter.h."""

    _fields_: ClassVar = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    ]


class Program(ctypes.Structure):
    """`struct sock_fprog` of linux/filter.h."""

    _fields_: ClassVar = [
        ("length", ctypes.c_uint16),
        ("instructions", ctypes.POINTER(Instruction)),
    ]


def main() -> None:
    """Becomes the command."""
    instructions = (Instruction * 4)(
        # The call's number is the first word of what the filter is handed.
        Instruction(LOAD_WORD, 0, 0, 0),
        Instruction(JUMP_IF_EQUAL, 0, 1, IO_URING_SETUP),
        Instruction(RETURN, 0, 0, RETURN_ERRNO | errno.EPERM),
        Instruction(RETURN, 0, 0, RETURN_ALLOW),
    )
    program = Program(len(instructions), instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    _require(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _require(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))
    os.execv(sys.argv[1], sys.argv[1:])


def _require(returned: int) -> None:
    if returned != 0:
        raise OSError(ctypes.get_errno(), "cannot install the filter")


if __name__ == "__main__":
    main()
