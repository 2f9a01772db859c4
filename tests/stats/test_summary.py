"""Known answers for the estimate over trials, and its coverage."""

from __future__ import annotations

import math
import random

import pytest

from wiretrial.stats.summary import order_statistic_rank, summarise


@pytest.mark.parametrize(
    ("n", "rank"), [(2, 0), (5, 0), (6, 1), (7, 1), (8, 1), (9, 2), (10, 2), (12, 3), (20, 6)]
)
def test_ranks_are_those_of_the_tables(n: int, rank: int) -> None:
    assert order_statistic_rank(n) == rank


def test_ten_trials_use_the_second_and_the_ninth() -> None:
    estimate = summarise([7, 1, 3, 9, 5, 2, 8, 4, 10, 6])
    assert (estimate.median, estimate.low, estimate.high) == (5.5, 2, 9)
    assert estimate.rule == "order statistics"


def test_five_trials_use_t_on_logarithms() -> None:
    values = [math.exp(x) for x in (1.0, 2.0, 3.0, 4.0, 5.0)]
    estimate = summarise(values)
    reach = 2.7764451 * math.sqrt(2.5) / math.sqrt(5)
    assert estimate.rule == "t on logarithms"
    assert estimate.median == pytest.approx(math.exp(3))
    assert estimate.low == pytest.approx(math.exp(3 - reach), rel=1e-6)
    assert estimate.high == pytest.approx(math.exp(3 + reach), rel=1e-6)


def test_the_interval_holds_the_median() -> None:
    estimate = summarise([1, 1, 1, 1, 1e-9])
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low <= estimate.median <= estimate.high


def test_the_interval_of_a_share_ends_at_all_of_it() -> None:
    shares = [0.9, 0.97, 1.0]
    unbounded, capped = summarise(shares), summarise(shares, most=1.0)
    assert unbounded.high is not None
    assert unbounded.high > 1.0
    assert (capped.median, capped.low, capped.high) == (0.97, unbounded.low, 1.0)
    # Ticks that were counted a little late can make a share of just above 1: the median stays.
    assert summarise([0.9, 1.01, 1.02], most=1.0).high == 1.01


def test_one_trial_two_or_a_zero_have_no_interval() -> None:
    assert summarise([3]).low is None
    assert summarise([3, 4]).low is None
    assert summarise([3, 4, 5]).low is not None
    assert summarise([0, 1, 2]).rule == "none"
    with pytest.raises(ValueError, match="no value"):
        summarise([])


@pytest.mark.parametrize("n", [5, 6, 10])
def test_coverage_is_about_95_percent(n: int) -> None:
    draw = random.Random(7)
    suites, held = 2000, 0
    for _ in range(suites):
        estimate = summarise([draw.lognormvariate(0, 0.1) for _ in range(n)])
        assert estimate.low is not None
        assert estimate.high is not None
        held += estimate.low <= 1 <= estimate.high
    assert 0.935 <= held / suites <= 0.99
