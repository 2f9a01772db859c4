"""The variance that contrasts of a workload or a study have in common (the moderated t test).

A contrast over three occasions has two degrees of freedom, so its own variance is hardly known:
after Holm's adjustment over twenty contrasts it would have to lie twenty standard errors from 1.
But such contrasts are measured in the same way on the same occasions. Their variances are
modelled as draws from one scaled inverse chi-square distribution, whose centre and degrees of
freedom are estimated from all of them. Each contrast then uses the weighted mean of its own
variance and that centre, with the degrees of freedom of both (Smyth 2004, "Linear Models and
Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments",
*Statistical Applications in Genetics and Molecular Biology* 3(1), sections 4 and 6).

The common variance never weighs more than a contrast's own. Without that cap, suites in which the
baseline is noisy, or a tenth of the contrasts scatter four times as much as the others, show a
false difference in 10 to 18 % of simulations instead of 5 % (`tests/stats/test_scatter.py` runs
them with the cap). Nothing is shared where the variances are so unlike that the distribution is
worth less than two degrees of freedom: times over a link that scatter by 1 % beside times over
loopback that scatter by 30 % tell nothing of each other, and sharing would show a false difference
in about 10 % of such suites.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

FEWEST = 5
"""With fewer contrasts no common variance is estimated."""
LEAST_DEGREES = 2.0
"""With fewer prior degrees of freedom the contrasts are too unlike to share a variance."""
_LEAST, _MOST = 1e-3, 1e4
"""Search range for half the prior degrees of freedom."""


@dataclass(frozen=True)
class Scatter:
    """The common variance of contrasts in one metric."""

    variance: float
    """Of one value of a log ratio (a block's or an occasion's): the centre of the prior."""
    degrees: float
    """Prior degrees of freedom; infinity where all contrasts have the same variance."""

    def with_own(self, own: float, degrees: float) -> tuple[float, float]:
        """The moderated variance of one value of a contrast, and its degrees of freedom.

        `own`: the contrast's own variance, with `degrees` degrees of freedom.
        """
        prior = min(self.degrees, degrees)
        total = prior + degrees
        return (prior * self.variance + degrees * own) / total, total


def of_contrasts(variances: Sequence[float], degrees: Sequence[float]) -> Scatter | None:
    """The common variance of contrasts, estimated by the moments of their log variances.

    A variance of zero (as counted figures have) is left out. None where fewer than `FEWEST` remain,
    or where they are too unlike (`LEAST_DEGREES`).
    """
    known = [(own, free) for own, free in zip(variances, degrees, strict=True) if own > 0]
    if len(known) < FEWEST:
        return None
    # Most commands need no statistics, and the import would be half of their start-up time.
    from scipy.special import digamma, polygamma

    # Unbiased log variances, and how far they scatter beyond chance (Smyth 2004, 6.2).
    logs = [math.log(own) - float(digamma(free / 2)) + math.log(free / 2) for own, free in known]
    beyond = variance(logs) - fmean(float(polygamma(1, free / 2)) for _, free in known)
    half = _inverse_trigamma(beyond)
    if math.isinf(half):
        return Scatter(math.exp(fmean(logs)), math.inf)
    if 2 * half < LEAST_DEGREES:
        return None
    return Scatter(math.exp(fmean(logs) + float(digamma(half)) - math.log(half)), 2 * half)


def _inverse_trigamma(value: float) -> float:
    """The argument at which the trigamma function has this value; infinity for zero and below."""
    from scipy.optimize import brentq
    from scipy.special import polygamma

    if value <= float(polygamma(1, _MOST)):
        return math.inf
    if value >= float(polygamma(1, _LEAST)):
        return _LEAST
    return float(brentq(lambda at: float(polygamma(1, at)) - value, _LEAST, _MOST))
