"""What is compared: one message, so many connections, so much in flight.

Knows numbers and names; must not know who generates the load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wiretrial.subjects.spec import Protocol

Scheme = Literal["http", "https", "ws", "wss"]


@dataclass(frozen=True)
class Workload:
    """One load. `depth` requests are in flight per connection; a `pack` goes in one write."""

    name: str
    scheme: Scheme
    server: str
    connections: int
    depth: int = 1
    pack: int = 1
    message_bytes: int = 0
    path: str = "/"

    @property
    def protocol(self) -> Protocol:
        """What the server is asked to speak."""
        return self.scheme

    @property
    def is_websocket(self) -> bool:
        """Whether messages are echoed; else they are GET requests."""
        return self.scheme in ("ws", "wss")

    @property
    def is_secure(self) -> bool:
        """Whether it goes over TLS."""
        return self.scheme in ("https", "wss")


def _echo(connections: int, *, pack: int = 1, message_bytes: int = 20) -> Workload:
    packed = f", packs of {pack}" if pack > 1 else ""
    plural = "connection" if connections == 1 else "connections"
    return Workload(
        name=f"echo {_size(message_bytes)}{packed}, {connections:,} {plural}",
        scheme="ws",
        server="uwebsockets",
        connections=connections,
        depth=pack,
        pack=pack,
        message_bytes=message_bytes,
    )


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    return f"{count // 1024} KiB" if count < 1 << 20 else f"{count >> 20} MiB"


def _get(server: str, path: str, *, scheme: Scheme = "http", depth: int = 1) -> Workload:
    at_depth = f", depth {depth}" if depth > 1 else ""
    return Workload(
        name=f"{scheme} GET, {server}{at_depth}",
        scheme=scheme,
        server=server,
        connections=100,
        depth=depth,
        path=path,
    )


ALL: tuple[Workload, ...] = (
    *(_echo(connections) for connections in (100, 1_000, 10_000)),
    *(_echo(connections, pack=10) for connections in (100, 1_000, 10_000)),
    _echo(100, message_bytes=16 * 1024),
    _echo(1, message_bytes=100 << 20),
    _get("nginx", "/message"),
    _get("nginx", "/message", depth=16),
    _get("uwebsockets", "/message"),
    _get("uwebsockets", "/message", depth=16),
    _get("nginx", "/message", scheme="https"),
    Workload(
        name="echo 20 B over TLS, 100 connections",
        scheme="wss",
        server="uwebsockets",
        connections=100,
        message_bytes=20,
    ),
)


def chosen(words: list[str]) -> tuple[Workload, ...]:
    """Those whose names hold every one of the words; all without a word."""
    return tuple(load for load in ALL if all(word in load.name for word in words))
