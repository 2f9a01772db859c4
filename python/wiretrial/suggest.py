"""Finds the name that a mistyped one was meant to be.

Pure. Knows spelling only; must not know what is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

CUTOFF = 0.7
"""Of difflib's ratio: below it, a suggestion is more often wrong than right."""

MOST_LISTED = 8
"""Names beside a suggestion; more of them would hide it."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known name that is spelled most alike; None where none is."""
    names = {_bare(name): name for name in known}
    found = get_close_matches(_bare(word), names, n=1, cutoff=CUTOFF)
    return names[found[0]] if found else None


def remedy(word: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """`did you mean NAME?`, and what else there is: `otherwise`, or the list of known names."""
    names = list(dict.fromkeys(known))
    rest = otherwise or f"use one of {', '.join(names)}"
    found = closest(word, names)
    if found and otherwise is None and len(names) > MOST_LISTED:
        return f"did you mean {found}?"
    return f"did you mean {found}? If not, {rest}" if found else rest


def _bare(name: str) -> str:
    """Without what all options have in common."""
    return name.lstrip("-").casefold()
