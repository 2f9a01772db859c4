"""The median over trials and an interval for it, for the five to ten trials that a study has.

From six trials on the interval is the distribution-free one between two order statistics (David
and Nagaraja, *Order Statistics*, 3rd ed., 7.1; Le Boudec, *Performance Evaluation of Computer and
Communication Systems*, theorem 2.1). Five trials or fewer cannot reach 95 % that way (the range of
five covers the median with 93.75 %), so the t interval on the logarithms is used, stretched where
needed to hold the median; it takes the logarithms as about normal. Two trials have none: theirs
would reach over several powers of ten and say nothing. Where trials are of several occasions, each
occasion counts as one value, the mean of its logarithms: its trials share what the day adds. Beside
the median of several occasions stands the range of their medians: three machines are no sample of
all machines, and a t interval of three values would claim that they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, stdev
from typing import Literal

from wiretrial.stats import bounds, student
from wiretrial.stats.bounds import Bound
from wiretrial.stats.occasions import ENOUGH, grouped, means

Rule = Literal["order statistics", "t on logarithms", "t over occasions", "none"]

CONFIDENCE = 0.95
FEWEST = 3
"""Trials of which an interval can be given."""


@dataclass(frozen=True)
class Estimate:
    """A median with its interval; `low` and `high` are None where no interval can be given."""

    median: float
    low: float | None
    high: float | None
    trials: int
    rule: Rule
    bound: Bound = "exact"
    """What the median is where the load generator was the limit in a trial."""
    over_occasions: tuple[float, float] | None = None
    """The lowest and the highest median of an occasion, where there are several."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """What is shown beside the median: the range over occasions, or the 95 % interval.

        None of a bound.
        """
        return bounds.interval(*(self.over_occasions or (self.low, self.high)), self.bound)


def summarise(
    values: Sequence[float],
    confidence: float = CONFIDENCE,
    *,
    occasions: Sequence[int] = (),
    most: float = math.inf,
) -> Estimate:
    """The estimate over trials; raises ValueError without any value.

    `occasions`: on which one each value was measured; left out: all on the same. `most`: no true
    value is greater, as 1 of a share; the interval then ends there.
    """
    told = _summarised(values, confidence, occasions)
    if told.high is None or told.high <= most:
        return told
    return replace(told, high=max(most, told.median))


def _summarised(values: Sequence[float], confidence: float, occasions: Sequence[int]) -> Estimate:
    if not values:
        raise ValueError("no value to summarise")
    ordered = sorted(values)
    middle = median(ordered)
    if len(set(occasions)) > 1:
        return _over_occasions(values, occasions, middle, confidence)
    if rank := order_statistic_rank(len(ordered), confidence):
        low, high = ordered[rank - 1], ordered[-rank]
        return Estimate(middle, low, high, len(ordered), "order statistics")
    if len(ordered) < FEWEST or ordered[0] <= 0:
        return Estimate(middle, None, None, len(ordered), "none")
    logs = [math.log(value) for value in ordered]
    return _by_logarithms(logs, middle, len(ordered), "t on logarithms", confidence)


def _over_occasions(
    values: Sequence[float], occasions: Sequence[int], middle: float, confidence: float
) -> Estimate:
    each = [median(group) for group in grouped(values, occasions).values()]
    if min(values) <= 0 or len(each) < ENOUGH:
        told = Estimate(middle, None, None, len(values), "none")
    else:
        logs = means([math.log(value) for value in values], occasions)
        told = _by_logarithms(logs, middle, len(values), "t over occasions", confidence)
    return replace(told, over_occasions=(min(each), max(each)))


def _by_logarithms(
    logs: Sequence[float], middle: float, trials: int, rule: Rule, confidence: float
) -> Estimate:
    centre = fmean(logs)
    reach = student.quantile((1 + confidence) / 2, len(logs) - 1) * stdev(logs)
    reach /= math.sqrt(len(logs))
    low = min(math.exp(centre - reach), middle)
    high = max(math.exp(centre + reach), middle)
    return Estimate(middle, low, high, trials, rule)


def order_statistic_rank(n: int, confidence: float = CONFIDENCE) -> int:
    """The greatest r whose interval (r-th least, r-th greatest) holds the median with `confidence`.

    0 if even the range of all `n` values does not: 1 - 2 * 0.5**n is too small.
    """
    rank, outside = 0, 0.0
    for r in range(1, n // 2 + 1):
        outside += 2 * math.comb(n, r - 1) / 2**n
        if 1 - outside < confidence:
            break
        rank = r
    return rank
