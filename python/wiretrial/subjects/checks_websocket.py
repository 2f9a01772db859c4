"""Checks of the `ws-echo` contract: a WebSocket at `/` that sends every message back.

Knows messages and right answers; must not know who serves them. One thread, one socket: what a TLS
connection holds must not be read and written by two.
"""

from __future__ import annotations

import base64
import contextlib
import os
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType

from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from wiretrial.subjects.endpoint import Broken, Endpoint, expect, payload

PATH = "/"
MESSAGES = 100
LARGE = 1 << 20
FRAGMENTS = 7
NORMAL = 1000


class _Connection:
    """An open WebSocket. A context manager; leaving it drops the connection."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._socket = endpoint.connect()
        self._frames: deque[Frame] = deque()
        self._protocol = ClientProtocol(parse_uri(endpoint.url(PATH)), max_size=2 * LARGE)
        self._protocol.send_request(self._protocol.connect())
        self._flush()
        while self._protocol.state is State.CONNECTING and self._fill():
            pass
        if self._protocol.handshake_exc:
            raise self._protocol.handshake_exc
        expect(self._protocol.state is State.OPEN, "the server closed instead of an upgrade")

    def __enter__(self) -> _Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def send(self, message: str | bytes) -> None:
        """Sends one message in one frame."""
        if isinstance(message, str):
            self._protocol.send_text(message.encode())
        else:
            self._protocol.send_binary(message)
        self._flush()

    def send_in_pieces(self, pieces: Sequence[bytes]) -> None:
        """Sends one binary message, a frame for each piece."""
        first, *rest = pieces
        self._protocol.send_binary(first, fin=not rest)
        for place, piece in enumerate(rest, start=1):
            self._protocol.send_continuation(piece, fin=place == len(rest))
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

    def receive(self) -> str | bytes:
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

    def _next_frame(self) -> Frame:
        while not self._frames:
            if not self._fill():
                raise Broken("the server closed the connection")
        return self._frames.popleft()

    def _fill(self) -> bool:
        """Takes what the server sent; False once it closed."""
        data = self._socket.recv(65_536)
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        events = self._protocol.events_received()
        self._frames.extend(event for event in events if isinstance(event, Frame))
        self._flush()
        return bool(data)

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._socket.sendall(data)


def _echo(connection: _Connection, message: str | bytes) -> None:
    connection.send(message)
    _same(connection, message)


def _same(connection: _Connection, message: str | bytes) -> None:
    answer = connection.receive()
    expect(
        type(answer) is type(message),
        f"a {_kind(message)} message came back as {_kind(answer)}",
    )
    expect(answer == message, f"{len(message)} bytes came back as {len(answer)} other bytes")


def _kind(message: str | bytes) -> str:
    return "text" if isinstance(message, str) else "binary"


def _once(endpoint: Endpoint) -> None:
    with _Connection(endpoint) as connection:
        _echo(connection, payload(64).decode())


def _many(endpoint: Endpoint) -> None:
    with _Connection(endpoint) as connection:
        for index in range(MESSAGES):
            _echo(connection, payload(64, index).decode())
            _echo(connection, payload(64, index))


def _many_at_once(endpoint: Endpoint) -> None:
    with _Connection(endpoint) as connection:
        for index in range(MESSAGES):
            connection.send(payload(64, index))
        for index in range(MESSAGES):
            _same(connection, payload(64, index))


def _sizes(endpoint: Endpoint) -> None:
    with _Connection(endpoint) as connection:
        for size in (0, 1, 125, 126, 127, 65_535, 65_536):
            _echo(connection, payload(size))


def _large(endpoint: Endpoint) -> None:
    with _Connection(endpoint) as connection:
        _echo(connection, payload(LARGE))


def _fragmented(endpoint: Endpoint) -> None:
    whole = payload(10_000)
    step = -(-len(whole) // FRAGMENTS)
    with _Connection(endpoint) as connection:
        connection.send_in_pieces([whole[at : at + step] for at in range(0, len(whole), step)])
        _same(connection, whole)


def _ping(endpoint: Endpoint) -> None:
    with _Connection(endpoint) as connection:
        connection.ping(b"still there?")
        _echo(connection, b"after the ping")


def _close(endpoint: Endpoint) -> None:
    with _Connection(endpoint) as connection:
        _echo(connection, b"the last one")
        code = connection.close()
    expect(code == NORMAL, f"a close with {NORMAL} was answered with {code}")


def _bad_frame(endpoint: Endpoint) -> None:
    """An unmasked frame ends its own connection, and nobody else's."""
    key = base64.b64encode(os.urandom(16)).decode()
    with _Connection(endpoint) as bystander:
        with endpoint.connect() as offender:
            offender.sendall(
                f"GET {PATH} HTTP/1.1\r\nHost: {endpoint.host}:{endpoint.port}\r\n"
                "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
            )
            received = b""
            while b"\r\n\r\n" not in received:
                piece = offender.recv(4096)
                expect(bool(piece), "the upgrade was refused")
                received += piece
            offender.sendall(b"\x82\x01x")
            try:
                with contextlib.suppress(ConnectionResetError):
                    while offender.recv(4096):
                        pass
            except TimeoutError:
                raise Broken("a connection with an unmasked frame was kept open") from None
        _echo(bystander, b"still served?")
    _once(endpoint)


ECHO: dict[str, Callable[[Endpoint], None]] = {
    "one exchange": _once,
    f"{MESSAGES} text and {MESSAGES} binary messages on one connection": _many,
    f"{MESSAGES} messages in flight": _many_at_once,
    "lengths around the header's steps": _sizes,
    "1 MiB": _large,
    f"{FRAGMENTS} fragments": _fragmented,
    "ping": _ping,
    "bad frame": _bad_frame,
    "close": _close,
}
