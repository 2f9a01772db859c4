"""What a message carries and what a right reply does: texts of the command line, checked.

Knows JSON and the words of `--json` and `--expect`; must not know protocols.
"""

from __future__ import annotations

import json
from typing import NoReturn

from wiretrial.errors import UsageProblem

PLACEHOLDER = "{seq}"
STANDS_FOR = ("12345", "0")
"""Numbers that take its place: one as wide as it is, and one that no digit may follow."""


def require_json(text: str, flag: str) -> None:
    """Refuses a text that is no JSON with a number in place of each `{seq}`."""
    for number in STANDS_FOR:
        try:
            json.loads(text.replace(PLACEHOLDER, number), parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            raise UsageProblem(
                f"{flag} is not JSON at line {error.lineno}, column {error.colno}: {error.msg}",
                "correct it there, or send it as it is with --payload @FILE",
            ) from error
        except ValueError as error:
            raise UsageProblem(f"{flag} is not JSON: {error}", "write null") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"it has no {name}")
