"""Sums of what may not be known. Knows numbers; must not know what they are of."""

from __future__ import annotations


def total(*parts: float | None) -> float | None:
    """The sum; None where a part is not known."""
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
