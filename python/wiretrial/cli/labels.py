"""Labels of what is measured: what was typed, and the commit that a CI service tells.

Knows how a label is written and which variables hold a commit; must not know what becomes of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from wiretrial.errors import UsageProblem

COMMIT = "commit"
VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT")
"""Of GitHub Actions, GitLab CI, Jenkins."""
_KEY = re.compile(r"[a-z][a-z0-9_.-]{0,31}")
LONGEST = 200


def wanted(
    typed: Sequence[str] | None, environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The labels of a result: those typed, and the commit from the environment where none is."""
    known = os.environ if environment is None else environment
    found = parse(typed or (), "--label")
    if COMMIT not in found:
        told = (known.get(name, "").strip() for name in VARIABLES)
        commit = next((one for one in told if _is_value(one)), None)
        if commit:
            found[COMMIT] = commit
    return found


def parse(texts: Sequence[str], flag: str) -> dict[str, str]:
    """`KEY=VALUE`, each key once."""
    found: dict[str, str] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not _KEY.fullmatch(key):
            raise UsageProblem(
                f"{flag} {text!r} is not KEY=VALUE", f"write it as {flag} commit=3f2a91c"
            )
        if not _is_value(value):
            raise UsageProblem(
                f"{flag} {key}: the value must be 1 to {LONGEST} printable characters",
                f"write it as {flag} commit=3f2a91c",
            )
        if key in found:
            raise UsageProblem(f"{flag} {key} is given twice", "keep one")
        found[key] = value
    return found


def _is_value(text: str) -> bool:
    return 0 < len(text) <= LONGEST and text.isprintable()
