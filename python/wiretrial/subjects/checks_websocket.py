"""Checks of the `ws-echo` contract: a WebSocket at `/` that sends every message back.

Knows messages and right answers; must not know who serves them.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from wiretrial.subjects.endpoint import DEADLINE_S, Endpoint, expect, payload

PATH = "/"
MESSAGES = 100
LARGE = 1 << 20
FRAGMENTS = 7
NORMAL = 1000


def _open(endpoint: Endpoint) -> ClientConnection:
    return connect(
        endpoint.url(PATH),
        ssl=endpoint.tls(),
        compression=None,
        open_timeout=DEADLINE_S,
        close_timeout=DEADLINE_S,
        ping_interval=None,
        max_size=2 * LARGE,
        proxy=None,
    )


def _echo(connection: ClientConnection, message: str | bytes) -> None:
    connection.send(message)
    _same(connection, message)


def _same(connection: ClientConnection, message: str | bytes) -> None:
    answer = connection.recv(timeout=DEADLINE_S)
    expect(
        type(answer) is type(message),
        f"a {_kind(message)} message came back as {_kind(answer)}",
    )
    expect(answer == message, f"{len(message)} bytes came back as {len(answer)} other bytes")


def _kind(message: str | bytes) -> str:
    return "text" if isinstance(message, str) else "binary"


def _once(endpoint: Endpoint) -> None:
    with _open(endpoint) as connection:
        _echo(connection, payload(64).decode())


def _many(endpoint: Endpoint) -> None:
    with _open(endpoint) as connection:
        for index in range(MESSAGES):
            _echo(connection, payload(64, index).decode())
            _echo(connection, payload(64, index))


def _many_at_once(endpoint: Endpoint) -> None:
    with _open(endpoint) as connection:
        for index in range(MESSAGES):
            connection.send(payload(64, index))
        for index in range(MESSAGES):
            _same(connection, payload(64, index))


def _sizes(endpoint: Endpoint) -> None:
    with _open(endpoint) as connection:
        for size in (0, 1, 125, 126, 127, 65_535, 65_536):
            _echo(connection, payload(size))


def _large(endpoint: Endpoint) -> None:
    with _open(endpoint) as connection:
        _echo(connection, payload(LARGE))


def _fragmented(endpoint: Endpoint) -> None:
    whole = payload(10_000)
    step = -(-len(whole) // FRAGMENTS)
    with _open(endpoint) as connection:
        connection.send(whole[at : at + step] for at in range(0, len(whole), step))
        _same(connection, whole)


def _ping(endpoint: Endpoint) -> None:
    with _open(endpoint) as connection:
        answered = connection.ping(b"still there?")
        expect(answered.wait(DEADLINE_S), "a ping got no pong")
        _echo(connection, b"after the ping")


def _close(endpoint: Endpoint) -> None:
    connection = _open(endpoint)
    _echo(connection, b"the last one")
    connection.close(NORMAL)
    expect(
        connection.close_code == NORMAL,
        f"a close with {NORMAL} was answered with {connection.close_code}",
    )


def _bad_frame(endpoint: Endpoint) -> None:
    """An unmasked frame ends its own connection, and nobody else's."""
    key = base64.b64encode(os.urandom(16)).decode()
    with _open(endpoint) as bystander:
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
                while offender.recv(4096):
                    pass
            except ConnectionResetError:
                pass
            except TimeoutError:
                expect(False, "a connection with an unmasked frame was kept open")
        try:
            _echo(bystander, b"still served?")
        except ConnectionClosed:
            expect(False, "another client's bad frame ended this connection")
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
