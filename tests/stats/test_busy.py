"""How busy a rate keeps a server that pays for waking: known answers, and a queue by chance."""

from __future__ import annotations

import random

import pytest

from wiretrial.stats import busy, capacity

RATES = (300.0, 1500.0, 3000.0, 4500.0, 6000.0)
TAKES, WAKES = 90e-6, 60e-6
"""CPU seconds of a message, and those more that it takes where it finds the server idle."""


def used(rate: float, base: float = 0.0, wakes: float = WAKES) -> float:
    """CPUs that are busy by Welch's queue."""
    return (base + (TAKES + wakes) * rate) / (1 + wakes * rate)


def queue(rate: float, messages: int = 60_000) -> float:
    """The share of time in which one server is busy, with arrivals by chance."""
    chosen = random.Random(5)
    now = free = spent = 0.0
    for _ in range(messages):
        now += chosen.expovariate(rate)
        takes = chosen.expovariate(1 / TAKES) + (WAKES if now >= free else 0.0)
        free = max(now, free) + takes
        spent += takes
    return spent / free


@pytest.mark.parametrize("rate", [1000.0, 5000.0, 9000.0])
def test_a_queue_whose_idle_server_takes_longer_is_as_busy_as_the_curve_says(rate: float) -> None:
    assert queue(rate) == pytest.approx(used(rate), rel=0.01)


@pytest.mark.parametrize("base", [0.0, 0.04])
@pytest.mark.parametrize("wakes", [0.0, WAKES])
def test_levels_of_such_a_server_tell_all_three(base: float, wakes: float) -> None:
    found = busy.fit(RATES, [used(rate, base, wakes) for rate in RATES])
    assert found.base == pytest.approx(base, abs=1e-9)
    assert found.alone == pytest.approx(TAKES + wakes)
    assert found.saved == pytest.approx(wakes, abs=1e-12)
    assert found.at(8000.0) == pytest.approx(used(8000.0, base, wakes))
    assert found.cost(1.0) == pytest.approx(TAKES)


def test_its_capacity_is_where_nothing_finds_it_idle() -> None:
    found = capacity.predicted(RATES, [used(rate) for rate in RATES], 1.0)
    assert found.rate == pytest.approx(1 / TAKES)
    assert found.curve.cost(1.0) == pytest.approx(TAKES)
    # Of half a CPU's time half is idle, and as many messages pay for it.
    half = capacity.predicted(RATES, [used(rate) for rate in RATES], 0.5)
    assert half.rate == pytest.approx(0.5 / (TAKES + WAKES / 2))


def test_four_levels_tell_no_wakes_however_often_they_are_measured() -> None:
    rates = [rate * (1 + shift) for rate in RATES[1:] for shift in (-0.01, 0.0, 0.01)]
    found = busy.fit(rates, [used(rate) for rate in rates])
    assert found.saved == 0
    assert found.base > 0


def test_a_message_that_takes_more_under_load_has_no_wakes() -> None:
    dearer = [TAKES * rate * (1 + 1e-4 * rate) for rate in RATES]
    found = busy.fit(RATES, dearer)
    assert (found.base, found.saved) == (0, 0)
    assert found.degrees == len(RATES) - 1


def test_levels_that_go_down_tell_nothing() -> None:
    with pytest.raises(ValueError, match="what a message takes"):
        busy.fit(RATES, [0.5, 0.4, 0.3, 0.2, 0.1])


@pytest.mark.parametrize("base", [0.0, 0.05])
def test_intervals_hold_the_measured_as_often_as_they_say(base: float) -> None:
    chosen = random.Random(11)
    top = (1 - base) / TAKES
    rates = [share * top for share in (0.03, 0.15, 0.3, 0.45, 0.6) for _ in range(2)]
    held = 0
    for _ in range(2000):
        cpus = [used(rate, base) * (1 + chosen.gauss(0, 0.02)) for rate in rates]
        seen = top * (1 + chosen.gauss(0, 0.02))
        held += capacity.predicted(rates, cpus, 1.0).holds(seen)
    assert 0.90 <= held / 2000 <= 0.985
