"""Sends numbered packets through a link, or receives them, with the kernel's time of arrival.

Knows UDP and clocks; must not know who compares. It runs as a file of its own and imports nothing
but the standard library. Both ends read the same clock, since both are on this machine.

`receive ADDRESS` writes its port, and when its standard input ends the packets that came, as JSON:
[number, sent, arrived] each, in nanoseconds of the wall clock. `send ADDRESS PORT PACKETS
PER_SECOND BYTES` writes how many went out and what they weighed.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import sys
import time

HEADER = struct.Struct("!QQ")
TIMESPEC = struct.Struct("@qq")
SO_TIMESTAMPNS = 35
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 64 << 20
STAMPING_BEGINS_S = 0.05
"""The kernel begins to stamp a little after it was asked to."""


def main() -> None:
    """Does what the command line says."""
    # No other program must come between a packet's time and its sending, nor keep the receiver from
    # emptying its buffer: the link would be blamed.
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    if sys.argv[1] == "receive":
        _receive(sys.argv[2])
    else:
        packets, per_second, size = (int(word) for word in sys.argv[4:7])
        _send((sys.argv[2], int(sys.argv[3])), packets, per_second, size)


def _receive(address: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.setblocking(False)
        receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        with contextlib.suppress(PermissionError):
            receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        receiver.bind((address, 0))
        time.sleep(STAMPING_BEGINS_S)
        print(receiver.getsockname()[1], flush=True)
        came: list[tuple[int, int, int]] = []
        while sys.stdin not in select.select([receiver, sys.stdin], [], [])[0]:
            _take(receiver, came)
        _take(receiver, came)
    json.dump(came, sys.stdout)


def _take(receiver: socket.socket, came: list[tuple[int, int, int]]) -> None:
    """Everything that is there now."""
    while True:
        try:
            data, told, _, _ = receiver.recvmsg(HEADER.size, 64)
        except BlockingIOError:
            return
        seconds, rest = TIMESPEC.unpack(told[0][2])
        came.append((*HEADER.unpack(data), seconds * 1_000_000_000 + rest))


def _send(to: tuple[str, int], packets: int, per_second: int, size: int) -> None:
    padding = bytes(max(0, size - HEADER.size))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(to)
        begin = time.monotonic_ns()
        for number in range(packets):
            early_ns = begin + number * 1_000_000_000 // per_second - time.monotonic_ns()
            if early_ns > 0:
                time.sleep(early_ns / 1e9)
            sender.send(HEADER.pack(number, time.time_ns()) + padding)
        took_ns = time.monotonic_ns() - begin
    json.dump({"sent": packets, "took_ns": took_ns}, sys.stdout)


if __name__ == "__main__":
    main()
