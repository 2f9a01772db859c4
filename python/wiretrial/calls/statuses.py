"""The statuses of gRPC, by number and by name.

Pure. Knows the list of gRPC's specification ("Status codes and their use in gRPC"); must not know
who sends one.
"""

from __future__ import annotations

from typing import Final

from wiretrial import suggest
from wiretrial.errors import UsageProblem

NAMES: Final = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""The name of each status, at its number."""


def number(text: str, flag: str) -> int:
    """The number that a name, or a number in digits, means."""
    if text.isdecimal() and int(text) < len(NAMES):
        return int(text)
    wanted = text.upper()
    if wanted in NAMES:
        return NAMES.index(wanted)
    raise UsageProblem(
        f"{flag} {text}: gRPC has no such status",
        suggest.remedy(wanted, NAMES, f"use 0 to {len(NAMES) - 1}, or a name such as NOT_FOUND"),
    )
