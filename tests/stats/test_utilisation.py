"""CPUs busy over the rate: known lines are found, and nothing is predicted far from them."""

from __future__ import annotations

import random

import pytest

from wiretrial.stats import utilisation

RATES = [1000.0, 2000.0, 4000.0, 6000.0, 8000.0, 10_000.0]


def test_a_known_line_is_found() -> None:
    line = utilisation.fit(RATES, [0.05 + 80e-6 * rate for rate in RATES])
    assert line.base == pytest.approx(0.05)
    assert line.slope == pytest.approx(80e-6)
    assert [line.low, line.high] == pytest.approx([80e-6, 80e-6])
    assert line.at(5000) == pytest.approx(0.45)
    assert line.full(1.0) == pytest.approx(0.95 / 80e-6)


def test_a_base_below_zero_is_none() -> None:
    line = utilisation.fit(RATES, [80e-6 * rate * (1 + rate / 1e6) for rate in RATES])
    assert line.base == 0
    assert line.at(0) == 0
    assert line.low < line.slope < line.high


def test_a_message_gives_no_time_back() -> None:
    line = utilisation.fit(RATES, [0.05 * (1 + (-1) ** n / 100) for n in range(len(RATES))])
    assert (line.slope, line.low) == (0.0, 0.0)
    assert line.base == pytest.approx(0.05, rel=0.02)
    assert 0 < line.high < 1e-6


def test_nothing_is_predicted_beyond_twice_what_was_measured() -> None:
    line = utilisation.fit(RATES, [0.05 + 80e-6 * rate for rate in RATES])
    assert line.at(20_000) is not None
    assert line.at(20_001) is None
    assert line.full(1.6) is not None
    assert line.full(1.7) is None
    assert line.full(0.04) is None


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ([1000.0, 5000.0], "3 levels at least"),
        ([1000.0, 1100.0, 1200.0], "too close"),
        ([0.0, 1000.0, 2000.0], "too close"),
    ],
)
def test_levels_that_tell_nothing_are_refused(rates: list[float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        utilisation.fit(rates, [1e-4 * rate for rate in rates])


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """95 % of 2,000 fits, whose levels scatter by 5 % of their value."""
    draw, held, runs = random.Random(7), 0, 2000
    for _ in range(runs):
        cpus = [(0.05 + 80e-6 * rate) * draw.gauss(1, 0.05) for rate in RATES]
        line = utilisation.fit(RATES, cpus)
        held += line.low <= 80e-6 <= line.high
    # Weights are of the rate, and scatter is of the whole: nearly, not exactly, 95 %.
    assert 0.92 <= held / runs <= 0.98
