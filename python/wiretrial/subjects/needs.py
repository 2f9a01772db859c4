"""Which parts of a contract a workload needs, as the contracts' table says.

Knows parts and what is asked of a connection; must not know studies, or which subject is asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from wiretrial.subjects.spec import ON_STREAMS, Part, Protocol
from wiretrial.words import HTTP

LARGE_BYTES = 64 * 1024
"""A message above this is large."""

CROWD: frozenset[Part] = frozenset({"many", "half-open", "concurrency", "pool"})
"""What shows only where connections stay or there are more of them than threads."""


@dataclass(frozen=True)
class Workload:
    """What is asked of a subject, as far as it decides what the subject must be able to do."""

    protocol: Protocol
    connections: int = 1
    depth: int = 1
    pack: int = 1
    message_bytes: int = 0
    requests_per_connection: int | None = None
    """None: a connection is kept for all of them."""
    held: bool = False
    """Whether connections stand open without a message."""
    delay_ms: int = 0
    table_size: int = 1
    """Players at each table, where there are tables."""
    lobby: bool = False
    """Whether the players look at the lobby."""
    broadcast: bool = False
    """Whether each message comes to all connections."""
    streams: bool = False
    """Whether a side of a call sends several messages."""
    copies: bool = False
    """Whether several copies of it may stand side by side."""


def needed_parts(workload: Workload) -> frozenset[Part]:
    """What must hold before the subject is measured."""
    needed: set[Part] = {"exchange"}
    if workload.requests_per_connection != 1:
        needed.add("many")
    if workload.depth > 1 or workload.pack > 1:
        asks = workload.protocol in HTTP or workload.protocol in ON_STREAMS
        needed.add("pipelining" if asks else "in-flight")
    if workload.message_bytes > LARGE_BYTES:
        needed.add("large")
    if workload.connections > 1:
        needed |= {"half-open", "concurrency"}
    if workload.streams:
        needed.add("streaming")
    if workload.copies:
        needed.add("address")
    if workload.held and workload.protocol in ("ws", "wss", "socketio+ws", "socketio+wss"):
        needed.add("ping")
    if workload.protocol.startswith("styx"):
        needed |= {"seats", "sequence"}
        if workload.delay_ms:
            needed.add("delay")
    elif workload.delay_ms:
        needed |= {"delay", "pool"}
    if workload.table_size > 1 or (workload.broadcast and workload.connections > 1):
        needed.add("fan-out")
    if workload.lobby:
        needed.add("lobby")
    return frozenset(needed)
