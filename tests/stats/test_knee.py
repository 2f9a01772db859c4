"""The search for the highest sustained rate, against servers whose limit is known."""

from __future__ import annotations

import random

import pytest

from wiretrial.stats.knee import Observation, Search, backlog_growth, refusal


def run(search: Search, limit: float, blur: float = 0.0, seed: int = 1) -> list[float]:
    """The rates that were tried against a server which sustains up to `limit`."""
    draw = random.Random(seed)
    tried: list[float] = []
    while (rate := search.next_rate()) is not None:
        assert len(tried) < 60
        tried.append(rate)
        search.see(rate, rate <= limit * (1 + draw.gauss(0, blur)))
    return tried


@pytest.mark.parametrize("limit", [130.0, 1000.0, 7777.0, 300_000.0])
@pytest.mark.parametrize("first", [100.0, 5000.0])
def test_the_knee_is_found_within_its_tolerance(limit: float, first: float) -> None:
    search = Search(first=first, ceiling=1_000_000)
    tried = run(search, limit)
    assert search.low is not None
    assert search.high is not None
    assert search.low <= limit < search.high
    assert search.high / search.low <= 1.05
    assert tried[-search.agreed :] == [search.low] * 2
    assert len(tried) <= 32


def test_a_limit_that_wavers_is_confirmed_on_fresh_trials() -> None:
    near = 0
    for seed in range(200):
        search = Search(first=100, ceiling=1_000_000)
        run(search, 5000, blur=0.03, seed=seed)
        assert search.low is not None
        near += 0.88 * 5000 <= search.low <= 1.08 * 5000
    assert near >= 195


def test_a_pause_of_the_machine_does_not_keep_the_search_low() -> None:
    """One trial in twenty fails for nothing: a rate is given up by a majority only."""
    near = 0
    for seed in range(200):
        draw = random.Random(seed)
        search = Search(first=100, ceiling=1_000_000)
        while (rate := search.next_rate()) is not None:
            search.see(rate, rate <= 5000 and draw.random() > 0.05)
        assert search.low is not None
        near += 0.95 * 5000 <= search.low <= 5000
    assert near >= 185


def test_a_rate_is_refused_by_two_trials_of_three() -> None:
    search = Search(first=100, ceiling=1000)
    search.see(100, False)
    assert search.next_rate() == 100
    search.see(100, True)
    assert (search.next_rate(), search.low, search.high) == (100, None, None)
    search.see(100, True)
    assert (search.next_rate(), search.low, search.high) == (200, 100, None)
    search.see(200, False)
    search.see(200, True)
    search.see(200, False)
    assert (search.low, search.high) == (100, 200)
    assert search.next_rate() == pytest.approx(141.42, abs=0.01)


def test_a_server_that_sustains_the_ceiling_is_confirmed_there() -> None:
    search = Search(first=100, ceiling=1000)
    assert run(search, 1e9) == [100, 200, 400, 800, 1000, 1000, 1000]
    assert (search.low, search.high) == (1000, None)


def test_a_server_that_sustains_nothing_ends_the_search() -> None:
    search = Search(first=100, ceiling=1000, floor=10)
    assert run(search, 0) == [rate for rate in (100, 50, 25, 12.5, 10) for _ in range(2)]
    assert search.low is None
    assert search.high == 10


def flat(rate: float, seconds: int = 20) -> float | None:
    return backlog_growth([(float(s), rate * 0.001 + s % 2) for s in range(seconds)])


def test_a_rate_is_sustained_where_all_three_hold() -> None:
    good = Observation(1000, 999, flat(1000), 2e6)
    assert refusal(good, 5e6) is None
    assert refusal(good, None) is None
    slow = refusal(Observation(1000, 999, flat(1000), 6e6), 5e6)
    assert slow is not None
    assert slow.reason == "objective"
    assert slow.text == "the response time was 6 ms, not 5 ms"
    unknown = refusal(Observation(1000, 999, flat(1000), None), 5e6)
    assert unknown is not None
    assert unknown.reason == "objective"
    short = refusal(Observation(1000, 980, flat(1000), 2e6), 5e6)
    assert short is not None
    assert short.reason == "achieved"
    growing = backlog_growth([(float(s), 10.0 * s) for s in range(20)])
    behind = refusal(Observation(1000, 995, growing, 2e6), 5e6)
    assert behind is not None
    assert behind.reason == "backlog"


def test_growth_is_told_from_noise() -> None:
    draw = random.Random(3)
    alarms = 0
    for _ in range(500):
        walk, level = [], 0.0
        for second in range(40):
            level = 0.6 * level + draw.gauss(0, 30)
            walk.append((float(second), 100 + level))
        growth = backlog_growth(walk)
        assert growth is not None
        alarms += growth > 0
    assert alarms <= 40
    rising = [(float(s), 20.0 * s + draw.gauss(0, 30)) for s in range(40)]
    growth = backlog_growth(rising)
    assert growth is not None
    assert 15 < growth <= 20.5
    assert backlog_growth(rising[:7]) is None
