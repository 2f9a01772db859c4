"""Checks of the contract `ws-broadcast`: at `/broadcast` everybody hears every message.

Knows messages and who must hear them; must not know who serves them.
"""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from typing import Self

from wiretrial.subjects import websocket_parts
from wiretrial.subjects.checks import Check
from wiretrial.subjects.endpoint import Endpoint, expect, payload
from wiretrial.subjects.websocket_connection import Message, WebSocket, expect_same

PATH = "/broadcast"
LARGE = 1 << 20
LISTENERS = 6
MESSAGES = 10
# The numbers of messages beside those.
HERE, ALL_HERE = 1000, 1001

_names = itertools.count(1)


class _Listener:
    """Text and binary messages in turn, which come back among those of others."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.name = f"{next(_names):08x}"
        self.websocket = WebSocket(endpoint, PATH)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.websocket.__exit__()

    def ask(self, *numbers: int) -> None:
        """Sends the messages with these numbers, all in one piece."""
        self.websocket.send(*(self.message(number) for number in numbers))

    def hear(self, number: int) -> None:
        """Reads up to its own next message; raises unless it is the one with this number."""
        heard = self.websocket.receive()
        while not _text(heard).startswith(self.name):
            heard = self.websocket.receive()
        _same(heard, self.message(number))

    def message(self, number: int) -> Message:
        """What it says with this number."""
        content = self.name.encode() + payload(64, number)
        return content if number % 2 else content.decode()


def _text(message: Message) -> str:
    return message if isinstance(message, str) else message.decode(errors="replace")


def _same(heard: Message, said: Message) -> None:
    expect_same(heard, said, "arrived")


def _fan_out(endpoint: Endpoint) -> None:
    """Everybody hears everybody, each one's messages in their order; who has left is not missed."""
    with ExitStack() as stack:
        here = _gather(stack, endpoint, LISTENERS)
        _all_hear(here, [here[0]], range(1))
        _all_hear(here, here, range(1, 1 + MESSAGES))
        leaver, *rest = here
        leaver.websocket.close()
        _all_hear(rest, rest, range(1 + MESSAGES, 3 + MESSAGES))


def _gather(stack: ExitStack, endpoint: Endpoint, count: int) -> list[_Listener]:
    """Connections that are known to listen, to each of which nothing is on its way.

    A server may take a connection in a moment after its upgrade: it listens for sure once it has
    heard itself.
    """
    here = []
    for _ in range(count):
        listener = stack.enter_context(_Listener(endpoint))
        listener.ask(HERE)
        listener.hear(HERE)
        here.append(listener)
    # Behind all that those before have still to hear.
    here[0].ask(ALL_HERE)
    for listener in here:
        while listener.websocket.receive() != here[0].message(ALL_HERE):
            pass
    return here


def _all_hear(here: list[_Listener], speakers: list[_Listener], numbers: range) -> None:
    for speaker in speakers:
        speaker.ask(*numbers)
    for listener in here:
        awaited = {speaker.name: iter(numbers) for speaker in speakers}
        by_name = {speaker.name: speaker for speaker in speakers}
        for _ in range(len(speakers) * len(numbers)):
            heard = listener.websocket.receive()
            name = _text(heard)[:8]
            number = next(awaited.get(name, iter(())), None)
            expect(number is not None, "a message was heard again, or nobody had said it")
            assert number is not None
            _same(heard, by_name[name].message(number))


def _large(endpoint: Endpoint) -> None:
    with ExitStack() as stack:
        here = _gather(stack, endpoint, 2)
        here[0].websocket.send(payload(LARGE))
        for listener in here:
            _same(listener.websocket.receive(), payload(LARGE))


BROADCAST: tuple[Check, ...] = (
    *websocket_parts.parts(_Listener, PATH),
    Check("fan-out", f"{LISTENERS} who hear each other", _fan_out),
    Check("large", "1 MiB", _large),
)
