"""Where throughput, or what a message costs, is steady: a mean-shift change-point rule.

The rate of an open loop is given and steady from the start, whatever the server still compiles or
caches; so what each message costs the server is read there, where that is known.

The rates of the intervals are cut into stretches of constant mean: least squares with a penalty
per change, solved exactly by optimal partitioning (Jackson et al. 2005). As Barrett et al. do for
virtual machines (*Virtual Machine Warmup Blows Hot and Cold*, 2017), the run counts as steady from
the first stretch on after which every stretch keeps to one level. Before that, lone outliers are
replaced (Hampel's identifier), so that one pause of 100 ms is no change of level, and the noise is
taken from the differences of neighbours (median absolute deviation), which a shift barely touches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean, median
from typing import NamedTuple

CUT_TOLERANCE = 0.05
STEADY_TOLERANCE = 0.10
SHORTEST_STRETCH = 5
FEWEST_INTERVALS = 2 * SHORTEST_STRETCH
RULE = (
    f"mean shift, cut at {100 * CUT_TOLERANCE:.0f} %, steady within {100 * STEADY_TOLERANCE:.0f} %"
)

_MOST_POINTS = 300
_PENALTY = 3.0
_HAMPEL_REACH = 3
_HAMPEL_SIGMAS = 5.0
_MOST_OUTLIERS = 0.05
_MAD_TO_SIGMA = 1.4826


class Interval(NamedTuple):
    """What is followed in one interval: an amount, and what it is divided by."""

    start_ns: int
    end_ns: int
    amount: int
    per: int


@dataclass(frozen=True)
class Window:
    """The part of the run that counts. `rule` says how it was found."""

    start_ns: int
    end_ns: int
    steady: bool
    rule: str
    by_cost: bool = False
    """Whether what a message costs was followed, and not the throughput."""


def find_window(
    intervals: Sequence[tuple[int, int, int]],
    warmup_allowance_ns: int,
    duration_ns: int,
    costs: Sequence[tuple[int, int, int, int]] = (),
) -> Window:
    """The window of `duration_ns` from where throughput is steady, never later than the allowance.

    `intervals` are (start, end, completed), in order and without gaps; the first one holds the
    first message. `costs` are (start, end, CPU time, messages): where they are enough, they are
    followed in place of the throughput. The window begins with the first stretch after which all
    keep within 5 % of the level, else at the allowance. It is steady if all stretches from its
    begin on keep within 10 %.
    """
    if not intervals:
        raise ValueError("no interval to look at")
    spent = _thin([Interval(*one) for one in costs if one[3] > 0])
    by_cost = len(spent) >= FEWEST_INTERVALS
    rates = [Interval(*one, one[1] - one[0]) for one in intervals if one[1] > one[0]]
    points = spent if by_cost else _thin(rates)
    origin, end = intervals[0][0], intervals[-1][1]
    latest = min(origin + warmup_allowance_ns, end)
    if len(points) < FEWEST_INTERVALS:
        rule = f"fewer than {FEWEST_INTERVALS} intervals: warm-up allowance cut, steadiness unknown"
        return Window(latest, _end(latest, duration_ns, end), False, rule)
    # What comes before the first reading of a cost belongs to that.
    points[0] = points[0]._replace(start_ns=origin)
    values = _without_outliers([i.amount / i.per for i in points])
    level = _level(points, values, latest)
    start = _settled_from(points, values, level, CUT_TOLERANCE)
    if start is not None and start <= latest:
        return Window(start, _end(start, duration_ns, end), True, RULE, by_cost)
    loosely = _settled_from(points, values, level, STEADY_TOLERANCE)
    steady = loosely is not None and loosely <= latest
    return Window(latest, _end(latest, duration_ns, end), steady, RULE, by_cost)


def _end(start_ns: int, duration_ns: int, last_ns: int) -> int:
    return max(start_ns, min(start_ns + duration_ns, last_ns))


def _thin(intervals: list[Interval]) -> list[Interval]:
    """Joins neighbours until few enough are left for a quadratic search.

    A last interval much shorter than the others joins the one before: its rate is mostly noise.
    """
    together = math.ceil(len(intervals) / _MOST_POINTS)
    joined = [
        _join(intervals[i : i + together]) for i in range(0, len(intervals), max(1, together))
    ]
    if len(joined) > 1 and _length(joined[-1]) < _length(joined[0]) / 2:
        joined[-2:] = [_join(joined[-2:])]
    return joined


def _join(part: Sequence[Interval]) -> Interval:
    amount, per = sum(i.amount for i in part), sum(i.per for i in part)
    return Interval(part[0].start_ns, part[-1].end_ns, amount, per)


def _length(interval: Interval) -> int:
    return interval.end_ns - interval.start_ns


def _level(points: Sequence[Interval], rates: Sequence[float], latest_ns: int) -> float:
    """The mean rate of what follows the allowance, or of the second half if too little does."""
    counted = [rate for rate, i in zip(rates, points, strict=True) if i.start_ns >= latest_ns]
    return fmean(counted if len(counted) >= SHORTEST_STRETCH else rates[len(rates) // 2 :])


def _settled_from(
    points: Sequence[Interval], rates: Sequence[float], level: float, tolerance: float
) -> int | None:
    """Start of the first stretch from which on all keep to the level, None if none does."""
    settled: int | None = None
    for first, last in reversed(stretches(rates)):
        if abs(fmean(rates[first:last]) - level) > tolerance * level:
            break
        settled = points[first].start_ns
    return settled


def stretches(values: Sequence[float]) -> list[tuple[int, int]]:
    """Cuts `values` into stretches [first, last) of constant mean, each of five values or more."""
    n = len(values)
    if n < 2 * SHORTEST_STRETCH:
        return [(0, n)]
    cost = _SquaredDeviation(values)
    penalty = _PENALTY * math.log(n) * _noise(values) ** 2
    best = [-penalty] + [math.inf] * n
    previous = [0] * (n + 1)
    for last in range(SHORTEST_STRETCH, n + 1):
        best[last], previous[last] = min(
            (best[first] + cost(first, last) + penalty, first)
            for first in range(last - SHORTEST_STRETCH + 1)
        )
    cuts = [n]
    while cuts[-1] > 0:
        cuts.append(previous[cuts[-1]])
    cuts.reverse()
    return list(pairwise(cuts))


class _SquaredDeviation:
    """Sum of squared deviations from the mean of values[first:last], in constant time."""

    def __init__(self, values: Sequence[float]) -> None:
        offset = fmean(values)
        self._sums = [0.0, *accumulate(v - offset for v in values)]
        self._squares = [0.0, *accumulate((v - offset) ** 2 for v in values)]

    def __call__(self, first: int, last: int) -> float:
        total = self._sums[last] - self._sums[first]
        squares = self._squares[last] - self._squares[first]
        return max(0.0, squares - total * total / (last - first))


def _noise(values: Sequence[float]) -> float:
    """Standard deviation of the noise, from the differences of neighbours."""
    steps = [abs(b - a) for a, b in pairwise(values)]
    spread = _MAD_TO_SIGMA * median(steps)
    if spread == 0:
        spread = math.sqrt(fmean(step * step for step in steps))
    return spread / math.sqrt(2)


def _without_outliers(rates: list[float]) -> list[float]:
    """Replaces lone outliers by their neighbours' median.

    Where many values stick out they are the shape of the load (bursts), not accidents: all stay.
    """
    noise = _noise(rates)
    cleaned = list(rates)
    replaced = 0
    for i, rate in enumerate(rates):
        near = rates[max(0, i - _HAMPEL_REACH) : i + _HAMPEL_REACH + 1]
        middle = median(near)
        if abs(rate - middle) > _HAMPEL_SIGMAS * noise:
            cleaned[i] = middle
            replaced += 1
    return cleaned if replaced <= max(1, _MOST_OUTLIERS * len(rates)) else rates
