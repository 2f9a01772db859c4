"""Checks of the contract `ws-echo` over WebSocket: a socket at `/` that sends every message back.

Knows messages and right answers; must not know who serves them.
"""

from __future__ import annotations

from typing import Self

from wiretrial.subjects import websocket_parts
from wiretrial.subjects.checks import Check
from wiretrial.subjects.endpoint import Endpoint, payload
from wiretrial.subjects.websocket_connection import Message, WebSocket, expect_same

PATH = "/"
LARGE = 1 << 20
FRAGMENTS = 7


class _Echo:
    """Text and binary messages in turn, each of which comes back."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.websocket = WebSocket(endpoint, PATH)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.websocket.__exit__()

    def ask(self, *numbers: int) -> None:
        """Sends the messages with these numbers, all in one piece."""
        self.websocket.send(*(_message(number) for number in numbers))

    def hear(self, number: int) -> None:
        """Reads one answer; raises unless it is the message with this number."""
        _same(self.websocket, _message(number))


def _message(number: int) -> Message:
    content = payload(64, number)
    return content if number % 2 else content.decode()


def _same(websocket: WebSocket, message: Message) -> None:
    expect_same(websocket.receive(), message, "came back")


def _sizes(endpoint: Endpoint) -> None:
    with WebSocket(endpoint, PATH) as websocket:
        for size in (0, 1, 125, 126, 127, 65_535, 65_536):
            websocket.send(payload(size))
            _same(websocket, payload(size))


def _large(endpoint: Endpoint) -> None:
    with WebSocket(endpoint, PATH) as websocket:
        websocket.send(payload(LARGE))
        _same(websocket, payload(LARGE))


def _fragments(endpoint: Endpoint) -> None:
    whole = payload(10_000)
    step = -(-len(whole) // FRAGMENTS)
    with WebSocket(endpoint, PATH) as websocket:
        websocket.send_fragments([whole[at : at + step] for at in range(0, len(whole), step)])
        _same(websocket, whole)


ECHO: tuple[Check, ...] = (
    *websocket_parts.parts(_Echo, PATH),
    Check("large", "1 MiB", _large),
    Check("fragments", f"{FRAGMENTS} fragments", _fragments),
    Check("many", "lengths around the header's steps", _sizes),
)
