"""Occasions: known answers for their share of the scatter, and how often an interval is right."""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev

import pytest

from wiretrial.stats.compare import compare
from wiretrial.stats.occasions import components, means
from wiretrial.stats.summary import summarise

SUITES = 10_000
RATIO = 1.1
BETWEEN, WITHIN = 0.06, 0.04
"""Standard deviations of the log ratio: what an occasion adds to all of its blocks, and a block."""
BLOCKS = 4


def test_each_occasion_is_one_value() -> None:
    assert means([1.0, 3.0, 5.0, 9.0], [2, 2, 1, 2]) == pytest.approx([5.0, 13 / 3])


def test_components_have_the_textbook_answer() -> None:
    # Mean squares: within (2 + 2 + 2) / 3 = 2, between 2 * (16 + 0 + 16) / 2 = 32.
    logs = [-5.0, -3.0, -1.0, 1.0, 3.0, 5.0]
    found = components([math.exp(x) for x in logs], [1, 1, 2, 2, 3, 3])
    assert found is not None
    assert found.trials == pytest.approx(math.sqrt(2))
    assert found.occasions == pytest.approx(math.sqrt((32 - 2) / 2))


def test_components_of_unequal_numbers() -> None:
    # n0 = (5 - 13 / 5) / 1 = 2.4; grand mean 0.6, between 2 * 0.36 + 3 * 0.16 + ... by hand.
    logs = [-1.0, 1.0, 0.0, 1.0, 2.0]
    found = components([math.exp(x) for x in logs], [1, 1, 2, 2, 2])
    assert found is not None
    within = (2 + 2) / 3
    between = 2 * (0 - 0.6) ** 2 + 3 * (1 - 0.6) ** 2
    assert found.trials == pytest.approx(math.sqrt(within))
    assert found.occasions == pytest.approx(math.sqrt(max(0.0, (between - within) / 2.4)))


def test_occasions_that_lie_as_close_as_trials_add_nothing() -> None:
    found = components([1.0, 2.0, 1.0, 2.0], [1, 1, 2, 2])
    assert found is not None
    assert found.occasions == 0


@pytest.mark.parametrize("occasions", [[1, 1, 1], [1, 2, 3]])
def test_components_need_occasions_and_trials(occasions: list[int]) -> None:
    assert components([1.0, 2.0, 3.0], occasions) is None


def test_a_ratio_over_occasions_is_a_t_of_their_means() -> None:
    logs = [0.1, 0.3, 0.2, 0.4, 0.5, 0.9]
    found = compare([math.exp(x) for x in logs], [1.0] * 6, occasions=[1, 1, 2, 2, 3, 3])
    # Means 0.2, 0.3, 0.7: mean 0.4, standard deviation sqrt(0.07); t of 2 degrees 4.302653.
    reach = 4.302653 * math.sqrt(0.07 / 3)
    assert found.ratio == pytest.approx(math.exp(0.4))
    assert found.low == pytest.approx(math.exp(0.4 - reach), rel=1e-6)
    assert found.high == pytest.approx(math.exp(0.4 + reach), rel=1e-6)
    assert (found.pairs, found.degrees) == (6, 2)


def test_a_ratio_over_occasions_says_what_each_is_alone_and_what_scatters() -> None:
    logs = [-5.0, -3.0, -1.0, 1.0, 3.0, 5.0]
    found = compare([math.exp(x) for x in logs], [1.0] * 6, occasions=[1, 1, 2, 2, 3, 3])
    assert found.by_occasion == pytest.approx([math.exp(-4), 1.0, math.exp(4)])
    assert found.components is not None
    # Mean squares 2 and 32, as above.
    assert found.components.trials == pytest.approx(math.sqrt(2))
    assert found.components.occasions == pytest.approx(math.sqrt(15))
    assert found.inverse.by_occasion == pytest.approx([math.exp(4), 1.0, math.exp(-4)])
    assert found.inverse.components == found.components
    alone = compare([math.exp(x) for x in logs], [1.0] * 6)
    assert (alone.by_occasion, alone.components) == ((), None)


def test_a_figure_over_occasions_is_shown_with_the_range_of_their_medians() -> None:
    values = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    two = summarise(values, occasions=[1, 1, 1, 2, 2, 2])
    assert (two.low, two.high, two.rule) == (None, None, "none")
    assert two.interval == pytest.approx((1.1, 1.4))
    three = summarise(values, occasions=[1, 1, 2, 2, 3, 3])
    assert three.interval == pytest.approx((1.05, 1.45))
    assert summarise([0.0, 1.0, 2.0], occasions=[1, 2, 3]).interval == (0.0, 2.0)


def test_a_claim_about_a_figure_over_occasions_is_judged_by_their_t_interval() -> None:
    three = summarise([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], occasions=[1, 1, 2, 2, 3, 3])
    assert three.rule == "t over occasions"
    logs = [math.log(1.0 * 1.1) / 2, math.log(1.2 * 1.3) / 2, math.log(1.4 * 1.5) / 2]
    reach = 4.302653 * stdev(logs) / math.sqrt(3)
    assert three.low == pytest.approx(math.exp(fmean(logs) - reach), rel=1e-6)
    assert three.high == pytest.approx(math.exp(fmean(logs) + reach), rel=1e-6)


@pytest.mark.parametrize(
    ("occasions", "least", "most"),
    [
        (1, 0.50, 0.70),  # what another day would say is in none of its blocks
        (3, 0.94, 0.96),
        (5, 0.94, 0.96),
    ],
)
def test_how_often_the_interval_holds_the_ratio_of_all_days(
    occasions: int, least: float, most: float
) -> None:
    draw, held = random.Random(occasions), 0
    of = [occasion for occasion in range(occasions) for _ in range(BLOCKS)]
    for _ in range(SUITES):
        added = [draw.gauss(0, BETWEEN) for _ in range(occasions)]
        a = [RATIO * math.exp(added[one] + draw.gauss(0, WITHIN)) for one in of]
        found = compare(a, [1.0] * len(a), occasions=of)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= RATIO <= found.high
    assert least <= held / SUITES <= most


@pytest.mark.parametrize(("blocks", "alpha"), [(5, 0.05), (10, 0.05), (10, 0.05 / 22)])
def test_a_difference_as_large_as_the_resolution_is_shown_in_four_of_five_suites(
    blocks: int, alpha: float
) -> None:
    """The resolution is of the scatter that a suite has; here of that which all have."""
    draw, shown, suites = random.Random(blocks), 0, 2000
    told = compare([math.exp(0.04 * (-1) ** i) for i in range(blocks)], [1.0] * blocks)
    assert told.error is not None
    scatter = told.error * math.sqrt(blocks)
    smallest = told.resolution(alpha)
    assert smallest is not None
    for _ in range(suites):
        a = [(1 + smallest) * math.exp(draw.gauss(0, scatter)) for _ in range(blocks)]
        found = compare(a, [1.0] * blocks)
        shown += found.p < alpha
    # 0.8, with five standard deviations of a binomial.
    assert abs(shown / suites - 0.8) < 0.045
