"""Series of samples that were scraped now and then: counters without their resets, values between.

Pure. Knows instants and values; must not know what is counted, or where it was scraped. Times are
seconds of the service that scraped.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple


class Point(NamedTuple):
    """One sample."""

    at_s: float
    value: float


@dataclass(frozen=True)
class Series:
    """The samples of one series, in order of time."""

    labels: Mapping[str, str]
    points: tuple[Point, ...]

    def label(self, name: str) -> str:
        """The label's value; empty where it has none, as in PromQL."""
        return self.labels.get(name, "")


@dataclass(frozen=True)
class Counter:
    """A counter that only grows: each reset is taken out.

    After a reset it counts on from where it stood: what was counted between the last sample and
    the reset is lost, so that its growth is a lower bound.
    """

    points: tuple[Point, ...]
    resets: tuple[float, ...] = ()
    """When the first sample after each reset was taken."""

    @classmethod
    def of(cls, points: Sequence[Point]) -> Counter:
        """The counter whose samples these are."""
        grown = list(points[:1])
        resets: list[float] = []
        base = 0.0
        for before, point in pairwise(points):
            if point.value < before.value:
                base += before.value
                resets.append(point.at_s)
            grown.append(Point(point.at_s, base + point.value))
        return cls(tuple(grown), tuple(resets))

    def at(self, at_s: float) -> float | None:
        """Its value at an instant, on a straight line between the samples around it.

        None before the first sample and after the last. A counter never falls, so that the true
        value is no less than the earlier sample and no more than the later.
        """
        place = bisect_left(self.points, at_s, key=lambda point: point.at_s)
        if place == len(self.points):
            return None
        after = self.points[place]
        if after.at_s == at_s:
            return after.value
        if place == 0:
            return None
        before = self.points[place - 1]
        share = (at_s - before.at_s) / (after.at_s - before.at_s)
        return before.value + share * (after.value - before.value)


def last(points: Sequence[Point], at_s: float) -> float | None:
    """A gauge's value as it was last sampled at or before an instant; None: it was not yet."""
    place = bisect_right(points, at_s, key=lambda point: point.at_s)
    return points[place - 1].value if place else None


def interval_s(points: Sequence[Point]) -> float | None:
    """How far apart samples usually are; None where there are not two."""
    gaps = [after.at_s - before.at_s for before, after in pairwise(points)]
    return median(gaps) if gaps else None
