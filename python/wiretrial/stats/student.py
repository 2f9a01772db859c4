"""Student's t distribution: the few functions of it that comparisons and intervals need.

From scipy's special functions (`stdtr`, `stdtrit`). They are imported where they are used: most
commands need no statistics, and the import would be half of their start-up time.
"""

from __future__ import annotations

from functools import cache


def two_sided_p(t: float, degrees: float) -> float:
    """Probability that |T| is at least |t|."""
    return 2 * survival(abs(t), degrees)


def survival(t: float, degrees: float) -> float:
    """Probability that T is at least t."""
    if degrees < 1:
        raise ValueError("t needs at least one degree of freedom")
    from scipy.special import stdtr

    return float(stdtr(degrees, -t))


@cache
def quantile(probability: float, degrees: float) -> float:
    """The t below which T lies with the given probability, which is above one half."""
    if not 0.5 < probability < 1:
        raise ValueError(f"the probability must lie between 0.5 and 1, not at {probability}")
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


@cache
def detectable(alpha: float, power: float, degrees: float) -> float:
    """The distance from 0, in standard errors, that a two-sided test at `alpha` shows so often.

    It is the noncentrality of t (Cohen 1988, *Statistical Power Analysis*, 2); that the test may
    show it on the wrong side is left out.
    """
    from scipy.special import nctdtrinc

    return float(nctdtrinc(degrees, 1 - power, quantile(1 - alpha / 2, degrees)))
