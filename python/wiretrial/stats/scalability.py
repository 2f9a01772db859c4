"""How throughput grows with concurrency: Gunther's Universal Scalability Law.

X(n) = g n / (1 + s (n - 1) + k n (n - 1)): g is one unit's throughput, s the share that is serial
(contention), k the cost of agreeing (coherency). Gunther, *Guerrilla Capacity Planning* (2007),
chapter 4. Fitted by non-linear least squares on the logarithms, so that every level weighs alike,
with g > 0 and s, k >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wiretrial.stats import student

FEWEST_LEVELS = 6
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Coefficient:
    """A fitted value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Scalability:
    """The law's three coefficients; `peak` is the n of the greatest throughput, None: no peak."""

    unit: Coefficient
    contention: Coefficient
    coherency: Coefficient
    peak: float | None
    scatter: float
    """Standard deviation of a level's throughput about the law, as a share of it."""

    def predict(self, n: float) -> float:
        """The throughput at concurrency `n`, in the unit of what was fitted."""
        grown = 1 + self.contention.value * (n - 1) + self.coherency.value * n * (n - 1)
        return self.unit.value * n / grown


def fit(
    concurrency: Sequence[float], throughput: Sequence[float], fewest: int = FEWEST_LEVELS
) -> Scalability:
    """The law through (n, X) of at least six different n of 1 or more.

    `fewest`: fewer where each is measured with care; it has three coefficients, and needs a fourth
    level for their intervals.
    """
    if len(concurrency) != len(throughput):
        raise ValueError("each level needs a throughput")
    if len(set(concurrency)) < fewest:
        raise ValueError(f"the law needs at least {fewest} levels of concurrency")
    if min(concurrency) < 1 or min(throughput) <= 0:
        raise ValueError("the law needs concurrency of 1 or more and positive throughput")
    import numpy as np
    from scipy.optimize import curve_fit

    n = np.asarray(concurrency, dtype=float)
    logs = np.log(np.asarray(throughput, dtype=float))

    def law(n: Any, unit: float, contention: float, coherency: float) -> Any:
        return unit + np.log(n) - np.log1p(contention * (n - 1) + coherency * n * (n - 1))

    values, covariance = curve_fit(
        law,
        n,
        logs,
        p0=(float(np.max(logs - np.log(n))), 0.01, 1e-5),
        bounds=((-np.inf, 0.0, 0.0), (np.inf, np.inf, np.inf)),
        # The coherency is smaller than the contention by about as much as n is large.
        x_scale=(1.0, 0.01, 0.01 / float(n.max())),
        xtol=1e-14,
        ftol=1e-14,
    )
    degrees = len(logs) - 3
    scatter = float(np.sqrt(np.sum((law(n, *values) - logs) ** 2) / degrees))
    reach = student.quantile((1 + CONFIDENCE) / 2, degrees) * np.sqrt(np.diag(covariance))
    unit, contention, coherency = (float(value) for value in values)
    peak = math.sqrt((1 - contention) / coherency) if coherency > 0 and contention < 1 else None
    return Scalability(
        unit=Coefficient(
            math.exp(unit), math.exp(unit - float(reach[0])), math.exp(unit + float(reach[0]))
        ),
        contention=_bounded(contention, float(reach[1])),
        coherency=_bounded(coherency, float(reach[2])),
        peak=peak if peak is not None and peak <= _FURTHEST * max(concurrency) else None,
        scatter=scatter,
    )


_FURTHEST = 10
"""A peak beyond so many times the highest level measured is no finding."""


def _bounded(value: float, reach: float) -> Coefficient:
    return Coefficient(value, max(value - reach, 0.0), value + reach)
