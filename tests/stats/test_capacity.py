"""Predicted capacities: levels with known answers, and intervals that hold as often as they say."""

from __future__ import annotations

import math
import random

import pytest

from wiretrial.stats import capacity, utilisation

SHARES = (0.2, 0.4, 0.6)


def levels(top: float, trials: int = 3) -> list[float]:
    return [share * top for share in SHARES for _ in range(trials)]


def test_a_linear_server_is_predicted_exactly() -> None:
    rates = levels(10_000)
    found = capacity.predicted(rates, [0.05 + 95e-6 * rate for rate in rates], 1.0)
    assert found.rate == pytest.approx(10_000)
    assert found.low == pytest.approx(10_000)
    assert found.high == pytest.approx(10_000)
    assert found.curve.cost(1.0) == pytest.approx(95e-6)
    assert found.error(10_000) == pytest.approx(0)
    assert not found.is_extrapolated


def test_a_server_with_contention_is_predicted_too_high_by_what_it_costs_more_at_the_top() -> None:
    # The universal scalability law as CPU time: a message costs c (1 + k x), so that the top of one
    # CPU is where c x (1 + k x) = 1. With c = 1/12000 and k such that this is at 10,000:
    cost, top = 1 / 12_000, 10_000.0
    grown = (1 / (cost * top) - 1) / top
    rates = levels(top)
    found = capacity.predicted(rates, [cost * x * (1 + grown * x) for x in rates], 1.0)
    # By hand, y/x = c (1 + k x) through the origin, where no base is below 0: its mean over
    # 2,000, 4,000 and 6,000 is that at 4,000.
    assert found.rate == pytest.approx(1 / (cost * (1 + grown * 4_000)))
    assert found.error(top) == pytest.approx(1.2 / 1.08 - 1)
    assert found.curve.base == 0


def test_a_server_that_is_throttled_in_periods_is_told_by_its_limit() -> None:
    # It runs for 25 ms of each 100: busy as it would be without a limit until that is used up.
    rates = levels(2_500)
    found = capacity.predicted(rates, [100e-6 * rate for rate in rates], 0.25)
    assert found.rate == pytest.approx(2_500)


def test_another_size_of_machine_is_told_by_the_same_levels() -> None:
    rates = levels(10_000)
    cpus = [0.02 + 98e-6 * rate for rate in rates]
    half = capacity.predicted(rates, cpus, 0.5)
    assert half.rate == pytest.approx(0.48 / 98e-6)


def test_far_beyond_the_levels_it_says_so() -> None:
    found = capacity.predicted([1.0, 2.0, 3.0], [0.01, 0.02, 0.03], 1.0)
    assert found.rate == pytest.approx(100)
    assert found.is_extrapolated


def simulated(chosen: random.Random, base: float, scatter: float, tops: int) -> bool:
    """Whether the interval held the mean of measured tops, in one made-up study."""
    cost, limit = 1e-4, 1.0
    top = (limit - base) / cost
    rates = levels(top)
    busy = [base + cost * x * (1 + chosen.gauss(0, scatter)) for x in rates]
    # A top is where the limit is kept busy, at a cost that scatters alike.
    seen = [(limit - base) / (cost * (1 + chosen.gauss(0, scatter))) for _ in range(tops)]
    return capacity.predicted(rates, busy, limit, tops).holds(sum(seen) / tops)


@pytest.mark.parametrize("base", [0.0, 0.08])
def test_intervals_hold_the_measured_as_often_as_they_say(base: float) -> None:
    chosen = random.Random(7)
    held = [simulated(chosen, base, 0.02, 3) for _ in range(2_000)]
    # Where the base is 0, half of the fits go through nothing with one degree of freedom more.
    assert 0.925 <= sum(held) / len(held) <= 0.985


def test_levels_without_a_slope_bound_it_on_one_side() -> None:
    chosen = random.Random(1)
    rates = levels(100)
    cpus = [0.5 + 1e-6 * x + abs(chosen.gauss(0, 0.2)) * x / 100 for x in rates]
    found = capacity.predicted(rates, cpus, 1.0)
    assert found.high == math.inf or found.high > found.rate
    assert 0 <= found.low <= found.rate


@pytest.mark.parametrize(
    ("rates", "cpus", "limit"),
    [
        ([1.0, 2.0], [0.1, 0.2], 1.0),
        ([10.0, 11.0, 12.0], [0.1, 0.2, 0.3], 1.0),
        ([1.0, 2.0, 3.0], [0.5, 0.4, 0.3], 1.0),
        ([1.0, 2.0, 3.0], [0.51, 0.52, 0.53], 0.4),
    ],
)
def test_levels_that_tell_nothing_are_refused(
    rates: list[float], cpus: list[float], limit: float
) -> None:
    with pytest.raises(ValueError, match="levels"):
        capacity.predicted(rates, cpus, limit)


def test_the_line_is_that_of_an_advice() -> None:
    rates = levels(10_000)
    cpus = [0.05 + 95e-6 * rate + 0.001 * (place % 3) for place, rate in enumerate(rates)]
    line = utilisation.fit(rates, cpus)
    found = capacity.predicted(rates, cpus, 1.0)
    assert found.rate == pytest.approx(line.full(1.0))
