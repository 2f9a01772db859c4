"""What one more of something adds: the slope of a straight line by ordinary least squares.

Pure. For what scatters by the same amount wherever it is measured, such as a server's memory over
its connections. The interval is Student's, with two degrees less than there are points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from wiretrial.stats import student

CONFIDENCE = 0.95
FEWEST = 3
SPREAD = 2.0
"""The largest is at least so many times the smallest, or the slope is the scatter's."""


@dataclass(frozen=True)
class Slope:
    """What one more adds, with its 95 % interval, and what there is with none."""

    base: float
    value: float
    low: float
    high: float
    most: float
    """The largest that was measured."""


def fit(x: Sequence[float], y: Sequence[float]) -> Slope:
    """Through points. Raises ValueError where they are too few, or too close together."""
    if len(x) != len(y):
        raise ValueError("each point needs its value")
    if len(x) < FEWEST:
        raise ValueError(f"{FEWEST} points at least tell a slope and its interval")
    if min(x) < 0 or max(x) < SPREAD * max(min(x), 1.0):
        raise ValueError("the points are too close to each other to tell a slope")
    middle, mean = fmean(x), fmean(y)
    spread = sum((one - middle) ** 2 for one in x)
    value = sum((a - middle) * (b - mean) for a, b in zip(x, y, strict=True)) / spread
    base = mean - value * middle
    left = sum((b - base - value * a) ** 2 for a, b in zip(x, y, strict=True))
    degrees = len(x) - 2
    reach = student.quantile((1 + CONFIDENCE) / 2, degrees) * math.sqrt(left / degrees / spread)
    return Slope(base, value, value - reach, value + reach, max(x))
