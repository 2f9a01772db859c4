"""The statuses of gRPC, by number and by name.

Pure. Knows how people write one; must not know who sends one.
"""

from __future__ import annotations

from wiretrial import suggest
from wiretrial.errors import UsageProblem
from wiretrial.plan_grpc import STATUSES


def number(text: str, flag: str) -> int:
    """The number that a name, or a number in digits, means."""
    if text.isdecimal() and int(text) < len(STATUSES):
        return int(text)
    wanted = text.upper()
    if wanted in STATUSES:
        return STATUSES.index(wanted)
    raise UsageProblem(
        f"{flag} {text}: gRPC has no such status",
        suggest.remedy(
            wanted, STATUSES, f"use 0 to {len(STATUSES) - 1}, or a name such as NOT_FOUND"
        ),
    )
