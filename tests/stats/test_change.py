"""Change points: known answers, and how often there is an alarm where nothing changed."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Sequence
from statistics import fmean, median

import pytest
from scipy.stats import binom

from wiretrial.stats import change

RESULTS = 30
SERIES = int(os.environ.get("WIRETRIAL_SERIES", "250"))
"""Simulated series of each noise; `make simulate` has four times as many."""
SURE = 0.999
"""A share that is counted over `SERIES` may lie above the told one by chance as rarely as this."""


def results(
    draw: random.Random, *, trial: float, occasion: float, outliers: float, count: int = RESULTS
) -> list[float]:
    """Logarithms of results that are equal: medians of five trials, each with an occasion's part.

    The share `outliers` of trials is slow by 5 to 40 %.
    """
    found = []
    for _ in range(count):
        day = draw.gauss(0, occasion)
        values = [day + draw.gauss(0, trial) for _ in range(5)]
        values = [
            value + (draw.uniform(0.05, 0.4) if draw.random() < outliers else 0) for value in values
        ]
        found.append(median(values))
    return found


def most(share: float, of: int = SERIES) -> int:
    """How many of so many may have it, where the true share is `share`."""
    return int(binom.ppf(SURE, of, share))


@pytest.mark.parametrize("at", [3, 10, 15, 27])
def test_a_clear_step_is_found_at_its_place(at: int) -> None:
    draw = random.Random(at)
    values = [draw.gauss(0.1 if i >= at else 0, 0.01) for i in range(RESULTS)]
    (found,) = change.changes(values)
    assert found.at == at
    assert found.p <= change.ALPHA
    assert (found.start, found.end) == (0, RESULTS)


def test_a_level_that_did_not_last_is_found_at_both_ends() -> None:
    draw = random.Random(1)
    values = [draw.gauss(0.05 if 12 <= i < 20 else 0, 0.01) for i in range(RESULTS)]
    assert [one.at for one in change.changes(values)] == [12, 20]


def test_equal_values_and_short_series_have_no_change() -> None:
    assert change.changes([1.0] * RESULTS) == []
    assert change.changes([0.0, 1.0]) == []
    assert change.changes([]) == []
    assert not change.can_tell([0] * (change.FEWEST - 1))
    assert change.can_tell([0] * change.FEWEST)


def test_one_outlier_is_no_change() -> None:
    draw = random.Random(2)
    for at in (0, 14, 28, 29):
        values = [draw.gauss(0, 0.01) + (0.5 if i == at else 0) for i in range(RESULTS)]
        assert change.changes(values) == []


def test_the_same_series_has_the_same_answer() -> None:
    draw = random.Random(3)
    values = [draw.gauss(0.02 if i > 17 else 0, 0.01) for i in range(RESULTS)]
    assert change.changes(values) == change.changes(values)


@pytest.mark.parametrize(
    "noise",
    [
        {"trial": 0.02, "occasion": 0.0, "outliers": 0.0},
        {"trial": 0.03, "occasion": 0.01, "outliers": 0.0},
        {"trial": 0.025, "occasion": 0.01, "outliers": 0.1},
    ],
    ids=["trials of 2 %", "trials of 3 %, occasions of 1 %", "outliers"],
)
def test_equal_results_raise_as_few_alarms_as_is_told(noise: dict[str, float]) -> None:
    draw = random.Random(20)
    alarms = sum(
        bool(
            change.changes(
                results(
                    draw,
                    trial=noise["trial"],
                    occasion=noise["occasion"],
                    outliers=noise["outliers"],
                )
            )
        )
        for _ in range(SERIES)
    )
    assert alarms <= most(change.ALPHA)


def test_results_of_few_boots_raise_no_alarm_for_what_a_boot_added() -> None:
    """Five results on each of six boots that differ by 2 %: without occasions most series alarm."""
    draw, boots = random.Random(30), [i // 5 for i in range(RESULTS)]
    with_boots = without = 0
    for number in range(SERIES):
        added = [draw.gauss(0, 0.02) for _ in range(6)]
        values = [added[boot] + draw.gauss(0, 0.01) for boot in boots]
        with_boots += bool(change.changes(values, boots))
        if number < 100:
            without += bool(change.changes(values))
    assert with_boots <= most(change.ALPHA)
    assert without > 50


def placed(
    draw: random.Random, step: float, scatter: float, places: Sequence[int], series: int
) -> tuple[float, float]:
    """In how many series of one step it is found, and found within one result of its place."""
    seen = near = 0
    for _ in range(series):
        at = draw.choice(places)
        values = [math.log(1 + step) * (i >= at) + draw.gauss(0, scatter) for i in range(RESULTS)]
        found = change.changes(values)
        seen += bool(found)
        near += any(abs(one.at - at) <= 1 for one in found)
    return seen / series, near / series


def test_a_step_of_5_percent_in_noise_of_1_5_percent_is_found_at_its_place() -> None:
    seen, near = placed(random.Random(40), 0.05, 0.015, range(5, 26), SERIES * 2 // 5)
    assert seen >= 0.98
    assert near >= 0.95


def test_a_step_in_one_boot_is_found_among_others() -> None:
    """Six results on each of five boots, which differ by 0.5 %."""
    draw, boots, found = random.Random(50), [i // 6 for i in range(RESULTS)], 0
    for _ in range(100):
        added = [draw.gauss(0, 0.005) for _ in range(5)]
        values = [added[b] + draw.gauss(0.05 if i >= 15 else 0, 0.01) for i, b in enumerate(boots)]
        found += any(abs(one.at - 15) <= 1 for one in change.changes(values, boots))
    assert found >= 80


def test_a_step_at_a_boot_is_not_told_from_the_boot() -> None:
    draw, boots = random.Random(60), [i // 10 for i in range(RESULTS)]
    values = [draw.gauss(0.05 if i >= 10 else 0, 0.005) for i in range(RESULTS)]
    assert change.changes(values, boots) == []
    assert 10 in [one.at for one in change.changes(values)]


@pytest.mark.parametrize("size", [2 * change.LEAST_SIDE, 9, 12])
def test_the_scan_is_the_energy_statistic(size: int) -> None:
    """Against the formula of Matteson and James, cut by cut, in the plainest way."""
    draw = random.Random(size)
    values = [draw.random() for _ in range(size)]
    least = change.LEAST_SIDE

    def energy(x: Sequence[float], y: Sequence[float]) -> float:
        def mean(pairs: Sequence[tuple[float, float]]) -> float:
            return fmean(abs(a - b) for a, b in pairs)

        between = mean([(a, b) for a in x for b in y])
        inside = [
            mean([(a, b) for i, a in enumerate(side) for j, b in enumerate(side) if i != j])
            for side in (x, y)
        ]
        m, n = len(x), len(y)
        return m * n / (m + n) * (2 * between - sum(inside))

    expected = {
        (cut, end): energy(values[:cut], values[cut:end])
        for cut in range(least, size)
        for end in range(cut + least, size + 1)
    }
    assert change.statistics(values) == pytest.approx(expected)


@pytest.mark.parametrize("scatter", [0.01, 0.03])
def test_the_resolution_is_a_step_that_is_found_in_most_series(scatter: float) -> None:
    draw = random.Random(70)
    told = fmean(
        change.resolution([draw.gauss(0, scatter) for _ in range(RESULTS)]) for _ in range(50)
    )
    seen, _ = placed(draw, math.expm1(told), scatter, [15], 100)
    assert seen >= 0.7
    half, _ = placed(draw, math.expm1(told) / 3, scatter, [15], 100)
    assert half < seen


Noise = Callable[[random.Random], float]


@pytest.mark.parametrize(
    "noise",
    [lambda draw: draw.expovariate(1), lambda draw: draw.paretovariate(1.5)],
    ids=["exponential", "Pareto"],
)
def test_skewed_noise_raises_no_more_alarms(noise: Noise) -> None:
    draw = random.Random(80)
    series = SERIES // 2
    alarms = sum(bool(change.changes([noise(draw) for _ in range(RESULTS)])) for _ in range(series))
    assert alarms <= most(change.ALPHA, series)
