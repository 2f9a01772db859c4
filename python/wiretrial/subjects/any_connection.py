"""A connection in whichever version of HTTP an endpoint speaks, and a conversation on it.

Knows all kinds; must not know routes. Those of HTTP/2 and HTTP/3 are loaded where a subject speaks
them.
"""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Self

from wiretrial.errors import SubjectUnavailable
from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.http_connection import (
    Connection,
    Http1Connection,
    Request,
    StreamedConnection,
)
from wiretrial.subjects.spec import ON_STREAMS, Protocol
from wiretrial.words import QUIC


def connect(endpoint: Endpoint) -> Connection:
    """A connection in the endpoint's version of HTTP."""
    return streamed(endpoint) if endpoint.protocol in ON_STREAMS else Http1Connection(endpoint)


def streamed(endpoint: Endpoint, window: int | None = None) -> StreamedConnection:
    """A connection of HTTP/2 or HTTP/3.

    `window`: what it lets through on each stream; with 0 no content ever comes.
    """
    given: dict[str, int] = {} if window is None else {"window": window}
    if endpoint.protocol == QUIC:
        with _aioquic():
            from wiretrial.subjects.http3_connection import Http3Connection
        return Http3Connection(endpoint, **given)
    from wiretrial.subjects.http2_connection import Http2Connection

    return Http2Connection(endpoint, **given)


def begin(endpoint: Endpoint) -> socket.socket:
    """The socket of a peer that connects and says nothing; over QUIC it begins a handshake."""
    if endpoint.protocol != QUIC:
        return endpoint.connect_plain()
    with _aioquic():
        from wiretrial.subjects import http3_connection
    return http3_connection.begin(endpoint)


def require(protocols: Collection[Protocol]) -> None:
    """Raises `SubjectUnavailable` where the checks can't speak one of these here."""
    if QUIC in protocols:
        with _aioquic():
            importlib.import_module("wiretrial.subjects.http3_connection")


@contextmanager
def _aioquic() -> Iterator[None]:
    """Says so where it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise SubjectUnavailable(
            "servers of HTTP/3 are verified by aioquic, which is not installed",
            "pip install 'wiretrial[http3]'",
        ) from error


class HttpConversation:
    """A conversation of numbered requests."""

    def __init__(self, endpoint: Endpoint, sample: Callable[[int], Request]) -> None:
        self._connection = connect(endpoint)
        self._sample = sample

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(self, *numbers: int) -> None:
        """Sends the requests with these numbers, all in one piece."""
        self._connection.send(*(self._sample(number) for number in numbers))

    def hear(self, number: int) -> None:
        """Reads one answer; raises unless it is the right one to the request of this number."""
        self._connection.receive(self._sample(number))
