"""Whether a series rose or fell for as long as it was watched, and by how much.

The slope is the median of those of all pairs of points (Theil 1950, Sen 1968), which a few outliers
do not move. Its interval is Sen's, from the variance of Kendall's S. Neighbours in time are alike,
which makes that variance too small: it is multiplied by the ratio of the points to as many as are
independent (Yue and Wang 2004), from the first autocorrelation of what the slope leaves.

A series drifts where the interval leaves out 0, where what it changed by over the whole time is
material, and where both halves of it go the same way: a cache that fills at first and a step in the
middle are no drift.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import NormalDist, fmean, median

CONFIDENCE = 0.99
"""Several series are looked at in each run, and most runs do not drift."""
MATERIAL = 0.05
"""The usual share of its level by which a series changed over the whole time, at least."""
FEWEST = 16
"""Points: halves of fewer have no slope to speak of."""
LEAST_SHARE = 1 / 3
"""Of the slope of the whole, in each half."""
_MOST_ALIKE = 0.9

Point = tuple[float, float]


@dataclass(frozen=True)
class Slope:
    """A change per unit of time, with its interval."""

    value: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether its sign is."""
        return self.low > 0 or self.high < 0


def slope(points: Sequence[Point], confidence: float = CONFIDENCE) -> Slope:
    """The slope of points in the order of time, of which there are at least three."""
    slopes = sorted((y - b) / (x - a) for (a, b), (x, y) in combinations(points, 2))
    if not slopes:
        raise ValueError("two points at least have a slope")
    value, n, count = median(slopes), len(points), len(slopes)
    variance = n * (n - 1) * (2 * n + 5) / 18 * _alike(points, value)
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(variance)
    low = max(round((count - reach) / 2), 0)
    high = min(round((count + reach) / 2), count - 1)
    return Slope(value, slopes[low], slopes[high])


def drift(points: Sequence[Point], material: float = MATERIAL) -> Slope | None:
    """The slope of a series that drifts; None: it does not, or that cannot be told.

    `material`: the least share of its level by which it changed over the whole time.
    """
    if len(points) < FEWEST:
        return None
    whole = slope(points)
    changed = abs(whole.value) * (points[-1][0] - points[0][0])
    level = abs(median(y for _, y in points))
    if not whole.is_sure or changed < material * level:
        return None
    middle = len(points) // 2
    for half in (points[:middle], points[middle:]):
        if slope(half).value / whole.value < LEAST_SHARE:
            return None
    return whole


def _alike(points: Sequence[Point], value: float) -> float:
    """How many points there are for each independent one, from those that the slope leaves."""
    left = [y - value * x for x, y in points]
    mean = fmean(left)
    total = sum((one - mean) ** 2 for one in left)
    if not total:
        return 1.0
    together = sum((p - mean) * (q - mean) for p, q in pairwise(left)) / total
    together = min(max(together, 0.0), _MOST_ALIKE)
    return (1 + together) / (1 - together)
