"""What a server is going to carry, from how busy lower levels keep it: with an interval.

Pure. The straight line of `utilisation` says how many CPUs a rate keeps busy; the capacity is where
that is all that the server has. The interval is that of inverse prediction (Fieller, "Some Problems
in Interval Estimation", 1954; Draper and Smith, "Applied Regression Analysis", section 3.2): the
rates at which the mean of some further trials could be there by the line's error and the trials'
own scatter together. It knows nothing of what the line leaves out, such as contention.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.stats import student, utilisation
from wiretrial.stats.utilisation import CONFIDENCE, FURTHEST


@dataclass(frozen=True)
class Prediction:
    """A capacity, messages or sessions per second."""

    rate: float
    low: float
    high: float
    """Ends of its 95 % interval; infinite where the levels bound it on one side only."""
    cost: float
    """CPU seconds that one more message takes, by the line."""
    base: float
    """CPUs busy at rest."""
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
    line = utilisation.fit(rates, cpus)
    if line.slope <= 0 or limit <= line.base:
        raise ValueError("the levels do not tell what a message takes")
    rate = (limit - line.base) / line.slope
    low, high = _interval(rates, cpus, line, limit, trials)
    return Prediction(rate, low, high, line.slope, line.base, line.highest)


def _interval(
    rates: Sequence[float],
    cpus: Sequence[float],
    line: utilisation.Line,
    limit: float,
    trials: float,
) -> tuple[float, float]:
    """All rates x at which (limit - base - slope x)^2 <= t^2 (the line's variance there + scatter).

    Each level weighs as one over the square of its rate, as in the fit: the scatter grows with x.
    """
    is_through_nothing = line.base == 0
    count = len(rates)
    degrees = count - (1 if is_through_nothing else 2)
    squares = sum(
        ((busy - line.base) / rate - line.slope) ** 2
        for rate, busy in zip(rates, cpus, strict=True)
    )
    scatter = squares / degrees
    # Of 1, 1/x and 1/x^2: the normal equations of y/x = base/x + slope.
    ones, firsts = float(count), sum(1 / rate for rate in rates)
    seconds = sum(1 / rate**2 for rate in rates)
    if is_through_nothing:
        of_base, of_both, of_slope = 0.0, 0.0, scatter / ones
    else:
        determinant = seconds * ones - firsts**2
        of_base = scatter * ones / determinant
        of_both = -scatter * firsts / determinant
        of_slope = scatter * seconds / determinant
    reach = student.quantile((1 + CONFIDENCE) / 2, degrees) ** 2
    left = limit - line.base
    square = line.slope**2 - reach * (of_slope + scatter / trials)
    half = line.slope * left + reach * of_both
    rest = left**2 - reach * of_base
    root = math.sqrt(max(half**2 - square * rest, 0.0))
    if square <= 0:
        # No slope is told apart from none: only the lower end is known.
        return (max(rest / (half + root), 0.0) if half + root > 0 else 0.0), math.inf
    return max((half - root) / square, 0.0), (half + root) / square
