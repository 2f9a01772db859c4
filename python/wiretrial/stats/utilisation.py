"""How many CPUs a load keeps busy: a straight line of its rate, with what it predicts.

Pure. By the utilisation law (Denning and Buzen, "The Operational Analysis of Queueing Network
Models", 1978) a resource is busy for the rate times the time that a message takes of it; the base
is what it does at rest. Levels scatter by a share of their value, so that each weighs as one over
the square of its rate. Intervals are Student's, n degrees less what is fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.stats import student

CONFIDENCE = 0.95
FEWEST = 3
"""Levels: two points lie on a line whatever they are."""
SPREAD = 1.5
"""The highest rate is at least so many times the lowest, or the slope is the scatter's."""
FURTHEST = 2.0
"""Beyond so many times the highest rate that was measured nothing is predicted."""


@dataclass(frozen=True)
class Line:
    """CPUs busy at a rate: `base` + `slope` x rate. `slope` is CPU seconds per message."""

    base: float
    slope: float
    low: float
    high: float
    """Ends of the slope's 95 % interval."""
    lowest: float
    highest: float
    """Rates that were measured."""

    def at(self, rate: float) -> float | None:
        """CPUs that are busy there; None beyond twice the highest rate that was measured."""
        if not 0 <= rate <= FURTHEST * self.highest:
            return None
        return max(self.base + self.slope * rate, 0.0)

    def full(self, cpus: float) -> float | None:
        """The rate at which so many CPUs are busy; None: none is known by these levels."""
        if self.slope <= 0 or cpus <= self.base:
            return None
        rate = (cpus - self.base) / self.slope
        return rate if rate <= FURTHEST * self.highest else None


def fit(rates: Sequence[float], cpus: Sequence[float]) -> Line:
    """The line through levels. Raises ValueError where they are too few, or too close together."""
    require(rates, cpus)
    import numpy as np

    x, y = np.asarray(rates, dtype=float), np.asarray(cpus, dtype=float)
    design = np.stack([np.ones_like(x), x], axis=1) / x[:, None]
    wanted = y / x
    inverse = np.linalg.inv(design.T @ design)
    base, slope = (float(value) for value in inverse @ design.T @ wanted)
    degrees = len(x) - 2
    if base < 0:
        # At rest no CPU is given back: the line goes through nothing, and one value less is fitted.
        base, slope, degrees = 0.0, float(np.mean(wanted)), len(x) - 1
        inverse = np.diag([0.0, 1 / len(x)])
    elif slope < 0:
        # Nor does a message give any back: the levels scatter by more than it takes.
        base, slope = float((wanted / x).sum() / (1 / x**2).sum()), 0.0
    residuals = wanted - design @ np.array([base, slope])
    error = math.sqrt(float(residuals @ residuals) / degrees * float(inverse[1, 1]))
    reach = student.quantile((1 + CONFIDENCE) / 2, degrees) * error
    return Line(
        base=base,
        slope=slope,
        low=max(slope - reach, 0.0),
        high=slope + reach,
        lowest=float(x.min()),
        highest=float(x.max()),
    )


def require(rates: Sequence[float], cpus: Sequence[float]) -> None:
    """Raises ValueError where levels are too few, or too close together, to fit anything to."""
    if len(rates) != len(cpus):
        raise ValueError("each level needs the CPUs that it kept busy")
    if len(rates) < FEWEST:
        raise ValueError(f"{FEWEST} levels at least tell what a message takes")
    if min(rates) <= 0 or max(rates) < SPREAD * min(rates):
        raise ValueError("the levels are too close to each other to tell what a message takes")
