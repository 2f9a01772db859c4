"""What each kind of message costs, where several kinds come together: a regression over mixes.

Pure. By the utilisation law a resource is busy for the sum, over the kinds, of their rate times
the time that one takes; the base is what it does at rest. One mix at many rates can't tell its
kinds apart, so that mixes must differ. Levels scatter by a share of their value: each weighs as one
over the square of the CPUs that are fitted to it, which are found in turn (as in `stats.cost`). No
kind gives CPU time back: the least squares are those with all of it at least zero (Lawson and
Hanson, *Solving Least Squares Problems*, 1974, chapter 23). Intervals are Student's, of the
solution without that bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiretrial.stats import student

CONFIDENCE = 0.95
ROUNDS = 6
"""Of fits and weights in turn; a seventh changes nothing that is told."""
LEAST_BUSY = 1e-3
"""Of the busiest level: a level that is fitted with less weighs no more than at this."""
MOST_CONDITION = 100.0
"""Of the columns at equal length: beyond it the kinds come together too much to be told apart."""


@dataclass(frozen=True)
class Cost:
    """Of one kind, with its 95 % interval, in seconds of a CPU per message."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Costs:
    """CPUs busy at rest, and what each kind costs, in the order of its rates."""

    base: float
    kinds: tuple[Cost, ...]


def fit(rates: Sequence[Sequence[float]], cpus: Sequence[float]) -> Costs:
    """What fits best. `rates`: for each level the rate of each kind, per second.

    Raises ValueError where the levels are too few, or their mixes too alike.
    """
    if len(rates) != len(cpus):
        raise ValueError("each level needs the CPUs that it kept busy")
    kinds = len(rates[0]) if rates else 0
    if not kinds or any(len(level) != kinds for level in rates):
        raise ValueError("each level needs the rate of each kind")
    degrees = len(rates) - kinds - 1
    if degrees < 1:
        raise ValueError(f"{kinds + 2} levels at least tell {kinds} kinds apart")
    whole = [sum(level) for level in rates]
    if min(whole) <= 0:
        raise ValueError("a level without any message tells no cost")
    import numpy as np
    from scipy.optimize import nnls

    told = np.column_stack([np.ones(len(rates)), np.asarray(rates, dtype=float)])
    busy = np.asarray(cpus, dtype=float)
    # What a level is held to: first its rate, then what the fit before says that it kept busy.
    size = np.asarray(whole)
    for _ in range(ROUNDS):
        design, wanted = told / size[:, None], busy / size
        lengths = np.linalg.norm(design, axis=0)
        if lengths.min() <= 0 or np.linalg.cond(design / lengths) > MOST_CONDITION:
            raise ValueError("the mixes are too alike")
        scaled = design / lengths
        bounded = nnls(scaled, wanted)[0] / lengths
        size = np.maximum(told @ bounded, LEAST_BUSY * busy.max())
    inverse = np.linalg.inv(scaled.T @ scaled)
    free = inverse @ scaled.T @ wanted
    residuals = wanted - scaled @ free
    errors = np.sqrt(float(residuals @ residuals) / degrees * np.diag(inverse)) / lengths
    reach = student.quantile((1 + CONFIDENCE) / 2, degrees)
    return Costs(
        base=float(bounded[0]),
        kinds=tuple(
            _cost(float(value), float(middle), reach * float(error))
            for value, middle, error in zip(
                bounded[1:], (free / lengths)[1:], errors[1:], strict=True
            )
        ),
    )


def _cost(value: float, middle: float, reach: float) -> Cost:
    """The interval is about the unbounded value; the estimate lies in it all the same."""
    low, high = max(middle - reach, 0.0), max(middle + reach, 0.0)
    return Cost(value, min(low, value), max(high, value))
