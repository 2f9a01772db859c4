"""The moderated variance: known answers, and its error rates in simulated suites."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean

import numpy as np
import pytest

from wiretrial.stats.compare import ALPHA, compare, holm, moderated, scatter_of
from wiretrial.stats.scatter import FEWEST, Scatter, of_contrasts

EULER = 0.5772156649015329
"""-digamma(1)."""
SUITES = 1000
BETWEEN = 0.06
"""What an occasion adds to a scenario's figure, about a share."""

Draw = np.random.Generator
Spread = Callable[[Draw], float]


def test_equal_variances_give_infinite_prior_degrees() -> None:
    found = of_contrasts([0.04] * 6, [2] * 6)
    assert found is not None
    # The log of a variance with two degrees of freedom lies Euler's constant below.
    assert found.variance == pytest.approx(0.04 * math.exp(EULER))
    assert found.degrees == math.inf


def test_variances_that_differ_beyond_chance_give_finite_prior_degrees() -> None:
    # trigamma(1) is pi²/6: logs that scatter by twice that have two degrees of freedom behind them,
    # and then what digamma adds and takes away is the same.
    wanted = math.pi**2 / 3 - 1e-9
    logs = np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0])
    logs *= math.sqrt(wanted / logs.var(ddof=1))
    found = of_contrasts([math.exp(log - 3) for log in logs], [2] * len(logs))
    assert found is not None
    assert found.degrees == pytest.approx(2.0)
    assert found.variance == pytest.approx(math.exp(-3))


def test_too_few_contrasts_share_nothing() -> None:
    assert of_contrasts([0.04] * (FEWEST - 1), [2] * (FEWEST - 1)) is None
    assert of_contrasts([0.04] * (FEWEST - 1) + [0.0] * 9, [2] * (FEWEST + 8)) is None


@pytest.mark.parametrize(
    ("worth", "own", "variance", "degrees"),
    [
        (1.0, 2.0, (1 * 0.04 + 2 * 0.10) / 3, 3.0),
        (math.inf, 2.0, 0.07, 4.0),  # no more than its own
        (9.0, 2.0, 0.07, 4.0),
    ],
)
def test_a_moderated_variance_is_the_weighted_mean_of_both(
    worth: float, own: float, variance: float, degrees: float
) -> None:
    assert Scatter(0.04, worth).with_own(0.10, own) == pytest.approx((variance, degrees))


def test_a_moderated_comparison_has_the_degrees_of_both() -> None:
    logs = [0.2, 0.3, 0.7]
    plain = compare([math.exp(x) for x in logs], [1.0] * 3, occasions=[1, 2, 3])
    found = moderated(plain, Scatter(0.01, 2.0))
    # Its own variance is 0.07; t of 4 degrees is 2.776445.
    reach = 2.776445 * math.sqrt((0.07 + 0.01) / 2 / 3)
    assert found.ratio == pytest.approx(math.exp(fmean(logs)))
    assert found.low == pytest.approx(math.exp(0.4 - reach), rel=1e-6)
    assert found.high == pytest.approx(math.exp(0.4 + reach), rel=1e-6)
    assert (found.degrees, found.pairs) == (4, 3)
    assert found.by_occasion == plain.by_occasion
    assert moderated(plain, None) == plain


def test_variances_that_are_too_unlike_share_nothing() -> None:
    assert of_contrasts([1e-4, 1e-4, 1e-4, 0.1, 0.1, 0.1], [2] * 6) is None


def test_a_comparison_without_an_interval_stays_as_it_is() -> None:
    plain = compare([2.0], [1.0])
    assert moderated(plain, Scatter(0.01, 2.0)) == plain


def alike(_: Draw) -> float:
    return 1.0


def a_tenth_is_noisy(draw: Draw) -> float:
    return 4.0 if draw.random() < 0.1 else 1.0


def each_its_own(draw: Draw) -> float:
    """Variances of an inverse chi-square with three degrees of freedom."""
    return math.sqrt(3 / draw.chisquare(3))


@pytest.mark.parametrize("spread", [alike, a_tenth_is_noisy, each_its_own])
@pytest.mark.parametrize(("workloads", "others"), [(1, 8), (5, 5)])
def test_error_rates_of_suites_without_differences(
    workloads: int, others: int, spread: Spread
) -> None:
    """Three occasions; the contrasts of a workload share a baseline, and so its scatter."""
    draw = np.random.default_rng(7)
    wrong = held = plain_wide = wide = 0.0
    for _ in range(SUITES):
        plain = []
        for _ in range(workloads):
            base = draw.normal(0, BETWEEN * spread(draw), 3)
            for _ in range(others):
                other = draw.normal(0, BETWEEN * spread(draw), 3)
                plain.append(compare(list(np.exp(other)), list(np.exp(base)), occasions=[1, 2, 3]))
        scatter = scatter_of(plain)
        found = [moderated(one, scatter) for one in plain]
        wrong += min(holm([one.p for one in found])) < ALPHA
        held += fmean(bool(one.low and one.high and one.low <= 1 <= one.high) for one in found)
        plain_wide += np.median([math.log((one.high or 1) / one.ratio) for one in plain])
        wide += np.median([math.log((one.high or 1) / one.ratio) for one in found])
    # 0.05 and 0.95, with four standard errors of so many suites.
    assert wrong / SUITES <= 0.0775
    assert held / SUITES >= 0.94
    assert wide < 0.85 * plain_wide, "or nothing would be gained"


def test_error_rate_where_workloads_scatter_unlike() -> None:
    """Half of the workloads scatter by 1 %, as over a link, and half by 30 %."""
    draw = np.random.default_rng(3)
    suites, wrong = 600, 0
    for _ in range(suites):
        plain = []
        for _ in range(5):
            spread = 0.3 if draw.random() < 0.5 else 0.01
            base = draw.normal(0, spread, 3)
            for _ in range(5):
                other = draw.normal(0, spread, 3)
                plain.append(compare(list(np.exp(other)), list(np.exp(base)), occasions=[1, 2, 3]))
        scatter = scatter_of(plain)
        wrong += min(holm([moderated(one, scatter).p for one in plain])) < ALPHA
    # 0.05, with four standard errors of so many suites; sharing would show one in 10 %.
    assert wrong / suites <= 0.0856
