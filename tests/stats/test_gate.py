"""A bound is kept, broken, or cannot be told; known answers and how often it errs."""

from __future__ import annotations

import math
import random

import pytest

from wiretrial.stats.bounds import Bound
from wiretrial.stats.gate import bounded, of_pairs, of_ratio, of_share, of_shares, of_values


def test_a_bound_far_from_the_values_is_decided() -> None:
    values = [100.0, 101, 99, 102, 98]
    assert of_values(values, 90, at_least=True).outcome == "kept"
    assert of_values(values, 110, at_least=True).outcome == "broken"
    assert of_values(values, 110, at_least=False).outcome == "kept"
    assert of_values(values, 90, at_least=False).outcome == "broken"


@pytest.mark.parametrize(
    ("kind", "at_least", "far_above", "far_below"),
    [
        ("exact", True, "kept", "broken"),
        ("at least", True, "kept", "cannot tell"),
        ("at most", True, "cannot tell", "broken"),
        ("unknown", True, "cannot tell", "cannot tell"),
        ("exact", False, "broken", "kept"),
        ("at least", False, "broken", "cannot tell"),
        ("at most", False, "cannot tell", "kept"),
        ("unknown", False, "cannot tell", "cannot tell"),
    ],
)
def test_a_value_that_is_only_a_bound_decides_on_its_closed_side(
    kind: Bound, at_least: bool, far_above: str, far_below: str
) -> None:
    values = [100.0, 101, 99, 102, 98]
    for threshold, expected in ((90.0, far_above), (110.0, far_below)):
        decision = of_values(values, threshold, at_least=at_least)
        assert bounded(decision, kind, at_least=at_least).outcome == expected


def test_the_interval_of_values_has_the_known_answer() -> None:
    """Logs 0, 0.1, 0.2: mean 0.1, standard error 0.1 / sqrt 3, t(2) = 4.3027."""
    found = of_values([1.0, math.exp(0.1), math.exp(0.2)], 2, at_least=False)
    reach = 4.302652729911275 * 0.1 / math.sqrt(3)
    assert found.value == pytest.approx(math.exp(0.1))
    assert found.low == pytest.approx(math.exp(0.1 - reach))
    assert found.high == pytest.approx(math.exp(0.1 + reach))


def test_welchs_interval_has_the_known_answer() -> None:
    """Logs 0, 0.2 and 0, 0.1, 0.2: variances 0.02 and 0.01, by hand."""
    new = [1.0, math.exp(0.2)]
    old = [1.0, math.exp(0.1), math.exp(0.2)]
    a, b = 0.02 / 2, 0.01 / 3
    degrees = (a + b) ** 2 / (a**2 / 1 + b**2 / 2)
    assert degrees == pytest.approx(1.6842, abs=1e-3)
    found = of_ratio(new, old, 1.0, at_least=True)
    assert found.value == pytest.approx(1.0)
    assert found.low is not None
    assert found.high is not None
    assert found.low * found.high == pytest.approx(1.0)
    assert found.outcome == "cannot tell"
    assert found.needed is None


def test_what_cannot_be_told_says_how_many_trials_would() -> None:
    draw = random.Random(2)
    values = [math.exp(draw.gauss(0.03, 0.05)) for _ in range(4)]
    found = of_values(values, 1.0, at_least=True)
    assert found.outcome == "cannot tell"
    assert found.needed is not None
    assert found.needed > 4


def test_one_trial_tells_nothing() -> None:
    assert of_values([5.0], 1, at_least=True).outcome == "cannot tell"
    assert of_ratio([5.0], [1.0, 1.1], 1, at_least=True).outcome == "cannot tell"


THREE_DAYS = [0, 0, 1, 1, 2, 2]
LOGS = [0.1, 0.3, 0.2, 0.4, 0.5, 0.9]
REACH = 4.302653 * math.sqrt(0.07 / 3)
"""Means 0.2, 0.3, 0.7 of three days: mean 0.4, variance 0.07; t of 2 degrees 4.302653."""


def test_each_occasion_is_one_value_against_a_bound() -> None:
    values = [math.exp(x) for x in LOGS]
    trials = of_values(values, 1.0, at_least=True)
    days = of_values(values, 1.0, at_least=True, occasions=THREE_DAYS)
    assert (trials.outcome, trials.unit) == ("kept", "trials")
    assert (days.outcome, days.unit) == ("cannot tell", "occasions")
    assert days.value == pytest.approx(math.exp(0.4))
    assert days.low == pytest.approx(math.exp(0.4 - REACH), rel=1e-6)
    assert days.high == pytest.approx(math.exp(0.4 + REACH), rel=1e-6)
    # The least n with t(n - 1) sqrt(0.07 / n) < 0.4: 3.182 * 0.1323 = 0.421, 2.776 * 0.1183 = 0.328
    assert days.needed == 5


def test_pairs_of_several_occasions_are_means_of_occasions() -> None:
    ones = [1.0] * len(LOGS)
    found = of_pairs([math.exp(x) for x in LOGS], ones, 1.0, at_least=True, occasions=THREE_DAYS)
    assert (found.outcome, found.unit, found.needed) == ("cannot tell", "occasions", 5)
    assert found.low == pytest.approx(math.exp(0.4 - REACH), rel=1e-6)


def test_two_results_of_several_occasions_are_compared_by_their_occasions() -> None:
    new, old = [math.exp(x) for x in LOGS], [1.0] * 6
    found = of_ratio(new, old, 1.0, at_least=True, occasions=(THREE_DAYS, THREE_DAYS))
    # The old one does not scatter, so that all error and both degrees are the new one's.
    assert found.low == pytest.approx(math.exp(0.4 - REACH), rel=1e-6)
    assert (found.outcome, found.unit) == ("cannot tell", "occasions")


def test_a_result_of_one_occasion_is_one_value_against_those_of_several() -> None:
    new, old = [math.exp(x) for x in LOGS], [0.98, 1.0, 1.0204081632653061] * 4
    found = of_ratio(new, old, 1.0, at_least=True, occasions=(THREE_DAYS, [7] * 12))
    # A single value against a sample of three: error sqrt(0.07 (1 + 1 / 3)), 2 degrees.
    assert found.value == pytest.approx(math.exp(0.4))
    assert found.low == pytest.approx(math.exp(0.4 - 4.302653 * math.sqrt(0.07 * 4 / 3)), rel=1e-6)
    turned = of_ratio(old, new, 1.0, at_least=True, occasions=([7] * 12, THREE_DAYS))
    assert turned.high == pytest.approx(1 / (found.low or 0))


@pytest.mark.parametrize(("old_days", "least"), [(3, 0.95), (1, 0.95)])
def test_how_often_two_equal_results_of_several_days_break_a_bound_of_1(
    old_days: int, least: float
) -> None:
    draw, suites, held, blind = random.Random(old_days), 2000, 0, 0

    def measured(days: int) -> tuple[list[float], list[int]]:
        of = [day for day in range(days) for _ in range(4)]
        added = [draw.gauss(0, 0.06) for _ in range(days)]
        return [math.exp(added[day] + draw.gauss(0, 0.02)) for day in of], of

    for _ in range(suites):
        (new, new_of), (old, old_of) = measured(3), measured(old_days)
        found = of_ratio(new, old, 1.0, at_least=True, occasions=(new_of, old_of))
        held += found.outcome == "cannot tell"
        blind += of_ratio(new, old, 1.0, at_least=True).outcome == "cannot tell"
    # Five standard deviations of a binomial.
    assert held / suites > least - 5 * math.sqrt(least * (1 - least) / suites)
    assert blind / suites < 0.7


def test_values_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        of_values([0.0, 1.0], 1, at_least=True)
    with pytest.raises(ValueError, match="no value"):
        of_values([], 1, at_least=True)


@pytest.mark.parametrize("trials", [5, 10])
def test_equal_runs_break_a_bound_of_1_in_at_most_3_percent(trials: int) -> None:
    draw, suites, broken = random.Random(trials), 4000, 0
    for _ in range(suites):
        new, old = ([math.exp(draw.gauss(0, 0.05)) for _ in range(trials)] for _ in range(2))
        broken += of_ratio(new, old, 1.0, at_least=True).outcome == "broken"
    assert broken / suites <= 0.032


@pytest.mark.parametrize(
    ("count", "total", "bound", "outcome"),
    [
        (0, 5000, 0.001, "kept"),
        (0, 1000, 0.001, "cannot tell"),
        (0, 1000, 0.0, "kept"),
        (1, 1_000_000, 0.0, "broken"),
        (20, 10_000, 0.001, "broken"),
        (12, 10_000, 0.001, "cannot tell"),
        (1000, 1000, 0.5, "broken"),
    ],
)
def test_a_share_is_held_against_an_upper_bound(
    count: int, total: int, bound: float, outcome: str
) -> None:
    assert of_share(count, total, bound).outcome == outcome


def test_the_interval_of_a_share_is_clopper_and_pearson_s() -> None:
    """Known from tables: 2 of 100, and none of 100 (the rule of three, exactly)."""
    found = of_share(2, 100, 0.5)
    assert math.isclose(found.low or 0, 0.002431, rel_tol=1e-3)
    assert math.isclose(found.high or 0, 0.070384, rel_tol=1e-3)
    none = of_share(0, 100, 0.5)
    assert (none.value, none.low) == (0, 0)
    assert math.isclose(none.high or 0, 1 - 0.025 ** (1 / 100), rel_tol=1e-9)


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        ([(0, 10_000), (1, 10_000), (0, 10_000)], "kept"),
        # Together 60 of 30,000 would be kept; one day alone breaks it.
        ([(0, 10_000), (60, 10_000), (0, 10_000)], "cannot tell"),
        ([(60, 10_000), (70, 10_000)], "broken"),
        ([(2, 10_000)], "kept"),
    ],
)
def test_failures_of_a_day_are_held_day_by_day(parts: list[tuple[int, int]], outcome: str) -> None:
    found = of_shares(parts, 0.003)
    assert found.outcome == outcome
    assert found.value == sum(count for count, _ in parts) / sum(total for _, total in parts)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.value <= found.high


def test_any_failure_of_any_day_breaks_a_bound_of_none() -> None:
    assert of_shares([(0, 100), (1, 100)], 0.0).outcome == "broken"
    assert of_shares([(0, 100), (0, 100)], 0.0).outcome == "kept"
