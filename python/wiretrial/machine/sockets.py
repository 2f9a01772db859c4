"""What the kernel knows of single TCP connections: how long each was busy, and what held it up.

Knows sock_diag(7) and TCP_INFO; must not know what is sent. It follows a few connections and asks
for each by its addresses: a list of all would stall a machine with a million of them, which is also
why no library is used that reads such a list to its end.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple

from wiretrial.launch import CLONE_NEWNET
from wiretrial.machine import counters

FOLLOWED = 16
"""Connections of one side. They are the first of the kernel's hash table, so as good as drawn."""
ANSWER_LIMIT_S = 1.0
LIST_PERIOD_NS = 2_000_000_000
"""Where connections end, others take their places, but not sooner: finding few is costly too."""
FIRST_PERIOD_NS = 200_000_000
"""Until one is found, the next look comes sooner, and each one half as often as that before."""

_SOCK_DIAG_BY_FAMILY = 20
_NETLINK_SOCK_DIAG = 4
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_REQUEST, _DUMP = 0x001, 0x300
_INET_DIAG_INFO = 2
_ESTABLISHED = 1 << 1

_HEADER = struct.Struct("=IHHII")
_REQUEST_HEAD = struct.Struct("=BBBBI")
_NO_COOKIE = b"\xff" * 8
# Family, state, timer, retransmissions; the identity; expiry, queues, user, inode.
_ANSWER = struct.Struct("=BBBB48sIIIII")
_ATTRIBUTE = struct.Struct("=HH")
_TOTAL_RETRANSMITTED = 100
_LIMITS = struct.Struct("=QQQ")
_LIMITS_AT = 168


@dataclass(frozen=True)
class Totals:
    """Sums over the followed connections, since each was first seen. They never shrink.

    The three times are counted by the kernel in its timer ticks of 1 to 10 ms.
    """

    followed_ns: int = 0
    """How long each was followed."""
    busy_ns: int = 0
    """Data was under way or waiting to be."""
    receive_window_limited_ns: int = 0
    """The peer's window had no room."""
    send_buffer_limited_ns: int = 0
    """Our buffer had no room: the program could have sent more."""
    retransmitted: int = 0
    """Segments."""
    send_queue_byte_ns: int = 0
    """Bytes not acknowledged yet, times how long; by `followed_ns` it is the mean queue."""
    receive_queue_byte_ns: int = 0
    """Bytes that the program had not read yet, likewise."""


class _State(NamedTuple):
    busy_us: int
    receive_window_us: int
    send_buffer_us: int
    retransmitted: int
    send_queue: int
    receive_queue: int


class Followed:
    """Some connections of one side. `pid` is a process in whose network namespace they are.

    One of the ports is given: the server's own side has it as `local`, the other as `remote`.
    Raises `OSError` where the kernel has no sock_diag or lets us have none.
    """

    def __init__(self, pid: int, *, local: int = 0, remote: int = 0) -> None:
        self._pid = pid
        self._ports = struct.pack("!HH", local, remote)
        self._socket = _open(pid)
        self._states: dict[bytes, _State] = {}
        self._at_ns = self._listed_ns = 0
        self._period_ns = FIRST_PERIOD_NS
        self._asked = 0
        self._totals = Totals()

    def close(self) -> None:
        """Forgets them."""
        self._socket.close()

    def find(self) -> None:
        """Looks for connections that stand; those that are followed already stay."""
        with contextlib.suppress(OSError):
            self._listed_ns = self._at_ns = time.monotonic_ns()
            found = {**self._states, **dict(self._list())}
            self._states = dict(list(found.items())[:FOLLOWED])
            if self._states:
                self._period_ns = LIST_PERIOD_NS

    def read(self) -> Totals | None:
        """The sums until now; None before there was any connection."""
        with contextlib.suppress(OSError):
            now = time.monotonic_ns()
            seen = dict(self._ask(list(self._states)))
            elapsed = now - self._at_ns
            grown = [_growth(self._states[one], state, elapsed) for one, state in seen.items()]
            self._totals = Totals(*map(sum, zip(astuple(self._totals), *grown, strict=True)))
            ended = not seen or len(seen) < len(self._states)
            self._states, self._at_ns = seen, now
            if ended and now >= self._listed_ns + self._period_ns:
                self._period_ns = min(2 * self._period_ns, LIST_PERIOD_NS)
                self.find()
        return self._totals if self._states or self._totals.followed_ns else None

    def _ask(self, requests: list[bytes]) -> Iterator[tuple[bytes, _State]]:
        """The state of each connection that is still there."""
        first, self._asked = self._asked, self._asked + len(requests)
        asked = dict(enumerate(requests, start=first))
        if asked:
            self._socket.send(
                b"".join(_message(request, _REQUEST, number) for number, request in asked.items())
            )
        for _ in requests:
            for number, kind, body in _messages(self._socket.recv(1 << 16)):
                found = _parse(body) if kind == _SOCK_DIAG_BY_FAMILY else None
                # An answer that came too late has an older number.
                if found and number in asked:
                    yield asked[number], found[1]

    def _list(self) -> Iterator[tuple[bytes, _State]]:
        """Connections that stand, as many as we want of them and hardly more."""
        left = FOLLOWED
        for family in (socket.AF_INET, socket.AF_INET6):
            # A socket of its own: closing it is how the rest of the list is declined.
            with contextlib.closing(_open(self._pid)) as asking:
                asking.send(_message(_request(family, self._ports), _REQUEST | _DUMP, 0))
                more = True
                while more and left > 0:
                    for _, kind, body in _messages(asking.recv(1 << 16)):
                        found = _parse(body) if kind == _SOCK_DIAG_BY_FAMILY else None
                        more = more and kind not in (_NLMSG_DONE, _NLMSG_ERROR)
                        if found:
                            left -= 1
                            yield found


def _growth(before: _State, after: _State, elapsed: int) -> tuple[int, ...]:
    """In the order of `Totals`. A time that went back, as jiffies may, counts as nothing."""
    return (
        elapsed,
        max(0, after.busy_us - before.busy_us) * 1000,
        max(0, after.receive_window_us - before.receive_window_us) * 1000,
        max(0, after.send_buffer_us - before.send_buffer_us) * 1000,
        max(0, after.retransmitted - before.retransmitted),
        after.send_queue * elapsed,
        after.receive_queue * elapsed,
    )


def _request(family: int, ports: bytes, identity: bytes = b"") -> bytes:
    whole = identity or ports + bytes(36) + _NO_COOKIE
    head = _REQUEST_HEAD.pack(
        family, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), 0, _ESTABLISHED
    )
    return head + whole


def _message(request: bytes, flags: int, number: int) -> bytes:
    head = _HEADER.pack(_HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, flags, number, 0)
    return head + request


def _messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, kind and body of each message."""
    at = 0
    while at + _HEADER.size <= len(data):
        length, kind, _, number, _ = _HEADER.unpack_from(data, at)
        yield number, kind, data[at + _HEADER.size : at + length]
        at += max(_HEADER.size, (length + 3) & ~3)


def _parse(body: bytes) -> tuple[bytes, _State] | None:
    """How to ask for the connection again, and its state; None where too little is told."""
    family, _, _, _, identity, _, receive_queue, send_queue, _, _ = _ANSWER.unpack_from(body)
    at = _ANSWER.size
    while at + _ATTRIBUTE.size <= len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, at)
        info = body[at + _ATTRIBUTE.size : at + length]
        if kind == _INET_DIAG_INFO and len(info) >= _LIMITS_AT + _LIMITS.size:
            busy, window, buffer = _LIMITS.unpack_from(info, _LIMITS_AT)
            (retransmitted,) = struct.unpack_from("=I", info, _TOTAL_RETRANSMITTED)
            state = _State(busy, window, buffer, retransmitted, send_queue, receive_queue)
            return _request(family, b"", identity), state
        at += max(_ATTRIBUTE.size, (length + 3) & ~3)
    return None


def _open(pid: int) -> socket.socket:
    """A socket to ask with, in the network namespace of `pid`."""
    if counters.same_namespace(pid):
        return _open_here()
    # A thread enters alone, and the socket stays where it was made.
    made: list[socket.socket | OSError] = []

    def enter() -> None:
        try:
            with Path(f"/proc/{pid}/ns/net").open("rb") as file:
                libc = ctypes.CDLL(None, use_errno=True)
                if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
                    number = ctypes.get_errno()
                    raise OSError(number, os.strerror(number))
            made.append(_open_here())
        except OSError as error:
            made.append(error)

    thread = threading.Thread(target=enter, name="netlink")
    thread.start()
    thread.join()
    if isinstance(made[0], OSError):
        raise made[0]
    return made[0]


def _open_here() -> socket.socket:
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
    opened.settimeout(ANSWER_LIMIT_S)
    return opened
