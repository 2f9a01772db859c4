"""What a message costs: CPU time = a + b x bytes + c x connections, with intervals.

Trials of one scenario scatter by a share of their value, so an observation weighs as one over the
square of the cost that is fitted to it: a large message must not drown a small one. Weights from
the observed costs would favour what came out low by chance, and price all of it up to 9 % too low
at a scatter of 20 %. Fitted costs and weights are found in turn (quasi-likelihood with the variance
as the square of the mean: McCullagh and Nelder, *Generalized Linear Models*, 2nd ed., 8.3 and 9.2).
Intervals are Student's, n - p degrees of freedom. Over several occasions each occasion's own
prices count as one value: its trials share what the day adds (`stats.occasions`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from wiretrial.stats import student
from wiretrial.stats.occasions import ENOUGH

CONFIDENCE = 0.95
SPREAD = 1.5
"""A size must vary by at least this factor, or its price can't be told from the base."""
_MOST_ROUNDS = 100
_SETTLED = 1e-10
"""Change of each fitted cost, as a share, below which another round tells nothing new."""


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
    cost_ns: Sequence[float],
    sizes: Sequence[float],
    connections: Sequence[float],
    *,
    occasions: Sequence[int] = (),
) -> CostModel:
    """The model of trials: the cost of a message, its bytes, the connections that stood.

    `occasions`: on which one each was observed; left out: all on the same. Two of them give no
    interval: its edges are infinite then. Raises ValueError where a cost is not positive, or where
    fewer than two trials more than prices stand, of any occasion.
    """
    if not len(cost_ns) == len(sizes) == len(connections):
        raise ValueError("each observation needs a cost, a size and a number of connections")
    if len(set(occasions)) < 2:
        return _fit(cost_ns, sizes, connections)
    groups: dict[int, list[int]] = {}
    for place, occasion in enumerate(occasions):
        groups.setdefault(occasion, []).append(place)
    models = [
        _fit(*([series[place] for place in places] for series in (cost_ns, sizes, connections)))
        for places in groups.values()
    ]
    return CostModel(
        base=_over([model.base for model in models]),
        per_byte=_over_all([model.per_byte for model in models]),
        per_connection=_over_all([model.per_connection for model in models]),
        scatter=math.sqrt(fmean(model.scatter**2 for model in models)),
        observations=len(cost_ns),
    )


def _fit(
    cost_ns: Sequence[float], sizes: Sequence[float], connections: Sequence[float]
) -> CostModel:
    import numpy as np

    if not cost_ns or min(cost_ns) <= 0:
        raise ValueError("a cost model needs positive costs")
    varying = [series for series in (sizes, connections) if _varies(series)]
    columns = [np.ones(len(cost_ns)), *(np.asarray(series, dtype=float) for series in varying)]
    degrees = len(cost_ns) - len(columns)
    if degrees < 2:
        raise ValueError(f"{len(columns)} prices need at least {len(columns) + 2} trials")
    costs, design = np.asarray(cost_ns, dtype=float), np.stack(columns, axis=1)
    # Columns of one size: bytes and connections may differ by six orders of magnitude.
    scale = np.linalg.norm(design / costs[:, None], axis=0)
    design = design / scale
    fitted = costs
    for _ in range(_MOST_ROUNDS):
        weighted = design / fitted[:, None]
        normal = weighted.T @ weighted
        if np.linalg.cond(normal) > 1e10:
            raise ValueError("bytes and connections rise together: vary one without the other")
        inverse = np.linalg.inv(normal)
        solution = inverse @ weighted.T @ (costs / fitted)
        # A price below zero can take a fitted cost there: that one keeps its last weight.
        following = np.where(design @ solution > 0, design @ solution, fitted)
        change = float(np.max(np.abs(following / fitted - 1)))
        fitted = following
        if change < _SETTLED:
            break
    residuals = (costs - design @ solution) / fitted
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


def _over_all(prices: Sequence[Coefficient | None]) -> Coefficient | None:
    """None where an occasion lacks the price."""
    found = [price for price in prices if price is not None]
    return _over(found) if len(found) == len(prices) else None


def _over(prices: Sequence[Coefficient]) -> Coefficient:
    """One price of several occasions, each of which counts as one value."""
    values = [price.value for price in prices]
    centre = fmean(values)
    if len(values) < ENOUGH:
        return Coefficient(centre, -math.inf, math.inf)
    reach = student.quantile((1 + CONFIDENCE) / 2, len(values) - 1) * stdev(values)
    reach /= math.sqrt(len(values))
    return Coefficient(centre, centre - reach, centre + reach)
