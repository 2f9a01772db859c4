"""Checks of the contract `push`: what is posted to `/publish` comes to everybody at `/subscribe`.

Knows events and who must hear them; must not know who serves them.
"""

from __future__ import annotations

import http.client
import socket
import time
from contextlib import ExitStack
from typing import Protocol, Self

from wiretrial.plan import SECURE
from wiretrial.subjects.checks import CONNECTIONS, MESSAGES, Check, half_open
from wiretrial.subjects.endpoint import Endpoint, expect, payload
from wiretrial.subjects.http_connection import Answer, Http1Connection, Request, media_type
from wiretrial.subjects.websocket_connection import WebSocket, half_a_frame, half_a_handshake

PUBLISH = "/publish"
SUBSCRIBE = "/subscribe"
EVENT_STREAM = "text/event-stream"
LARGE = 64 << 10
LISTENERS = 6
EVENTS = 20
SETTLE_S = 0.1
"""A server may take a subscriber in so long after the head of its stream, or its upgrade."""
REFUSED = (404, 405, 501)
"""Statuses of a method that a route does not have."""


class Listener(Protocol):
    """Somebody who subscribes. A context manager; leaving it drops the connection."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def hear(self) -> str:
        """The next event."""


class _Stream:
    """A stream of server-sent events."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._connection = http.client.HTTPConnection(endpoint.host, endpoint.port)
        self._connection.sock = endpoint.connect()
        try:
            self._connection.request("GET", SUBSCRIBE, headers={"Accept": EVENT_STREAM})
            self._answer = self._connection.getresponse()
            status, kind = self._answer.status, self._answer.headers.get("Content-Type", "")
            expect(status == 200, f"GET {SUBSCRIBE} answered {status}, not 200")
            expect(media_type(kind) == EVENT_STREAM, f"GET {SUBSCRIBE} is {kind}")
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._answer.close()
        self._connection.close()

    def hear(self) -> str:
        """The data of the next event; comments and other fields are passed over."""
        lines: list[str] = []
        # An empty line behind no data ends no event, but a comment or a retry.
        while (line := self._line()) or not lines:
            name, _, value = line.partition(":")
            if name == "data":
                lines.append(value.removeprefix(" "))
        return "\n".join(lines)

    def _line(self) -> str:
        line = self._answer.readline()
        expect(line.endswith(b"\n"), "a stream of events ended")
        return line.decode().rstrip("\r\n")


class _Socket:
    """A WebSocket, each message of which is an event."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._websocket = WebSocket(endpoint, SUBSCRIBE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._websocket.__exit__()

    def hear(self) -> str:
        """The next message, which is text."""
        message = self._websocket.receive()
        expect(isinstance(message, str), "an event came as a binary message")
        return str(message)


class _Publisher(Http1Connection):
    """Posts events, one after the other, on one connection."""

    def __init__(self, endpoint: Endpoint) -> None:
        over = "https" if endpoint.protocol in SECURE else "http"
        super().__init__(endpoint.model_copy(update={"protocol": over}))

    def publish(self, *events: str) -> None:
        """Returns when the server has taken them all."""
        for event in events:
            self.exchange(Request("POST", PUBLISH, event.encode(), right=_is_taken))


class _Told:
    """One who subscribes, and hears what is asked for, which a publisher of its own posts."""

    def __init__(self, endpoint: Endpoint) -> None:
        with ExitStack() as stack:
            (self._listener,) = _gather(stack, endpoint, 1)
            stack.enter_context(publisher := _Publisher(endpoint))
            self._publisher, self._open = publisher, stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def ask(self, *numbers: int) -> None:
        """Has them published."""
        for number in numbers:
            self._publisher.publish(*_events(number, 1))

    def hear(self, number: int) -> None:
        """Hears that one, as the next."""
        _all_hear([self._listener], _events(number, 1))


def _is_taken(answer: Answer) -> None:
    expect(answer.content == b"OK", f"POST {PUBLISH} answered {answer.content[:40]!r}, not OK")


def _listener(endpoint: Endpoint) -> Listener:
    return _Socket(endpoint) if endpoint.protocol in ("ws", "wss") else _Stream(endpoint)


def _gather(stack: ExitStack, endpoint: Endpoint, count: int) -> list[Listener]:
    """So many who subscribe, and are known to be taken in."""
    here = [stack.enter_context(_listener(endpoint)) for _ in range(count)]
    time.sleep(SETTLE_S)
    return here


def _events(first: int, count: int) -> list[str]:
    return [payload(64, number).decode() for number in range(first, first + count)]


def _all_hear(here: list[Listener], events: list[str]) -> None:
    for listener in here:
        for event in events:
            heard = listener.hear()
            expect(heard == event, f"{heard[:40]!r} was heard where {event[:40]!r} was published")


def _exchange(endpoint: Endpoint) -> None:
    _to_all(endpoint, 1, _events(0, 1))


def _many(endpoint: Endpoint) -> None:
    _to_all(endpoint, 1, _events(0, MESSAGES))


def _crowd(endpoint: Endpoint) -> None:
    _to_all(endpoint, CONNECTIONS, _events(0, 2))


def _large(endpoint: Endpoint) -> None:
    _to_all(endpoint, 2, [payload(LARGE).decode()])


def _to_all(endpoint: Endpoint, listeners: int, events: list[str]) -> None:
    with ExitStack() as stack:
        here = _gather(stack, endpoint, listeners)
        stack.enter_context(publisher := _Publisher(endpoint))
        publisher.publish(*events)
        _all_hear(here, events)


def _fan_out(endpoint: Endpoint) -> None:
    """Everybody hears each event once and in order; who has left is not missed, nor told before."""
    with ExitStack() as stack:
        leaver = _listener(endpoint)
        with leaver:
            here = _gather(stack, endpoint, LISTENERS - 1)
            stack.enter_context(publisher := _Publisher(endpoint))
            publisher.publish(*_events(0, EVENTS))
            _all_hear([leaver, *here], _events(0, EVENTS))
        here += _gather(stack, endpoint, 1)
        publisher.publish(*_events(EVENTS, EVENTS))
        # The one who came late hears nothing of what was before.
        _all_hear(here, _events(EVENTS, EVENTS))


def _methods(endpoint: Endpoint) -> None:
    with _Publisher(endpoint) as connection:
        wrong = Request("GET", PUBLISH)
        connection.send(wrong)
        status = connection.receive_any(wrong.method).status
        expect(status in REFUSED, f"{wrong} answered {status}, not one of {REFUSED}")


def _half_asked(endpoint: Endpoint) -> socket.socket:
    """A peer that stops in the middle of its request to hear."""
    if endpoint.protocol in ("ws", "wss"):
        return half_a_handshake(endpoint, SUBSCRIBE)
    connection = endpoint.connect()
    connection.sendall(f"GET {SUBSCRIBE} HTTP/1.1\r\nHost: {endpoint.host}\r\nAcc".encode())
    return connection


def _half_said(endpoint: Endpoint) -> socket.socket:
    """A peer that stops in the middle of what it says: of a frame, or of an event."""
    if endpoint.protocol in ("ws", "wss"):
        return half_a_frame(endpoint, SUBSCRIBE)
    connection = endpoint.connect()
    head = f"POST {PUBLISH} HTTP/1.1\r\nHost: {endpoint.host}\r\nContent-Length: 64\r\n\r\n"
    connection.sendall(f"{head}half".encode())
    return connection


PUSH: tuple[Check, ...] = (
    Check("exchange", "an event", _exchange),
    Check("many", f"{MESSAGES} events", _many),
    Check("fan-out", f"{LISTENERS} who hear {EVENTS} events each, one who leaves", _fan_out),
    Check("large", "an event of 64 KiB", _large),
    *half_open(_Told, _half_asked, _half_said),
    Check("concurrency", f"{CONNECTIONS} who hear at once", _crowd),
    Check("methods", "GET of what is only posted to", _methods),
)
