"""A WebSocket as the checks speak it. One thread, one socket: what a TLS connection holds must not
be read and written by two.

Knows frames and the handshake, sans-IO by `websockets`; must not know what the messages mean.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Sequence
from typing import Self

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from wiretrial.plan import SECURE
from wiretrial.subjects.endpoint import Broken, Endpoint, expect

NORMAL = 1000
LARGEST = 4 << 20

Message = str | bytes


class WebSocket:
    """An open WebSocket. A context manager; leaving it drops the connection."""

    def __init__(self, endpoint: Endpoint, path: str) -> None:
        self.socket = endpoint.connect()
        self._frames: deque[Frame] = deque()
        scheme = "wss" if endpoint.protocol in SECURE else "ws"
        uri = parse_uri(f"{scheme}://{endpoint.host}:{endpoint.port}{path}")
        self._protocol = ClientProtocol(uri, max_size=LARGEST)
        try:
            self._shake_hands()
        except BaseException:
            self.socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *messages: Message) -> None:
        """Sends messages, a frame for each, all in one piece."""
        for message in messages:
            if isinstance(message, str):
                self._protocol.send_text(message.encode())
            else:
                self._protocol.send_binary(message)
        self._flush()

    def send_fragments(self, pieces: Sequence[Message]) -> None:
        """Sends one message, a frame for each piece."""
        for place, piece in enumerate(pieces):
            last = place == len(pieces) - 1
            data = piece.encode() if isinstance(piece, str) else piece
            if place:
                self._protocol.send_continuation(data, fin=last)
            elif isinstance(piece, str):
                self._protocol.send_text(data, fin=last)
            else:
                self._protocol.send_binary(data, fin=last)
        self._flush()

    def ping(self, content: bytes) -> None:
        """Sends a ping and awaits its pong."""
        self._protocol.send_ping(content)
        self._flush()
        frame = self._next_frame()
        expect(
            frame.opcode is Opcode.PONG and frame.data == content,
            f"a ping was answered with {frame.opcode.name}",
        )

    def receive(self) -> Message:
        """The next message, whole."""
        first = self._next_frame()
        data = bytearray(first.data)
        last = first
        while not last.fin:
            last = self._next_frame()
            data += last.data
        return data.decode() if first.opcode is Opcode.TEXT else bytes(data)

    def close(self) -> int | None:
        """Closes as the protocol says, and returns the code of the server's answer."""
        self._protocol.send_close(NORMAL)
        self._flush()
        while self._protocol.close_rcvd is None and self._fill():
            pass
        answer = self._protocol.close_rcvd
        return answer.code if answer else None

    def _shake_hands(self) -> None:
        self._protocol.send_request(self._protocol.connect())
        self._flush()
        while self._protocol.state is State.CONNECTING and self._fill():
            pass
        if self._protocol.handshake_exc:
            raise self._protocol.handshake_exc
        expect(self._protocol.state is State.OPEN, "the server closed instead of an upgrade")

    def _next_frame(self) -> Frame:
        while not self._frames:
            if not self._fill():
                raise Broken("the server closed the connection")
        return self._frames.popleft()

    def _fill(self) -> bool:
        """Takes what the server sent; False once it closed."""
        data = self.socket.recv(65_536)
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        events = self._protocol.events_received()
        self._frames.extend(event for event in events if isinstance(event, Frame))
        self._flush()
        return bool(data)

    def _flush(self) -> None:
        data = b"".join(self._protocol.data_to_send())
        if data:
            self.socket.sendall(data)


def expect_same(came: Message, sent: Message, how: str) -> None:
    """Raises where a message, which `how` says how it came, is of another kind or content."""
    expect(type(came) is type(sent), f"a {_kind(sent)} message {how} as {_kind(came)}")
    expect(came == sent, f"{len(sent)} bytes {how} as {len(came)} other bytes")


def half_a_handshake(endpoint: Endpoint, path: str) -> socket.socket:
    """A peer that asks for an upgrade and stops in the middle of it."""
    connection = endpoint.connect()
    connection.sendall(
        f"GET {path} HTTP/1.1\r\nHost: {endpoint.host}:{endpoint.port}\r\nUpgrade: webso".encode()
    )
    return connection


def half_a_frame(endpoint: Endpoint, path: str) -> socket.socket:
    """A peer with an open WebSocket that announces 64 masked bytes and sends the first four."""
    opened = WebSocket(endpoint, path)
    opened.socket.sendall(b"\x82\xc0\x00\x00\x00\x00half")
    return opened.socket


def _kind(message: Message) -> str:
    return "text" if isinstance(message, str) else "binary"
