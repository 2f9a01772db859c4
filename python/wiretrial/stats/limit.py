"""The highest rate that several searches found, with its interval.

Pure. A search ends with two rates, one that was kept and confirmed and one that was not, and the
limit in that search lies between them. So the interval reaches from below the kept rates to above
the refused ones: the mean of the logarithms, with Student's t (1908) for the scatter of searches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from wiretrial.stats import student
from wiretrial.stats.compare import welch
from wiretrial.stats.occasions import ENOUGH

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Between:
    """The geometric mean of the kept rates, and where the limit lies. `high` None: no upper end."""

    value: float
    low: float
    high: float | None


def between(kept: Sequence[float], refused: Sequence[float | None]) -> Between:
    """Of one search: from its kept to its refused rate. Of several: a 95 % interval.

    `refused`: of the same searches; None where no rate was, as the limit lies beyond all of them.
    """
    known = [rate for rate in refused if rate is not None]
    value, reach = _middle(kept)
    high = None
    if len(known) == len(kept):
        above, beyond = _middle(known)
        high = above * beyond
    return Between(value, value / reach, high)


@dataclass(frozen=True)
class Ends:
    """The kept and the refused rate of each search for one limit."""

    kept: Sequence[float]
    refused: Sequence[float]


@dataclass(frozen=True)
class Times:
    """So many times one limit is another: where that lies."""

    low: float
    high: float


def times(many: Ends, one: Ends) -> Times | None:
    """With 95 %, of searches on one day; None unless each limit was searched for twice.

    As each limit lies between its kept and its refused rates, the interval reaches from below the
    kept ones of `many` over the refused ones of `one` to the opposite, with Welch's t for the
    scatter of searches.
    """
    if not many.kept or not one.kept:
        return None
    low = welch(many.kept, one.refused).low
    high = welch(many.refused, one.kept).high
    return None if low is None or high is None else Times(low, high)


def times_over(days: Sequence[tuple[Ends, Ends]]) -> Times | None:
    """The same over three days or more, each of which is one value; of two, from end to end.

    None where a day has no search of both, or one of two days has no interval.
    """
    if any(not many.kept or not one.kept for many, one in days):
        return None
    if len(days) < ENOUGH:
        each = [times(many, one) for many, one in days]
        known = [found for found in each if found is not None]
        if not known or len(known) < len(each):
            return None
        return Times(min(one.low for one in known), max(one.high for one in known))
    lows = [_middle(many.kept)[0] / _middle(one.refused)[0] for many, one in days]
    highs = [_middle(many.refused)[0] / _middle(one.kept)[0] for many, one in days]
    over = between(lows, highs)
    assert over.high is not None
    return Times(over.low, over.high)


def _middle(rates: Sequence[float]) -> tuple[float, float]:
    """The geometric mean, and the factor that its interval reaches to both sides."""
    if not rates or min(rates) <= 0:
        raise ValueError("rates are positive, and there is at least one")
    logs = [math.log(rate) for rate in rates]
    n = len(logs)
    if n == 1:
        return rates[0], 1.0
    reach = student.quantile((1 + CONFIDENCE) / 2, n - 1) * stdev(logs) / math.sqrt(n)
    return math.exp(fmean(logs)), math.exp(reach)
