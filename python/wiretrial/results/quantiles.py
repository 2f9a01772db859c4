"""Which quantile needs how many values: the one rule that every output follows.

Knows a histogram's count; must not know how a figure is printed. A quantile is told only where ten
values lie beyond it. With fewer, one stall more or less decides it: that many come with a standard
deviation of about a third. `docs/statistics.md` gives the reason in full.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

from wiretrial.results.hdr import Hdr

FEWEST_BEYOND = 10
"""So many values must lie beyond a quantile, or it is withheld."""

SHOWN = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
"""The quantiles that outputs show, by their names in JSON."""

REPLIES = "replies"
CONNECTIONS = "connections"
UPGRADES = "upgrades"
EVENTS = "events"


@cache
def needed(q: float) -> int:
    """The fewest values of which ten lie beyond the quantile, `q` as the decimal written."""
    return math.ceil(FEWEST_BEYOND / (1 - Fraction(str(q))))


def told(times: Hdr, q: float) -> int | None:
    """The quantile; None where it is withheld."""
    return times.quantile(q) if times.count >= needed(q) else None


def name(q: float) -> str:
    """`p99.9` of 0.999."""
    return f"p{float(100 * Fraction(str(q))):g}"


def withheld(count: int, q: float, values: str = REPLIES) -> str | None:
    """Why the quantile of `count` values is withheld; None where it is not."""
    if count >= needed(q):
        return None
    return f"{name(q)} needs {needed(q):,} {values}; {count:,} came"


def of_all(times: Hdr, failed: int, q: float) -> int | None:
    """The quantile over right replies and `failed` messages, each of which took longer than any.

    None: it lies among the failed ones, which have no time. What is told of right replies alone is
    better than what clients saw.
    """
    rank = max(1, math.ceil(Fraction(str(q)) * (times.count + failed)))
    if rank > times.count:
        return None
    # In the middle of its place, where no rounding leads to the next one.
    return times.quantile((rank - 0.5) / times.count)


def among_failed(failed: int, total: int, q: float) -> str:
    """`p99 lies among the 12 of 1,000 that failed`."""
    return f"{name(q)} lies among the {failed:,} of {total:,} that failed"


def beyond(times: Hdr, failed: int, q: float) -> str | None:
    """Why the quantile over replies and failures is longer than any time; None: it has one.

    Or it is withheld: together they are too few.
    """
    total = times.count + failed
    if total < needed(q) or of_all(times, failed, q) is not None:
        return None
    return among_failed(failed, total, q)


def document(times: Hdr, values: str = REPLIES) -> dict[str, Any] | None:
    """The times as a JSON object; None where none was recorded.

    A withheld quantile is null, and `withheld` says why.
    """
    if not times.count:
        return None
    reasons = {key: withheld(times.count, q, values) for key, q in SHOWN.items()}
    return {
        "count": times.count,
        "min": times.min,
        "mean": times.mean,
        **{key: told(times, q) for key, q in SHOWN.items()},
        "max": times.max,
        "withheld": {key: reason for key, reason in reasons.items() if reason is not None},
    }
