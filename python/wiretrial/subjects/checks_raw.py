"""Checks of the `raw-echo` contract: a stream socket that sends every byte back, in order.

Knows bytes; must not know who serves them.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from wiretrial.subjects.endpoint import Endpoint, expect, payload

MESSAGES = 100
LARGE = 65_536
LARGE_MESSAGES = 16
PIECE = 65_536


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(min(PIECE, size - len(received)))
        expect(bool(piece), f"the server closed after {len(received)} of {size} bytes")
        received += piece
    return bytes(received)


def _echo(connection: socket.socket, message: bytes) -> None:
    connection.sendall(message)
    expect(_receive(connection, len(message)) == message, f"{len(message)} bytes came back changed")


def _once(endpoint: Endpoint) -> None:
    with endpoint.connect() as connection:
        _echo(connection, payload(64))


def _many(endpoint: Endpoint) -> None:
    with endpoint.connect() as connection:
        for index in range(MESSAGES):
            _echo(connection, payload(64, index))


def _pieces(endpoint: Endpoint) -> None:
    with endpoint.connect() as connection:
        message = payload(64)
        for at in range(len(message)):
            connection.sendall(message[at : at + 1])
        expect(_receive(connection, len(message)) == message, "64 single bytes came back changed")


def _large(endpoint: Endpoint) -> None:
    with endpoint.connect() as connection:
        for seed in range(LARGE_MESSAGES):
            _echo(connection, payload(LARGE, seed))


def _close(endpoint: Endpoint) -> None:
    with endpoint.connect() as connection:
        _echo(connection, payload(64))
        if endpoint.tls():
            return
        connection.shutdown(socket.SHUT_WR)
        expect(connection.recv(1) == b"", "our end of stream was not answered with the server's")


ECHO: dict[str, Callable[[Endpoint], None]] = {
    "one exchange": _once,
    f"{MESSAGES} messages on one connection": _many,
    "single bytes": _pieces,
    f"{LARGE_MESSAGES} messages of 64 KiB": _large,
    "close": _close,
}
