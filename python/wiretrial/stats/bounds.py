"""Figures that are only bounds: what kind a ratio of them is, and what it can tell of a claim.

Where the load generator was the limit, a server's throughput is "at least" the figure, and a time
"at most". Such a figure stands for all values on its open side. What it is held against is a range,
too: the true value is in it for certain, out of it for certain, or neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Bound = Literal["exact", "at least", "at most", "unknown"]
"""`unknown`: a ratio of two bounds that open to the same side, which tells nothing."""

Place = Literal["inside", "outside", "neither"]

SIGNS: dict[Bound, str] = {"exact": "", "at least": "≥ ", "at most": "≤ ", "unknown": "? "}
"""What stands before the figure."""

_OPPOSITE: dict[Bound, Bound] = {"at least": "at most", "at most": "at least"}


def inverse(bound: Bound) -> Bound:
    """Of 1 / x, where x has this bound."""
    return _OPPOSITE.get(bound, bound)


def product(one: Bound, other: Bound) -> Bound:
    """Of x y, where x and y are positive and have these bounds."""
    if one == "exact" or one == other:
        return other
    return one if other == "exact" else "unknown"


def interval(low: float | None, high: float | None, bound: Bound) -> tuple[float, float] | None:
    """What may stand beside a figure: an interval would close the side that a bound leaves open."""
    if low is None or high is None or bound != "exact":
        return None
    return low, high


def ratio(top: Bound, bottom: Bound) -> Bound:
    """Of x / y."""
    return product(top, inverse(bottom))


@dataclass(frozen=True)
class Range:
    """The positive values that a true figure may have."""

    low: float = 0.0
    high: float = math.inf

    def opened(self, bound: Bound) -> Range:
        """With the side open on which a bound says nothing."""
        return Range(
            0.0 if bound in ("at most", "unknown") else self.low,
            math.inf if bound in ("at least", "unknown") else self.high,
        )

    def against(self, claimed: Range) -> Place:
        """Where the true figure lies in view of what is claimed."""
        if claimed.low <= self.low and self.high <= claimed.high:
            return "inside"
        if self.high < claimed.low or claimed.high < self.low:
            return "outside"
        return "neither"
