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
