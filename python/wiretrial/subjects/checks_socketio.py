"""Checks of the contracts over Socket.IO: `ws-echo` by the event `message`, `rpc` by `get`.

Knows Socket.IO's packets (protocol 5 over Engine.IO 4) on one WebSocket; must not know who serves
them. The first digit of a text frame is Engine.IO's, the second Socket.IO's.
"""

from __future__ import annotations

import json
from typing import Any, Self

from wiretrial.subjects import websocket_parts
from wiretrial.subjects.checks import Check
from wiretrial.subjects.endpoint import Broken, Endpoint, expect, payload
from wiretrial.subjects.websocket_connection import WebSocket

PATH = "/socket.io/?EIO=4&transport=websocket"
LARGE = 1 << 20
FRAGMENTS = 7
ACKNOWLEDGED = 3

OPEN = "0"
PING = "2"
PONG = "3"
CONNECT = "40"
EVENT = "42"
ACK = "43"


class _SocketIo:
    """A connection to the main namespace."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.websocket = WebSocket(endpoint, PATH)
        try:
            self._connect()
        except BaseException:
            self.websocket.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.websocket.__exit__()

    def receive(self, kind: str) -> Any:
        """What the next packet carries, which must be of this kind. Heartbeats are answered."""
        while (packet := self._next_packet()) == PING:
            self.websocket.send(PONG)
        expect(packet.startswith(kind), f"the packet {_excerpt(packet)} came, not one of {kind}")
        try:
            return json.loads(packet[len(kind) :])
        except ValueError:
            raise Broken(f"the packet {_excerpt(packet)} carries no JSON") from None

    def receive_ack(self, number: int) -> Any:
        """What the acknowledgement of the event with this number carries."""
        return self.receive(f"{ACK}{number}")

    def _connect(self) -> None:
        told = self.receive(OPEN)
        expect(
            isinstance(told, dict) and bool(told.get("sid")), f"the session {told!r} has no `sid`"
        )
        self.websocket.send(CONNECT)
        told = self.receive(CONNECT)
        expect(
            isinstance(told, dict) and bool(told.get("sid")),
            f"the connection {told!r} has no `sid`",
        )

    def _next_packet(self) -> str:
        packet = self.websocket.receive()
        if isinstance(packet, bytes):
            raise Broken("a binary packet came, and none was asked for")
        return packet


class _Echo(_SocketIo):
    """Events whose argument comes back: strings and objects in turn."""

    def ask(self, *numbers: int) -> None:
        """Emits the events with these numbers, all in one piece."""
        self.websocket.send(*(_event("message", _argument(number)) for number in numbers))

    def hear(self, number: int) -> None:
        """Reads one event; raises unless it is the one with this number."""
        self.hear_argument(_argument(number))

    def hear_argument(self, argument: object) -> None:
        """Reads one event; raises unless it carries this argument."""
        event = self.receive(EVENT)
        expect(event == ["message", argument], f"the event {_excerpt(str(event))} came back")


class _Rpc(_SocketIo):
    """Calls for the message of an id, each acknowledged with it."""

    def ask(self, *numbers: int) -> None:
        """Emits the calls with these numbers, all in one piece."""
        self.websocket.send(
            *(_event("get", "messages", str(number), ack=number) for number in numbers)
        )

    def hear(self, number: int) -> None:
        """Reads one acknowledgement; raises unless it is the one with this number."""
        wanted = [None, {"id": str(number)}]
        found = self.receive_ack(number)
        expect(found == wanted, f"message {number} was acknowledged with {_excerpt(str(found))}")


def _event(name: str, *arguments: object, ack: int | None = None) -> str:
    number = "" if ack is None else str(ack)
    return f"{EVENT}{number}{json.dumps([name, *arguments])}"


def _argument(number: int) -> object:
    text = payload(64, number).decode()
    return {"number": number, "text": text, "list": [None, True, 0.5]} if number % 2 else text


def _excerpt(text: str) -> str:
    return f"{text[:60]!r}"


def _large(endpoint: Endpoint) -> None:
    argument = payload(LARGE).decode()
    with _Echo(endpoint) as echo:
        echo.websocket.send(_event("message", argument))
        echo.hear_argument(argument)


def _acknowledged(endpoint: Endpoint) -> None:
    numbers = range(0, 2 * ACKNOWLEDGED, 2)
    with _Echo(endpoint) as echo:
        for number in numbers:
            echo.websocket.send(_event("message", _argument(number), ack=number))
        for number in numbers:
            found = echo.receive_ack(number)
            expect(
                found == [_argument(number)],
                f"message {number} was acknowledged with {_excerpt(str(found))}",
            )


def _fragments(endpoint: Endpoint) -> None:
    argument = payload(10_000).decode()
    packet = _event("message", argument)
    step = -(-len(packet) // FRAGMENTS)
    with _Echo(endpoint) as echo:
        echo.websocket.send_fragments(
            [packet[at : at + step] for at in range(0, len(packet), step)]
        )
        echo.hear_argument(argument)


ECHO: tuple[Check, ...] = (
    *websocket_parts.parts(_Echo, PATH),
    Check("many", f"{ACKNOWLEDGED} acknowledgements instead of events", _acknowledged),
    Check("large", "1 MiB", _large),
    Check("fragments", f"{FRAGMENTS} fragments", _fragments),
)

RPC: tuple[Check, ...] = websocket_parts.parts(_Rpc, PATH)
