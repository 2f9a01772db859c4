"""Holds a new network namespace, its loopback up, until its standard input ends, which it does
when we end.

Knows unshare(2), the flags of an interface and /proc/sys; must not know who uses the namespace. It
runs as a file of its own and imports nothing but the standard library. Arguments are settings,
NAME=VALUE; it writes the name of each that is refused, a line each, and then the line `held`.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

CLONE_NEWNET = 0x4000_0000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
HELD = "held\n"


def main() -> None:
    """Makes the namespace, tells, and waits."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    for setting in sys.argv[1:]:
        name, _, value = setting.partition("=")
        try:
            (Path("/proc/sys") / name.replace(".", "/")).write_text(value, encoding="ascii")
        except OSError:
            print(name)
    print(HELD, end="", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
