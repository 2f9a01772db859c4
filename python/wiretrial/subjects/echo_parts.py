"""The service `wiretrial.Echo` of the contract `grpc-echo`: its name, and its message as bytes.

Pure. Knows what echo.proto says; must not know who calls, or how messages are framed. No library of
protobuf is needed for it.
"""

from __future__ import annotations

SERVICE = "wiretrial.Echo"
TEXT, CONTENT = 1, 3
"""The fields of a message that are a text and bytes."""
REPEATED = 10
"""How often `Server` says its message."""
_LENGTH_DELIMITED = 2


def message(value: bytes, field: int = TEXT) -> bytes:
    """A message with this value in one of its two fields."""
    size, length = len(value), bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    length.append(size)
    return bytes([field << 3 | _LENGTH_DELIMITED]) + bytes(length) + value
