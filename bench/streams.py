"""What is compared over HTTP/2: a server, one request, so many connections with so many streams.

Knows numbers and names; must not know who generates the load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CONNECTIONS = 10
STREAMS = (1, 10, 100)
MESSAGE_BYTES = 20
"""Content of a request that has some, and of a call's text."""

Kind = Literal["get", "post", "call"]


@dataclass(frozen=True)
class StreamLoad:
    """`streams` requests are in flight on each connection.

    `server` is a subject of the catalogue. A "post" sends MESSAGE_BYTES and has them
    back, a "call" is one of gRPC that does.
    """

    server: str
    kind: Kind
    streams: int
    path: str
    is_secure: bool = False
    connections: int = CONNECTIONS

    @property
    def name(self) -> str:
        """What it is called in tables and on the command line."""
        what = {"get": "GET", "post": "POST", "call": "gRPC"}[self.kind]
        over = " over TLS" if self.is_secure else ""
        return f"{what}{over}, {self.server}, {self.connections} x {self.streams}"

    @property
    def message_bytes(self) -> int:
        """Content of a request."""
        return 0 if self.kind == "get" else MESSAGE_BYTES


def _each(server: str, kind: Kind, path: str, *, is_secure: bool = False) -> tuple[StreamLoad, ...]:
    return tuple(StreamLoad(server, kind, count, path, is_secure) for count in STREAMS)


GRPC_PATH = "/wiretrial.Echo/Unary"

ALL: tuple[StreamLoad, ...] = (
    *_each("nginx-http2", "get", "/message"),
    *_each("h2o", "get", "/message"),
    *_each("nghttpd", "post", "/echo"),
    *_each("reference-http2", "get", "/message"),
    *_each("nginx-http2", "get", "/message", is_secure=True),
    *_each("reference-http2", "call", GRPC_PATH),
    *_each("grpc-go", "call", GRPC_PATH),
)


def chosen(words: list[str]) -> tuple[StreamLoad, ...]:
    """Those whose names hold every one of the words; all without a word."""
    return tuple(load for load in ALL if all(word in load.name for word in words))
