"""Whether levels share one ratio: a known answer, and how often the test errs."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from wiretrial.stats.heterogeneity import ALPHA, p_value

SUITES = 2000


def test_it_has_the_known_answer() -> None:
    """By hand: level means 2 and 4, block means 2, 3, 4; between 6, residual 1, F = 6 / (1 / 2).

    F(1, 2) is the square of Student's t(2), whose two tails beyond sqrt(12) are 1 - sqrt(12 / 14).
    """
    levels = [[1.0, 2.5, 2.5], [3.0, 3.5, 5.5]]
    assert p_value(levels) == pytest.approx(1 - math.sqrt(12 / 14))


def suite(draw: random.Random, ratios: Sequence[float], scatter: Sequence[float], n: int) -> float:
    """The p of one simulated suite: noise per block, and per trial as each level has it."""
    shared = [draw.gauss(0, 0.03) for _ in range(n)]
    return p_value(
        [
            [math.log(ratio) + block + draw.gauss(0, noise) for block in shared]
            for ratio, noise in zip(ratios, scatter, strict=True)
        ]
    )


def alarms(k: int, n: int, scatter: Sequence[float]) -> float:
    """How often levels that are the same are told apart."""
    draw = random.Random(100 * k + n)
    return sum(suite(draw, [2.0] * k, scatter, n) < ALPHA for _ in range(SUITES)) / SUITES


@pytest.mark.parametrize(("levels", "blocks"), [(2, 3), (2, 5), (4, 5), (20, 5), (4, 10)])
def test_levels_that_are_the_same_are_told_apart_in_about_5_percent(
    levels: int, blocks: int
) -> None:
    assert 0.035 < alarms(levels, blocks, [0.05] * levels) < 0.065


@pytest.mark.parametrize("levels", [2, 4, 20])
def test_where_levels_scatter_differently_it_errs_towards_the_range(levels: int) -> None:
    """From 2 % to 20 %: it tells more ranges than it need, and pools no more."""
    scatter = [0.02 * 10 ** (place / (levels - 1)) for place in range(levels)]
    assert 0.035 < alarms(levels, 5, scatter) < 0.16


def test_a_share_that_a_day_adds_to_each_level_tells_no_levels_apart() -> None:
    """Three days of four blocks: as twelve blocks they speak against most that are the same."""
    draw, by_day, by_block = random.Random(5), 0, 0
    of = [day for day in range(3) for _ in range(4)]
    for _ in range(SUITES):
        levels = [
            [added[day] + draw.gauss(0, 0.02) for day in of]
            for added in ([draw.gauss(0, 0.05) for _ in range(3)] for _ in range(4))
        ]
        by_day += p_value(levels, of) < ALPHA
        by_block += p_value(levels) < ALPHA
    assert 0.035 < by_day / SUITES < 0.065
    assert by_block / SUITES > 0.5


def test_levels_far_apart_are_told_apart() -> None:
    draw = random.Random(1)
    ratios = [1.45 * (5.28 / 1.45) ** (place / 19) for place in range(20)]
    assert all(suite(draw, ratios, [0.2] * 20, 5) < ALPHA for _ in range(200))


def test_without_any_scatter_only_equal_levels_are_the_same() -> None:
    assert p_value([[0.5, 0.6], [0.5, 0.6]]) == 1.0
    assert p_value([[0.5, 0.6], [0.7, 0.8]]) == 0.0


def test_too_little_is_refused() -> None:
    with pytest.raises(ValueError, match="two levels"):
        p_value([[1.0, 2.0]])
