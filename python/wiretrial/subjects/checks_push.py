"""Checks of the contracts `push` and `long-poll`: what is posted to `/publish` comes to everybody.

Knows events and who must hear them; must not know who serves them, nor how each way tells them.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

from wiretrial.plan import SECURE
from wiretrial.subjects import any_connection, push_parts
from wiretrial.subjects.any_connection import connect, streamed
from wiretrial.subjects.checks import (
    CONNECTIONS,
    HTTP_2,
    HTTP_3,
    MESSAGES,
    Check,
    HalfWay,
    half_open,
)
from wiretrial.subjects.endpoint import Broken, Endpoint, expect, payload
from wiretrial.subjects.http_connection import Answer, Http1Connection, Request
from wiretrial.subjects.push_parts import NEXT, SUBSCRIBE, Listener, Poller
from wiretrial.subjects.spec import ON_STREAMS
from wiretrial.subjects.websocket_connection import half_a_frame, half_a_handshake
from wiretrial.words import CALLS

PUBLISH = "/publish"
LARGE = 64 << 10
LISTENERS = 6
STREAMS = 20
EVENTS = 20
SETTLE_S = 0.1
"""A server may take a subscriber in so long after the head of its stream, or its upgrade."""
AGAIN_S = 0.001
"""From one event to the next, until the first of them is heard."""
QUIET_S = 0.3
"""A poll for which there is nothing waits for longer."""
REFUSED = (404, 405, 501)
"""Statuses of a method that a route does not have."""

Listen = Callable[[Endpoint], Listener]
"""Begins to hear."""
Events = tuple[str, ...]


class _Publisher(Http1Connection):
    """Posts events, one after the other, on one connection."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(_of_publisher(endpoint))

    def publish(self, *events: str) -> None:
        """Returns when the server has taken them all."""
        for event in events:
            self.exchange(Request("POST", PUBLISH, event.encode(), right=_is_taken))


class _Told:
    """One who hears what is asked for, which a publisher of its own posts."""

    def __init__(self, listen: Listen, endpoint: Endpoint) -> None:
        with ExitStack() as stack:
            (self._listener,) = _gather(stack, listen, endpoint, 1)
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


@dataclass(frozen=True)
class _ToAll:
    """Events that are published, and that so many have to hear."""

    listen: Listen
    listeners: int
    events: Events

    def __call__(self, endpoint: Endpoint) -> None:
        """Raises unless each hears each of them."""
        with ExitStack() as stack:
            here = _gather(stack, self.listen, endpoint, self.listeners)
            _publish(stack, endpoint, here, self.events)


class Heard(NamedTuple):
    """The first event that somebody heard."""

    earlier_s: float
    """So long before it the one before was published; 0: it was the first."""
    since_s: float
    """How long ago it was heard."""


def first_event(listen: Listen, endpoint: Endpoint) -> Heard:
    """One who subscribes hears an event; nothing waits until the server has surely taken him in.

    Events are published until one of them is heard.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(listen(endpoint))
        stack.enter_context(publisher := _Publisher(endpoint))
        published_s: list[float] = []
        is_heard = threading.Event()

        def publish() -> None:
            published_s.append(time.monotonic())
            publisher.publish(*_events(len(published_s) - 1, 1))

        def publish_on() -> None:
            while not is_heard.wait(AGAIN_S):
                publish()

        publish()
        with ThreadPoolExecutor(1) as beside:
            # Where it fails, nothing more is heard, and that tells.
            beside.submit(publish_on)
            try:
                heard = listener.hear()
                heard_s = time.monotonic()
            finally:
                is_heard.set()
        events = _events(0, len(published_s))
        expect(heard in events, f"{heard[:40]!r} was heard, and was not published")
    number = events.index(heard)
    earlier_s = published_s[number] - published_s[number - 1] if number else 0.0
    return Heard(earlier_s, time.monotonic() - heard_s)


def _of_publisher(endpoint: Endpoint) -> Endpoint:
    """Where events are posted to: beside those who hear, over HTTP/1.1."""
    over = "https" if endpoint.protocol in SECURE else "http"
    return endpoint.model_copy(update={"protocol": over})


def _is_taken(answer: Answer) -> None:
    expect(answer.content == b"OK", f"POST {PUBLISH} answered {answer.content[:40]!r}, not OK")


def _gather(stack: ExitStack, listen: Listen, endpoint: Endpoint, count: int) -> list[Listener]:
    """So many who hear, and are known to be taken in."""
    here = [stack.enter_context(listen(endpoint)) for _ in range(count)]
    time.sleep(SETTLE_S)
    return here


def _publish(
    stack: ExitStack, endpoint: Endpoint, here: list[Listener], events: Events
) -> _Publisher:
    """Publishes these, which all who are here hear next; who does it may publish more."""
    stack.enter_context(publisher := _Publisher(endpoint))
    publisher.publish(*events)
    _all_hear(here, events)
    return publisher


def _events(first: int, count: int) -> Events:
    return tuple(payload(64, number).decode() for number in range(first, first + count))


def _all_hear(here: list[Listener], events: Events) -> None:
    for listener in here:
        for event in events:
            heard = listener.hear()
            expect(heard == event, f"{heard[:40]!r} was heard where {event[:40]!r} was published")


def _fan_out(listen: Listen, endpoint: Endpoint) -> None:
    """Everybody hears each event once and in order; who has left is not missed, nor told before."""
    with ExitStack() as stack:
        leaver = listen(endpoint)
        with leaver:
            here = _gather(stack, listen, endpoint, LISTENERS - 1)
            publisher = _publish(stack, endpoint, [leaver, *here], _events(0, EVENTS))
        here += _gather(stack, listen, endpoint, 1)
        publisher.publish(*_events(EVENTS, EVENTS))
        # The one who came late hears nothing of what was before.
        _all_hear(here, _events(EVENTS, EVENTS))


def _on_streams(endpoint: Endpoint) -> None:
    """Streams of one connection hear as those of several do."""
    with ExitStack() as stack:
        connection = stack.enter_context(streamed(endpoint))
        here = [push_parts.on_stream(connection) for _ in range(STREAMS)]
        time.sleep(SETTLE_S)
        _publish(stack, endpoint, here, _events(0, EVENTS))


def _methods(endpoint: Endpoint) -> None:
    with _Publisher(endpoint) as connection:
        wrong = Request("GET", PUBLISH)
        connection.send(wrong)
        status = connection.receive_any(wrong.method).status
        expect(status in REFUSED, f"{wrong} answered {status}, not one of {REFUSED}")


def _waits(endpoint: Endpoint) -> None:
    """A poll for which nothing is there is answered when something is."""
    with Poller(endpoint) as poller:
        if poller.is_answered(QUIET_S):
            raise Broken("a poll was answered, and nothing was published")


def _half_asked(endpoint: Endpoint) -> socket.socket:
    """A peer that stops in the middle of its request to hear."""
    if endpoint.protocol in ON_STREAMS:
        connection = connect(endpoint)
        asked = push_parts.CALL if endpoint.protocol in CALLS else push_parts.ASKED
        connection.write(connection.encode(asked)[:-5])
        return connection.release()
    if "ws" in endpoint.protocol:
        return half_a_handshake(endpoint, SUBSCRIBE)
    return _half_a_request(endpoint, SUBSCRIBE)


def _half_polled(endpoint: Endpoint) -> socket.socket:
    """A peer that stops in the middle of its poll."""
    return _half_a_request(endpoint, f"{NEXT}?after=0")


def _half_a_request(endpoint: Endpoint, path: str) -> socket.socket:
    connection = endpoint.connect()
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {endpoint.host}\r\nAcc".encode())
    return connection


def _half_said(endpoint: Endpoint) -> socket.socket:
    """A peer that stops in the middle of what it says: of a frame, or of an event."""
    if endpoint.protocol in ("ws", "wss"):
        return half_a_frame(endpoint, SUBSCRIBE)
    connection = _of_publisher(endpoint).connect()
    head = f"POST {PUBLISH} HTTP/1.1\r\nHost: {endpoint.host}\r\nContent-Length: 64\r\n\r\n"
    connection.sendall(f"{head}half".encode())
    return connection


def _parts(listen: Listen, half_asked: HalfWay) -> tuple[Check, ...]:
    """What holds however it is heard; the first is the readiness probe."""
    to_all = partial(_ToAll, listen)
    fan_out = partial(_fan_out, listen)
    return (
        Check("exchange", "an event", to_all(1, _events(0, 1))),
        Check("many", f"{MESSAGES} events", to_all(1, _events(0, MESSAGES))),
        Check("fan-out", f"{LISTENERS} who hear {EVENTS} events each, one who leaves", fan_out),
        Check("large", "an event of 64 KiB", to_all(2, (payload(LARGE).decode(),))),
        *half_open(partial(_Told, listen), half_asked, _half_said, silent=any_connection.begin),
        Check("concurrency", f"{CONNECTIONS} who hear at once", to_all(CONNECTIONS, _events(0, 2))),
        Check("methods", "GET of what is only posted to", _methods),
    )


PUSH: tuple[Check, ...] = (
    *_parts(push_parts.listener, _half_asked),
    Check("pipelining", f"{STREAMS} streams of one connection", _on_streams, http=HTTP_2 | HTTP_3),
)
LONG_POLL: tuple[Check, ...] = (
    *_parts(Poller, _half_polled),
    Check("exchange", "a poll that waits", _waits),
)
