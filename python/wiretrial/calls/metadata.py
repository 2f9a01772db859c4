"""Names of metadata, and which of them are gRPC's own.

Pure. Knows the rules of gRPC over HTTP/2; must not know who sends any.
"""

from __future__ import annotations

import base64
import re

from wiretrial.errors import UsageProblem

BINARY = "-bin"
"""Names of metadata whose values are bytes end so."""
_NAME = re.compile(r"[0-9a-z_.-]+")
_RESERVED = ("grpc-", "te", "content-type", "content-length", "host", "connection")


def name_of(written: str, flag: str) -> str:
    """The name as it is sent; raises where it is none, or gRPC's own."""
    lower = written.lower()
    if not _NAME.fullmatch(lower):
        raise UsageProblem(f"{flag} {written} is no name of metadata", "use a-z, 0-9, _, - and .")
    if any(lower == one or (one[-1] == "-" and lower.startswith(one)) for one in _RESERVED):
        raise UsageProblem(f"{flag} {written} is gRPC's own", "leave it out")
    return lower


def binary(value: str) -> bytes:
    """The bytes of a value in base64, padded or not; raises ValueError where it is none."""
    return base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
