"""Costs of several kinds of messages: known ones, found over mixes, and mixes that tell nothing."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from wiretrial.stats import mixes

BASE, COSTS = 0.05, (100e-6, 900e-6, 20e-6)
MIXES = ((1, 1, 1), (2, 2, 2), (3, 3, 3), (1, 0, 0), (1, 1, 0), (0, 0, 5))
RATES = [tuple(100.0 * part for part in mix) for mix in MIXES]


def busy(rates: Sequence[float], costs: Sequence[float] = COSTS) -> float:
    return BASE + sum(rate * cost for rate, cost in zip(rates, costs, strict=True))


def test_known_costs_come_back() -> None:
    found = mixes.fit(RATES, [busy(rates) for rates in RATES])
    assert found.base == pytest.approx(BASE)
    assert [kind.value for kind in found.kinds] == pytest.approx(COSTS)
    for kind in found.kinds:
        assert kind.low == pytest.approx(kind.value)
        assert kind.high == pytest.approx(kind.value)


def test_the_interval_covers_a_known_cost_as_often_as_it_says() -> None:
    draw, covered, drawn = random.Random(7), 0, 400
    for _ in range(drawn):
        cpus = [busy(rates) * draw.gauss(1, 0.03) for rates in RATES]
        kind = mixes.fit(RATES, cpus).kinds[1]
        covered += kind.low <= COSTS[1] <= kind.high
    assert 0.91 <= covered / drawn <= 0.99


def test_what_costs_nothing_gives_no_time_back() -> None:
    cpus = [busy(rates, (100e-6, 900e-6, 0.0)) - 0.01 * (rates[2] > rates[0]) for rates in RATES]
    free = mixes.fit(RATES, cpus).kinds[2]
    assert free.value == 0.0
    assert free.low == 0.0 <= free.high


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ([], "the rate of each kind"),
        ([(1.0, 2.0), (1.0,)], "the rate of each kind"),
        ([(1.0, 2.0), (2.0, 1.0), (3.0, 3.0)], "4 levels at least tell 2 kinds apart"),
        ([(1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (0.0, 0.0)], "without any message"),
        ([(1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (4.0, 8.0)], "too alike"),
        ([(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)], "too alike"),
        ([(1.0, 2.0), (2.0, 4.01), (3.0, 5.99), (4.0, 8.02)], "too alike"),
    ],
)
def test_mixes_that_tell_nothing_are_refused(rates: list[tuple[float, ...]], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        mixes.fit(rates, [0.1 for _ in rates])


def test_each_level_has_its_cpus() -> None:
    with pytest.raises(ValueError, match="each level needs the CPUs"):
        mixes.fit(RATES, [0.1])
