"""Checks of the `raw-echo` contract: a stream socket that sends every byte back, in order.

Knows bytes; must not know who serves them.
"""

from __future__ import annotations

import socket
from typing import Self

from wiretrial.subjects import checks
from wiretrial.subjects.checks import Check
from wiretrial.subjects.endpoint import Endpoint, expect, payload

MESSAGES = 100
LARGE = 65_536
LARGE_MESSAGES = 16
PIECE = 65_536


class _Echo:
    """Stretches of 64 bytes, each of which comes back."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.socket = endpoint.connect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, *numbers: int) -> None:
        """Sends the stretches with these numbers, all in one piece."""
        self.socket.sendall(b"".join(payload(64, number) for number in numbers))

    def hear(self, number: int) -> None:
        """Reads one stretch; raises unless it is the one with this number."""
        self.hear_bytes(payload(64, number))

    def hear_bytes(self, wanted: bytes) -> None:
        """Reads as many bytes as `wanted` has; raises unless they are the same."""
        received = bytearray()
        while len(received) < len(wanted):
            piece = self.socket.recv(min(PIECE, len(wanted) - len(received)))
            expect(bool(piece), f"the server closed after {len(received)} of {len(wanted)} bytes")
            received += piece
        expect(received == wanted, f"{len(wanted)} bytes came back changed")


def _pieces(endpoint: Endpoint) -> None:
    with _Echo(endpoint) as echo:
        message = payload(64)
        for at in range(len(message)):
            echo.socket.sendall(message[at : at + 1])
        echo.hear_bytes(message)


def _large(endpoint: Endpoint) -> None:
    with _Echo(endpoint) as echo:
        for seed in range(LARGE_MESSAGES):
            echo.socket.sendall(payload(LARGE, seed))
            echo.hear_bytes(payload(LARGE, seed))


def _close(endpoint: Endpoint) -> None:
    with _Echo(endpoint) as echo:
        echo.ask(0)
        echo.hear(0)
        echo.socket.shutdown(socket.SHUT_WR)
        expect(echo.socket.recv(1) == b"", "our end of stream was not answered with the server's")


def _asked(endpoint: Endpoint) -> socket.socket:
    """A peer that never reads what it asked for."""
    echo = _Echo(endpoint)
    echo.ask(0)
    return echo.socket


ECHO: tuple[Check, ...] = (
    checks.exchange(_Echo),
    checks.many(_Echo),
    checks.at_once(_Echo, "in-flight", MESSAGES, "messages"),
    Check("pieces", "single bytes", _pieces),
    Check("large", f"{LARGE_MESSAGES} messages of 64 KiB", _large),
    Check("close", "close", _close, inside_tls=False),
    *checks.half_open(_Echo, _asked),
    *checks.concurrency(_Echo),
)
