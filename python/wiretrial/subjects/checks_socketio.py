"""Checks of the contracts over Socket.IO: `ws-echo` by the event `message`, `rpc` by `get`.

Knows events and right answers; must not know packets, or who serves them.
"""

from __future__ import annotations

from wiretrial.subjects import websocket_parts
from wiretrial.subjects.checks import Check
from wiretrial.subjects.endpoint import Endpoint, expect, payload
from wiretrial.subjects.socketio_connection import EVENT, PATH, SocketIo, event, excerpt

LARGE = 1 << 20
FRAGMENTS = 7
ACKNOWLEDGED = 3


class _Echo(SocketIo):
    """Events whose argument comes back: strings and objects in turn."""

    def ask(self, *numbers: int) -> None:
        """Emits the events with these numbers, all in one piece."""
        self.websocket.send(*(event("message", _argument(number)) for number in numbers))

    def hear(self, number: int) -> None:
        """Reads one event; raises unless it is the one with this number."""
        self.hear_argument(_argument(number))

    def hear_argument(self, argument: object) -> None:
        """Reads one event; raises unless it carries this argument."""
        came = self.receive(EVENT)
        expect(came == ["message", argument], f"the event {excerpt(str(came))} came back")


class _Rpc(SocketIo):
    """Calls for the message of an id, each acknowledged with it."""

    def ask(self, *numbers: int) -> None:
        """Emits the calls with these numbers, all in one piece."""
        self.websocket.send(
            *(event("get", "messages", str(number), ack=number) for number in numbers)
        )

    def hear(self, number: int) -> None:
        """Reads one acknowledgement; raises unless it is the one with this number."""
        wanted = [None, {"id": str(number)}]
        found = self.receive_ack(number)
        expect(found == wanted, f"message {number} was acknowledged with {excerpt(str(found))}")


def _argument(number: int) -> object:
    text = payload(64, number).decode()
    return {"number": number, "text": text, "list": [None, True, 0.5]} if number % 2 else text


def _large(endpoint: Endpoint) -> None:
    argument = payload(LARGE).decode()
    with _Echo(endpoint) as echo:
        echo.websocket.send(event("message", argument))
        echo.hear_argument(argument)


def _acknowledged(endpoint: Endpoint) -> None:
    numbers = range(0, 2 * ACKNOWLEDGED, 2)
    with _Echo(endpoint) as echo:
        for number in numbers:
            echo.websocket.send(event("message", _argument(number), ack=number))
        for number in numbers:
            found = echo.receive_ack(number)
            expect(
                found == [_argument(number)],
                f"message {number} was acknowledged with {excerpt(str(found))}",
            )


def _fragments(endpoint: Endpoint) -> None:
    argument = payload(10_000).decode()
    packet = event("message", argument)
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
