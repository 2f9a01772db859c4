"""Socket.IO as the checks speak it (protocol 5 over Engine.IO 4): packets on one WebSocket.

Knows packets and the main namespace; must not know what events mean. The first digit of a text
frame is Engine.IO's, the second Socket.IO's.
"""

from __future__ import annotations

import json
from typing import Any, Self

from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.websocket_connection import WebSocket

PATH = "/socket.io/?EIO=4&transport=websocket"

OPEN = "0"
PING = "2"
PONG = "3"
CONNECT = "40"
EVENT = "42"
ACK = "43"


class SocketIo:
    """A connection to the main namespace. A context manager; leaving it drops the connection."""

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
        expect(packet.startswith(kind), f"the packet {excerpt(packet)} came, not one of {kind}")
        try:
            return json.loads(packet[len(kind) :])
        except ValueError:
            raise Broken(f"the packet {excerpt(packet)} carries no JSON") from None

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


def event(name: str, *arguments: object, ack: int | None = None) -> str:
    """The packet of an event, which asks for an acknowledgement where that has a number."""
    number = "" if ack is None else str(ack)
    return f"{EVENT}{number}{json.dumps([name, *arguments])}"


def excerpt(text: str) -> str:
    """The begin of what came, as people are shown it."""
    return f"{text[:60]!r}"
