"""What a server is going to carry, from how busy lower levels keep it: with an interval.

Pure. The curve of `busy` says how many CPUs a rate keeps busy; the capacity is where that is all
that the server has. The interval is that of inverse prediction (Fieller, "Some Problems in Interval
Estimation", 1954; Draper and Smith, "Applied Regression Analysis", section 3.2): the rates at which
the mean of some further trials could be there by the curve's error and the trials' own scatter
together. It knows nothing of what the curve leaves out, such as contention.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.stats import busy, student
from wiretrial.stats.busy import Busy
from wiretrial.stats.utilisation import CONFIDENCE, FURTHEST


@dataclass(frozen=True)
class Prediction:
    """A capacity, messages or sessions per second."""

    rate: float
    low: float
    high: float
    """Ends of its 95 % interval; infinite where the levels bound it on one side only."""
    curve: Busy
    """That of the levels."""
    furthest: float
    """The highest rate that was measured for it."""

    @property
    def is_extrapolated(self) -> bool:
        """Whether it is so far beyond what was measured that no advice would rest on it."""
        return self.rate > FURTHEST * self.furthest

    def holds(self, rate: float) -> bool:
        """Whether that is within the interval."""
        return self.low <= rate <= self.high

    def error(self, measured: float) -> float:
        """How far it is off, as a share of what was measured."""
        return self.rate / measured - 1


def predicted(
    rates: Sequence[float], cpus: Sequence[float], limit: float, trials: float = 1
) -> Prediction:
    """The rate that keeps `limit` CPUs busy, as the mean of so many further trials would show it.

    Raises ValueError where the levels are too few, too close together, or cost nothing.
    """
    curve = busy.fit(rates, cpus)
    rate = curve.rate(limit)
    if rate is None:
        raise ValueError("the levels do not tell what a message takes")
    low, high = _interval(curve, limit, trials)
    return Prediction(rate, low, high, curve, max(rates))


def _interval(curve: Busy, limit: float, trials: float) -> tuple[float, float]:
    """All rates x at which (limit - base - cost x)^2 <= t^2 (the curve's variance there + scatter).

    Each level weighs as one over the square of its rate, as in the fit: the scatter grows with x.
    """
    square_of = curve.scatter**2
    of_base = square_of * curve.inverse[0][0]
    of_both = square_of * (curve.inverse[0][1] - limit * curve.inverse[0][2])
    of_cost = square_of * (
        curve.inverse[1][1] - 2 * limit * curve.inverse[1][2] + limit**2 * curve.inverse[2][2]
    )
    reach = student.quantile((1 + CONFIDENCE) / 2, curve.degrees) ** 2
    cost, left = curve.cost(limit), limit - curve.base
    square = cost**2 - reach * (of_cost + square_of / trials)
    half = cost * left + reach * of_both
    rest = left**2 - reach * of_base
    root = math.sqrt(max(half**2 - square * rest, 0.0))
    if square <= 0:
        # No cost is told apart from none: only the lower end is known.
        return (max(rest / (half + root), 0.0) if half + root > 0 else 0.0), math.inf
    return max((half - root) / square, 0.0), (half + root) / square
