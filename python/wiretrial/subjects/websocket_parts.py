"""The parts that every contract over WebSocket has, for whatever its messages are.

Knows WebSocket's own rules; must not know what the messages mean.
"""

from __future__ import annotations

import contextlib
from typing import Protocol

from wiretrial.subjects import checks, websocket_connection
from wiretrial.subjects.checks import Check, Conversation
from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.websocket_connection import NORMAL, WebSocket

MESSAGES = 100


class WebSocketConversation(Conversation, Protocol):
    """A conversation of numbered messages over one WebSocket."""

    websocket: WebSocket


class Begin(Protocol):
    """Opens a conversation."""

    def __call__(self, endpoint: Endpoint, /) -> WebSocketConversation: ...


def parts(begin: Begin, path: str) -> tuple[Check, ...]:
    """Every part that follows from one kind of message; the first is the readiness probe."""

    def ping(endpoint: Endpoint) -> None:
        with begin(endpoint) as conversation:
            conversation.websocket.ping(b"still there?")
            conversation.ask(0)
            conversation.hear(0)

    def close(endpoint: Endpoint) -> None:
        with begin(endpoint) as conversation:
            conversation.ask(0)
            conversation.hear(0)
            code = conversation.websocket.close()
        expect(code == NORMAL, f"a close with {NORMAL} was answered with {code}")

    def bad_frame(endpoint: Endpoint) -> None:
        """An unmasked frame ends its own connection, and nobody else's."""
        with begin(endpoint) as bystander:
            with WebSocket(endpoint, path) as offender:
                offender.socket.sendall(b"\x82\x01x")
                try:
                    with contextlib.suppress(ConnectionResetError):
                        while offender.socket.recv(4096):
                            pass
                except TimeoutError:
                    raise Broken("a connection with an unmasked frame was kept open") from None
            bystander.ask(0)
            bystander.hear(0)

    return (
        checks.exchange(begin),
        checks.many(begin),
        checks.at_once(begin, "in-flight", MESSAGES, "messages"),
        Check("ping", "ping", ping),
        Check("close", "close", close),
        Check("bad-frame", "bad frame", bad_frame),
        *checks.half_open(
            begin,
            lambda endpoint: websocket_connection.half_a_handshake(endpoint, path),
            lambda endpoint: websocket_connection.half_a_frame(endpoint, path),
        ),
        *checks.concurrency(begin),
    )
