"""How many CPUs a rate keeps busy where a message that finds the server idle takes more.

Pure. A server that sleeps pays for its wake-up with the first message of each busy time; the more
it has to do, the fewer messages find it idle. Of a single server with random arrivals that is the
queue whose first customer has an exceptional service time (Welch, "On a Generalized M/G/1 Queuing
Process in Which the First Customer of Each Busy Period Receives Exceptional Service", 1964): it is
idle for the share (1 - x b) / (1 + x w) of the time, where a message takes b, and w more if it
finds the server idle. So a rate x keeps y = base + x (b + w - w y) CPUs busy, with what the server
does at rest, and the time of a message falls in a straight line with y. w is 0 where waking costs
nothing: then this is the line of `utilisation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from wiretrial.stats import utilisation

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

ENOUGH = 5
"""With fewer levels than these a wake-up is not told apart from what the server does at rest."""
APART = 1.05
"""Rates that are closer to each other are one level, measured again."""
_TERMS = 3


@dataclass(frozen=True)
class Busy:
    """y = `base` + x (`alone` - `saved` y) at the rate x."""

    base: float
    """CPUs busy at rest."""
    alone: float
    """CPU seconds of a message that finds the server idle."""
    saved: float
    """By so many CPU seconds a message takes less for each CPU that is busy."""
    scatter: float
    """Of a level's CPU seconds per message: their standard deviation."""
    degrees: int
    """Of freedom: levels less what is fitted."""
    inverse: tuple[tuple[float, ...], ...]
    """The covariances of base, alone and saved, as multiples of the scatter's square."""

    def at(self, rate: float) -> float:
        """CPUs that are busy there."""
        return (self.base + self.alone * rate) / (1 + self.saved * rate)

    def cost(self, cpus: float) -> float:
        """CPU seconds that a message takes where so many CPUs are busy, without those at rest."""
        return self.alone - self.saved * cpus

    def rate(self, cpus: float) -> float | None:
        """The rate that keeps so many CPUs busy; None: none does, or any."""
        cost = self.cost(cpus)
        return (cpus - self.base) / cost if cost > 0 and cpus > self.base else None


def fit(rates: Sequence[float], cpus: Sequence[float]) -> Busy:
    """The curve through levels.

    Least squares of a level's CPU time per message, which scatters alike at all levels. Nothing is
    negative: what would be is left out. Raises ValueError where the levels are too few, too close
    together, or a message takes nothing.
    """
    utilisation.require(rates, cpus)
    import numpy as np

    x, y = np.asarray(rates, dtype=float), np.asarray(cpus, dtype=float)
    design = np.stack([1 / x, np.ones_like(x), -y], axis=1)
    most = _TERMS if _levels(rates) >= ENOUGH else _TERMS - 1
    fits = [
        (squares, kept, values)
        for size in range(1, most + 1)
        for kept in map(list, combinations(range(most), size))
        for values, squares in [_squares(design[:, kept], y / x)]
        if min(values) >= 0
    ]
    squares, kept, values = min(fits, key=lambda one: one[0], default=(0.0, [], []))
    if 1 not in kept:
        raise ValueError("the levels do not tell what a message takes")
    told = dict(zip(kept, values, strict=True))
    degrees = len(x) - len(kept)
    inverse = np.zeros((_TERMS, _TERMS))
    inverse[np.ix_(kept, kept)] = np.linalg.inv(design[:, kept].T @ design[:, kept])
    return Busy(
        base=told.get(0, 0.0),
        alone=told[1],
        saved=told.get(2, 0.0),
        scatter=(squares / degrees) ** 0.5,
        degrees=degrees,
        inverse=tuple(tuple(map(float, row)) for row in inverse),
    )


def _levels(rates: Sequence[float]) -> int:
    """How many there are, without those that were measured again."""
    ordered = sorted(rates)
    return 1 + sum(after > APART * before for before, after in pairwise(ordered))


def _squares(design: NDArray[float64], wanted: NDArray[float64]) -> tuple[list[float], float]:
    """The values of least squares, and those squares."""
    import numpy as np

    values, *_ = np.linalg.lstsq(design, wanted, rcond=None)
    left = wanted - design @ values
    return [float(value) for value in values], float(left @ left)
