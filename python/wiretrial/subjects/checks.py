"""What a check is, and the checks that every contract shares.

Knows conversations: something is asked, and the right answer comes back; must not know protocols.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol, Self

from wiretrial.plan import AnyHttpVersion
from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.spec import Part

MESSAGES = 100
CONNECTIONS = 50
PEERS = 4
"""Peers of each kind that stop in the middle."""
ELSEWHERE = "127.0.0.9"
"""Loopback too, but nobody is told to listen there."""


@dataclass(frozen=True)
class Setting:
    """How a server is started for a check; it gets as many of the threads as it can use."""

    threads: int = 1
    delay_ms: int = 0


STANDARD = Setting()
SEVERAL_THREADS = Setting(threads=2)

HTTP_1: frozenset[AnyHttpVersion] = frozenset({"1.1"})
HTTP_2: frozenset[AnyHttpVersion] = frozenset({"2"})
HTTP_3: frozenset[AnyHttpVersion] = frozenset({"3"})


@dataclass(frozen=True)
class Check:
    """One question to a server. `function` raises where the answer is wrong."""

    part: Part
    name: str
    function: Callable[[Endpoint], None]
    setting: Setting = STANDARD
    inside_tls: bool = True
    """False where TLS has no counterpart of what is checked."""
    http: frozenset[AnyHttpVersion] = HTTP_1 | HTTP_2 | HTTP_3
    """Versions of HTTP that have what is checked."""


class Conversation(Protocol):
    """One open connection. A context manager; leaving it drops the connection."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def ask(self, *numbers: int) -> None:
        """Sends the messages with these numbers, all in one piece."""

    def hear(self, number: int) -> None:
        """Reads one answer; raises unless it is the right one to the message with this number."""


Begin = Callable[[Endpoint], Conversation]
"""Opens a conversation."""

HalfWay = Callable[[Endpoint], socket.socket]
"""Connects, says half of something, and stops there."""


def exchange(begin: Begin) -> Check:
    """One message and its answer."""

    def check(endpoint: Endpoint) -> None:
        with begin(endpoint) as conversation:
            conversation.ask(0)
            conversation.hear(0)

    return Check("exchange", "one exchange", check)


def address() -> Check:
    """It listens where it is told and nowhere else: copies share their ports."""

    def check(endpoint: Endpoint) -> None:
        try:
            endpoint.knock(ELSEWHERE)
        except ConnectionRefusedError:
            return
        raise Broken(f"it listens on {ELSEWHERE} too, but was told {endpoint.host}")

    return Check("address", "its address, and no other", check)


def many(begin: Begin) -> Check:
    """One message after the other on one connection."""

    def check(endpoint: Endpoint) -> None:
        with begin(endpoint) as conversation:
            for number in range(MESSAGES):
                conversation.ask(number)
                conversation.hear(number)

    return Check("many", f"{MESSAGES} messages on one connection", check)


def at_once(begin: Begin, part: Part, count: int, what: str) -> Check:
    """Several messages in one piece, answered in order; after them the connection goes on."""

    def check(endpoint: Endpoint) -> None:
        with begin(endpoint) as conversation:
            conversation.ask(*range(count))
            for number in range(count):
                conversation.hear(number)
            conversation.ask(count)
            conversation.hear(count)

    return Check(part, f"{count} {what} at once", check)


def concurrency(begin: Begin) -> tuple[Check, ...]:
    """Many connections, all open and all waiting for their answers at the same time.

    The deadline is that of all together: a server that takes one after the other would meet it
    each time, and need minutes.
    """

    def check(endpoint: Endpoint) -> None:
        ends = time.monotonic() + endpoint.deadline_s
        with ExitStack() as stack:
            open_ = []
            for _ in range(CONNECTIONS):
                open_.append(stack.enter_context(begin(endpoint)))
                in_time(f"only {len(open_)} of {CONNECTIONS} connections were accepted", ends)
            for turn in range(2):
                numbers = range(turn * CONNECTIONS, (turn + 1) * CONNECTIONS)
                for number, conversation in zip(numbers, open_, strict=True):
                    conversation.ask(number)
                for answered, conversation in enumerate(open_, 1):
                    conversation.hear(numbers[answered - 1])
                    in_time(f"only {answered} of {CONNECTIONS} connections were answered", ends)

    def in_time(otherwise: str, ends: float) -> None:
        expect(time.monotonic() < ends, f"{otherwise} in time")

    name = f"{CONNECTIONS} connections at once"
    return (
        Check("concurrency", name, check),
        Check("concurrency", f"{name}, several threads", check, SEVERAL_THREADS),
    )


def half_open(
    begin: Begin, *half_ways: HalfWay, silent: HalfWay = Endpoint.connect_plain
) -> tuple[Check, ...]:
    """Peers that stop in the middle, or vanish there, while another is answered.

    `silent`: those that connect and say nothing, not even a TLS greeting.
    """
    answer = exchange(begin).function

    def stay(endpoint: Endpoint) -> None:
        with ExitStack() as stack:
            for half_way in (silent, *half_ways):
                for _ in range(PEERS):
                    stack.enter_context(half_way(endpoint))
            answer(endpoint)

    def vanish(endpoint: Endpoint) -> None:
        for half_way in (silent, *half_ways):
            for _ in range(PEERS):
                reset(half_way(endpoint))
        answer(endpoint)

    return (
        Check("half-open", "peers that stop in the middle", stay),
        Check("half-open", "peers that vanish", vanish),
    )


def reset(connection: socket.socket) -> None:
    """Drops a connection as a crashed peer does: by RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
