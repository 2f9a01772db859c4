"""A connection in whichever version of HTTP an endpoint speaks, and a conversation on it.

Knows both kinds; must not know routes. That of HTTP/2 is loaded where a subject speaks it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.http_connection import Connection, Http1Connection, Request
from wiretrial.subjects.spec import OVER_HTTP2


def connect(endpoint: Endpoint) -> Connection:
    """A connection in the endpoint's version of HTTP."""
    if endpoint.protocol in OVER_HTTP2:
        from wiretrial.subjects.http2_connection import Http2Connection

        return Http2Connection(endpoint)
    return Http1Connection(endpoint)


class HttpConversation:
    """A conversation of numbered requests."""

    def __init__(self, endpoint: Endpoint, sample: Callable[[int], Request]) -> None:
        self._connection = connect(endpoint)
        self._sample = sample

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.release().close()

    def ask(self, *numbers: int) -> None:
        """Sends the requests with these numbers, all in one piece."""
        self._connection.send(*(self._sample(number) for number in numbers))

    def hear(self, number: int) -> None:
        """Reads one answer; raises unless it is the right one to the request of this number."""
        self._connection.receive(self._sample(number))
