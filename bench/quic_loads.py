"""What is compared over HTTP/3: a server, a GET of 1 KiB, so many connections with so many streams.

Knows numbers and names; must not know who generates the load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from wiretrial.snapshot import Summary

CONNECTIONS = 10
STREAMS = (1, 32)
CONTENT_BYTES = 1024
"""Content of a reply."""
PATH = f"/bytes/{CONTENT_BYTES}"


@dataclass(frozen=True)
class QuicLoad:
    """`streams` requests are in flight on each connection."""

    server: Literal["reference", "quic-go"]
    streams: int
    connections: int = CONNECTIONS

    @property
    def name(self) -> str:
        """What it is called in tables and on the command line."""
        return f"GET, {self.server}, {self.connections} x {self.streams}"


ALL = tuple(QuicLoad(server, count) for server in ("reference", "quic-go") for count in STREAMS)


def chosen(words: list[str]) -> tuple[QuicLoad, ...]:
    """Those whose names hold every one of the words; all without a word."""
    return tuple(load for load in ALL if all(word in load.name for word in words))


@dataclass(frozen=True)
class Shape:
    """What goes and comes for the requests of one connection that are in flight together, bytes.

    The segments are the lengths of the datagrams that it goes in, and comes in.
    """

    sent: int
    sent_segment: int
    received: int
    received_segment: int


def shape(load: QuicLoad, found: Summary) -> Shape:
    """That of a run of our own generator; raises ValueError where nothing went."""
    carried = found.http3
    if carried is None or not (found.counters.ok and carried.datagrams_sent):
        raise ValueError("no datagram went")
    turns = found.counters.ok / load.streams
    return Shape(
        round(found.bytes.sent / turns),
        math.ceil(found.bytes.sent / carried.datagrams_sent),
        round(found.bytes.received / turns),
        math.ceil(found.bytes.received / max(carried.datagrams_received, 1)),
    )
