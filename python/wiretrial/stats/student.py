"""Student's t distribution: the few functions of it that comparisons and intervals need.

From scipy's special functions (`stdtr`, `stdtrit`), whose import costs a tenth of that of
`scipy.stats`.
"""

from __future__ import annotations

from functools import cache

from scipy import special


def two_sided_p(t: float, degrees: int) -> float:
    """Probability that |T| is at least |t|."""
    return 2 * survival(abs(t), degrees)


def survival(t: float, degrees: int) -> float:
    """Probability that T is at least t."""
    if degrees < 1:
        raise ValueError("t needs at least one degree of freedom")
    return float(special.stdtr(degrees, -t))


@cache
def quantile(probability: float, degrees: int) -> float:
    """The t below which T lies with the given probability, which is above one half."""
    if not 0.5 < probability < 1:
        raise ValueError(f"the probability must lie between 0.5 and 1, not at {probability}")
    return float(special.stdtrit(degrees, probability))
