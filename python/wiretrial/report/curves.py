"""The percentile curve of one scenario: each quantile over its trials.

Knows measured trials; must not know how a curve is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from wiretrial.report.measures import Measured
from wiretrial.results import quantiles

QUANTILES = (0.5, *(round(1 - 10 ** -(tenths / 10), 8) for tenths in range(4, 41)))


@dataclass(frozen=True)
class CurvePoint:
    """One quantile over trials: the median and the range."""

    q: float
    median: float
    low: float
    high: float


def curve(usable: Sequence[Measured]) -> tuple[CurvePoint, ...]:
    """Quantiles from the median on, as far as every trial has ten messages beyond.

    Trials that did not reach their rate are left out: their times grow for as long as they last.
    """
    runs = [run for run in usable if not run.is_overloaded]
    if not runs:
        return ()
    fewest = min(run.waiting_time.count for run in runs)
    points: list[CurvePoint] = []
    for q in QUANTILES:
        if fewest < quantiles.needed(q):
            break
        values = sorted(run.waiting_time.quantile(q) for run in runs)
        points.append(CurvePoint(q, median(values), values[0], values[-1]))
    return tuple(points)
