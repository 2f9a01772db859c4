"""Known answers for the warm-up rule, on intervals of 100 ms."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from wiretrial.stats.steady import Window, find_window, stretches

TENTH = 100_000_000
SECOND = 10 * TENTH


def intervals(rates: Iterable[float]) -> list[tuple[int, int, int]]:
    return [(i * TENTH, (i + 1) * TENTH, round(rate)) for i, rate in enumerate(rates)]


def window(rates: Iterable[float], allowance: int = SECOND, duration: int = 3 * SECOND) -> Window:
    return find_window(intervals(rates), allowance, duration)


def noisy(level: float, sigma: float, n: int, seed: int = 1) -> list[float]:
    draw = random.Random(seed)
    return [level + draw.gauss(0, sigma) for _ in range(n)]


def test_constant_throughput_counts_from_the_first_interval() -> None:
    found = window([1000] * 40)
    assert (found.start_ns, found.end_ns, found.steady) == (0, 3 * SECOND, True)


@pytest.mark.parametrize("sigma", [0, 10, 30])
def test_a_step_is_cut_where_it_happens(sigma: float) -> None:
    found = window(noisy(600, sigma, 6) + noisy(1000, sigma, 34, seed=2))
    assert (found.start_ns, found.end_ns) == (6 * TENTH, 36 * TENTH)
    assert found.steady


def test_a_ramp_is_cut_where_it_ends() -> None:
    found = window([100 * i for i in range(1, 8)] + noisy(1000, 10, 33))
    assert 5 * TENTH <= found.start_ns <= SECOND
    assert found.steady


def test_drift_is_not_steady() -> None:
    found = window([1000 + 12 * i for i in range(40)])
    assert (found.start_ns, found.steady) == (SECOND, False)


def test_a_level_that_changes_after_the_allowance_is_not_steady() -> None:
    found = window([1000] * 20 + [1500] * 20)
    assert (found.start_ns, found.steady) == (SECOND, False)


def test_noise_without_a_shift_is_steady() -> None:
    steady = [window(noisy(1000, 200, 40, seed)).steady for seed in range(100)]
    assert sum(steady) >= 95


def test_one_outlier_is_no_change_of_level() -> None:
    rates = noisy(1000, 20, 40)
    rates[20] = 0
    found = window(rates)
    assert (found.start_ns, found.steady) == (0, True)


def test_a_stall_of_one_second_is_not_steady() -> None:
    rates = noisy(1000, 20, 40)
    rates[20:30] = [0] * 10
    assert not window(rates).steady


def test_regular_bursts_are_steady() -> None:
    assert window([0, 0, 0, 0, 1000] * 8).steady


def test_no_allowance_means_no_cut() -> None:
    found = window([600] * 6 + [1000] * 34, allowance=0)
    assert found.start_ns == 0


def test_too_few_intervals_cannot_tell() -> None:
    found = window([1000] * 9, allowance=2 * TENTH)
    assert (found.start_ns, found.end_ns, found.steady) == (2 * TENTH, 9 * TENTH, False)
    assert "fewer than 10 intervals" in found.rule


def test_the_window_never_ends_after_the_data() -> None:
    assert window([1000] * 20).end_ns == 20 * TENTH


def test_many_intervals_are_joined_and_the_step_is_still_found() -> None:
    found = window(noisy(500, 20, 300) + noisy(1000, 20, 2700, seed=3), allowance=60 * SECOND)
    assert found.steady
    assert abs(found.start_ns - 30 * SECOND) <= SECOND


def test_offsets_need_not_begin_at_zero() -> None:
    shifted = [(a + 7, b + 7, n) for a, b, n in intervals([600] * 6 + [1000] * 34)]
    assert find_window(shifted, SECOND, 3 * SECOND).start_ns == 6 * TENTH + 7


def test_nothing_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="no interval"):
        find_window([], SECOND, SECOND)


def test_stretches_find_two_shifts() -> None:
    values = noisy(10, 0.3, 20) + noisy(14, 0.3, 15, seed=2) + noisy(9, 0.3, 25, seed=3)
    assert stretches(values) == [(0, 20), (20, 35), (35, 60)]


def costs(spent: Iterable[float], messages: int = 200) -> list[tuple[int, int, int, int]]:
    """Readings of the server every 200 ms, the first of them late."""
    late = TENTH // 2
    return [
        (late + 2 * i * TENTH, late + 2 * (i + 1) * TENTH, round(one * messages), messages)
        for i, one in enumerate(spent)
    ]


def of_rate(spent: Iterable[float], allowance: int = 3 * SECOND) -> Window:
    """A rate that is kept exactly from the first interval on, for six seconds."""
    return find_window(intervals([1000] * 60), allowance, 3 * SECOND, costs(spent))


def test_a_given_rate_settles_when_its_messages_cost_the_same() -> None:
    falling = of_rate(noisy(90_000, 900, 8) + noisy(30_000, 300, 21, seed=2))
    # 1.65 s is where the ninth reading begins; throughput alone would begin at once.
    assert (falling.start_ns, falling.steady, falling.by_cost) == (165 * TENTH // 10, True, True)
    even = of_rate(noisy(30_000, 300, 29))
    assert (even.start_ns, even.end_ns, even.steady, even.by_cost) == (0, 3 * SECOND, True, True)


def test_a_cost_that_falls_on_and_on_is_not_steady_at_any_rate() -> None:
    drifting = of_rate([90_000 - 2000 * i for i in range(29)])
    assert (drifting.start_ns, drifting.steady, drifting.by_cost) == (3 * SECOND, False, True)


def test_noise_of_few_messages_is_no_drift() -> None:
    steady = [of_rate(noisy(30_000, 4500, 29, seed)).steady for seed in range(100)]
    assert sum(steady) >= 95


def test_too_few_readings_leave_it_to_the_throughput() -> None:
    found = of_rate([30_000] * 9)
    assert (found.steady, found.by_cost) == (True, False)
    # Stretches without a reply have no cost per message.
    idle = find_window(intervals([1000] * 60), SECOND, SECOND, costs([30_000] * 29, messages=0))
    assert not idle.by_cost
