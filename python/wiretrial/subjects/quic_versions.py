"""Whether a server of QUIC has a port: it answers a version that it does not know with its own.

Knows the two packets of that (RFC 9000 section 6); must not know who serves. Nothing in them is
encrypted, and no connection begins.
"""

from __future__ import annotations

import secrets
import socket

UNKNOWN = bytes.fromhex("1a2a3a4a")
"""A version that is reserved, so that nobody speaks it (RFC 9000 section 15)."""
NEGOTIATION = bytes(4)
"""The version of the packet that answers."""
LEAST_BYTES = 1200
"""A datagram with fewer begins no connection, and is not answered."""
LONG_HEADER = 0x80
BEGINNING = b"\xc0"
"""The first byte of a packet with a long header."""
NAME_BYTES = 8
READ_BYTES = 65_536


def ask(host: str, port: int, patience_s: float) -> None:
    """Returns where a server answers.

    Raises `ConnectionRefusedError` where nobody has the port, `TimeoutError` where nothing is said
    for so long, and `ConnectionError` where something else is.
    """
    server, client = secrets.token_bytes(NAME_BYTES), secrets.token_bytes(NAME_BYTES)
    names = _named(server) + _named(client)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(patience_s)
        asking.connect((host, port))
        asking.send((BEGINNING + UNKNOWN + names).ljust(LEAST_BYTES, b"\0"))
        answer = asking.recv(READ_BYTES)
    wanted = NEGOTIATION + _named(client) + _named(server)
    if not (answer and answer[0] & LONG_HEADER and answer[1:].startswith(wanted)):
        raise ConnectionError(f"what answers on UDP at {host}:{port} is no server of QUIC")


def _named(name: bytes) -> bytes:
    """The name of one side's connection behind its length."""
    return bytes([len(name)]) + name
