"""Student's t distribution for whole degrees of freedom.

The distribution function is the finite series of Abramowitz and Stegun, *Handbook of Mathematical
Functions* (1964), 26.7.3 and 26.7.4: exact, and enough here, because every use has n - 1 degrees
of freedom. The quantile inverts it by bisection.
"""

from __future__ import annotations

import math
from functools import cache

_BISECTIONS = 200


def two_sided_p(t: float, degrees: int) -> float:
    """Probability that |T| is at least |t|."""
    if math.isinf(t):
        return 0.0
    return min(1.0, max(0.0, 1.0 - _within(abs(t), degrees)))


def survival(t: float, degrees: int) -> float:
    """Probability that T is at least t."""
    half = two_sided_p(t, degrees) / 2
    return half if t >= 0 else 1.0 - half


@cache
def quantile(probability: float, degrees: int) -> float:
    """The t below which T lies with the given probability, which is above one half."""
    if not 0.5 < probability < 1:
        raise ValueError(f"the probability must lie between 0.5 and 1, not at {probability}")
    low, high = 0.0, 1.0
    while survival(high, degrees) > 1 - probability:
        high *= 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if survival(middle, degrees) > 1 - probability:
            low = middle
        else:
            high = middle
    return high


def _within(t: float, degrees: int) -> float:
    """A(t | degrees): the probability that |T| is below t."""
    if degrees < 1:
        raise ValueError("t needs at least one degree of freedom")
    theta = math.atan2(t, math.sqrt(degrees))
    cosine_squared = math.cos(theta) ** 2
    if degrees == 1:
        return 2 * theta / math.pi
    if degrees % 2 == 0:
        return math.sin(theta) * _series(cosine_squared, first=1, last=degrees - 2)
    series = math.cos(theta) * _series(cosine_squared, first=2, last=degrees - 2)
    return 2 / math.pi * (theta + math.sin(theta) * series)


def _series(cosine_squared: float, *, first: int, last: int) -> float:
    """1 + first/(first+1) c + first(first+2)/((first+1)(first+3)) c^2 + ... up to power `last`."""
    total, term = 1.0, 1.0
    for factor in range(first, last, 2):
        term *= factor / (factor + 1) * cosine_squared
        total += term
    return total
