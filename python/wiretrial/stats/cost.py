"""What a message costs: CPU time = a + b x bytes + c x connections, with intervals.

Weighted least squares (Weisberg, *Applied Linear Regression*, 4th ed., 7.1). Trials of one scenario
scatter by a share of their value, so an observation weighs as one over its square: a large message
must not drown a small one. Intervals are Student's, n - p degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.stats import student

CONFIDENCE = 0.95
SPREAD = 1.5
"""A size must vary by at least this factor, or its price can't be told from the base."""


@dataclass(frozen=True)
class Coefficient:
    """A price with its 95 % interval, in nanoseconds per unit."""

    value: float
    low: float
    high: float

    @property
    def is_shown(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class CostModel:
    """CPU nanoseconds per message. None: the observations do not vary in it.

    `scatter` is the standard deviation of an observation about the model, as a share of its value.
    """

    base: Coefficient
    per_byte: Coefficient | None
    per_connection: Coefficient | None
    scatter: float
    observations: int


def fit(
    cost_ns: Sequence[float], sizes: Sequence[float], connections: Sequence[float]
) -> CostModel:
    """The model of trials: the cost of a message, its bytes, the connections that stood.

    Raises ValueError where a cost is not positive, or fewer than two trials more than prices stand.
    """
    import numpy as np

    if not len(cost_ns) == len(sizes) == len(connections):
        raise ValueError("each observation needs a cost, a size and a number of connections")
    if not cost_ns or min(cost_ns) <= 0:
        raise ValueError("a cost model needs positive costs")
    varying = [series for series in (sizes, connections) if _varies(series)]
    columns = [np.ones(len(cost_ns)), *(np.asarray(series, dtype=float) for series in varying)]
    degrees = len(cost_ns) - len(columns)
    if degrees < 2:
        raise ValueError(f"{len(columns)} prices need at least {len(columns) + 2} trials")
    weights = 1 / np.asarray(cost_ns, dtype=float)
    design = np.stack(columns, axis=1) * weights[:, None]
    # Columns of one size: bytes and connections may differ by six orders of magnitude.
    scale = np.linalg.norm(design, axis=0)
    normal = (design / scale).T @ (design / scale)
    if np.linalg.cond(normal) > 1e10:
        raise ValueError("bytes and connections rise together: vary one without the other")
    inverse = np.linalg.inv(normal)
    solution = inverse @ (design / scale).T @ np.ones(len(cost_ns))
    residuals = 1 - (design / scale) @ solution
    variance = float(residuals @ residuals) / degrees
    reach = student.quantile((1 + CONFIDENCE) / 2, degrees)
    errors = np.sqrt(variance * np.diag(inverse)) / scale
    found = iter(
        Coefficient(float(value), float(value - reach * error), float(value + reach * error))
        for value, error in zip(solution / scale, errors, strict=True)
    )
    return CostModel(
        base=next(found),
        per_byte=next(found) if _varies(sizes) else None,
        per_connection=next(found) if _varies(connections) else None,
        scatter=math.sqrt(variance),
        observations=len(cost_ns),
    )


def _varies(series: Sequence[float]) -> bool:
    return max(series) >= SPREAD * max(min(series), 1)
