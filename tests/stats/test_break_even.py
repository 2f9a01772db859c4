"""The break-even of two ways of talking, and what is said where there is none."""

from __future__ import annotations

import math
import random

import pytest

from wiretrial.stats.break_even import Cost, find, means


def blocks(setup: float, message: float, noise: float, seed: int, n: int = 8) -> list[Cost]:
    """One way of talking in `n` blocks."""
    draw = random.Random(seed)
    return [
        Cost(setup * (1 + draw.gauss(0, noise)), message * (1 + draw.gauss(0, noise)))
        for _ in range(n)
    ]


def test_the_break_even_is_where_both_cost_the_same() -> None:
    found = find(blocks(100, 10, 0, 1), blocks(400, 4, 0, 2))
    assert found.outcome == "break-even"
    assert found.messages == pytest.approx(50)
    assert found.low == pytest.approx(50)
    assert found.high == pytest.approx(50)


def test_fiellers_interval_has_the_known_answer() -> None:
    """By hand: means 6 and 3, variances of the means 1/3 and 1/3, covariance 0, t(2) = 4.3027."""
    a = [Cost(0, 4), Cost(0, 3), Cost(0, 2)]
    b = [Cost(6, 0), Cost(5, 0), Cost(7, 0)]
    # Numerators 6, 5, 7; denominators 4, 3, 2: covariance -1/2 over three blocks is -1/6.
    t2 = 4.302652729911275**2
    p, q, r = 9 - t2 / 3, 18 + t2 / 6, 36 - t2 / 3
    root = math.sqrt(q * q - p * r)
    found = find(a, b)
    assert found.low == pytest.approx(max((q - root) / p, 0))
    assert found.high == pytest.approx((q + root) / p)


def test_each_occasion_is_one_value() -> None:
    # Both sides together cost 6 per message each day, so that each day's unit is the same.
    a = [Cost(0, (6 + saved) / 2) for saved in (4, 3, 2)]
    b = [Cost(dearer, (6 - saved) / 2) for dearer, saved in ((6, 4), (5, 3), (7, 2))]
    # Two blocks a day on each side of the day's mean: nothing else may count.
    twice = [Cost(x.setup, x.message + off) for x in a for off in (-0.5, 0.5)]
    both = [Cost(x.setup + off, x.message) for x in b for off in (1, -1)]
    days, alone = find(twice, both, occasions=[1, 1, 2, 2, 3, 3]), find(a, b)
    assert days.outcome == alone.outcome == "break-even"
    told = (days.messages, days.low, days.high)
    assert told == pytest.approx((alone.messages, alone.low, alone.high))
    assert find(twice, both) != days


def test_a_slower_machine_is_no_scatter() -> None:
    a = [Cost(0, (6 + saved) / 2) for saved in (4, 3, 2)]
    b = [Cost(dearer, (6 - saved) / 2) for dearer, saved in ((6, 4), (5, 3), (7, 2))]
    speeds = (1.0, 3.0, 0.5)
    slower = [
        [Cost(x.setup * s, x.message * s) for x, s in zip(side, speeds, strict=True)]
        for side in (a, b)
    ]
    found, alone = find(*slower, occasions=[1, 2, 3]), find(a, b)
    assert found.outcome == "break-even"
    assert (found.messages, found.low, found.high) == pytest.approx(
        (alone.messages, alone.low, alone.high)
    )


def test_lines_of_the_mean_costs_cross_at_the_break_even() -> None:
    # Three machines, of which the second is half and the third twice as fast.
    a = [Cost(1, 10.0), Cost(2, 20.4), Cost(0.5, 4.9)]
    b = [Cost(31, 4.0), Cost(61, 8.1), Cost(15.4, 2.0)]
    one, other = means(a, b, occasions=[1, 2, 3])
    crossing = (other.setup - one.setup) / (one.message - other.message)
    assert crossing == pytest.approx(find(a, b, occasions=[1, 2, 3]).messages)
    # In the middle of the machines.
    assert one.message == pytest.approx(10, rel=0.01)
    assert means(a, b) == (Cost(3.5 / 3, 35.3 / 3), Cost(107.4 / 3, 14.1 / 3))


def test_the_interval_over_occasions_holds_the_truth_in_about_95_percent() -> None:
    """Machines of speeds that differ by a factor of up to three."""
    suites, held = 2000, 0
    draw = random.Random(5)
    for seed in range(suites):
        speeds = [draw.uniform(1, 3) for _ in range(3)]
        sides = [
            [Cost(x.setup * s, x.message * s) for x, s in zip(side, speeds, strict=True)]
            for side in (
                blocks(100, 10, 0.03, 2 * seed, n=3),
                blocks(400, 4, 0.03, 2 * seed + 1, n=3),
            )
        ]
        found = find(*sides, occasions=[1, 2, 3])
        held += found.low is not None and found.high is not None and found.low <= 50 <= found.high
    assert 0.935 <= held / suites <= 0.965


def test_the_interval_holds_the_truth_in_about_95_percent() -> None:
    suites = 2000
    held = 0
    for seed in range(suites):
        found = find(blocks(100, 10, 0.05, 2 * seed), blocks(400, 4, 0.05, 2 * seed + 1))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 50 <= found.high
    assert 0.935 <= held / suites <= 0.965


def test_one_way_that_is_never_dearer_has_no_break_even() -> None:
    assert find(blocks(100, 10, 0, 1), blocks(50, 4, 0, 2)).outcome == "always B"
    assert find(blocks(50, 4, 0, 1), blocks(100, 10, 0, 2)).outcome == "always A"


def test_whoever_is_cheaper_at_first_only_is_so_until_then() -> None:
    found = find(blocks(400, 4, 0, 1), blocks(100, 10, 0, 2))
    assert found.outcome == "until"
    assert found.messages == pytest.approx(50)


@pytest.mark.parametrize("saved", [0.1, -0.1])
def test_what_scatters_around_nothing_is_neither_always_nor_never(saved: float) -> None:
    """A means: set-ups that scatter likewise, and messages that differ by less than they do."""
    a = [Cost(100.0 + off, 10.0 + off / 10) for off in (-3, 2, -1, 4, -2)]
    b = [Cost(100.0 - off - saved, 10.0 - saved / 100) for off in (2, -3, 1, -2, 2)]
    assert find(a, b).outcome == "cannot be told"


def test_a_cheaper_set_up_alone_is_not_always_cheaper() -> None:
    """The set-up is cheaper for sure; that a message is, too, is chance: a long life may lose."""
    a = [Cost(400.0 + off, 10.0 + off / 10) for off in (-3, 2, -1, 4, -2)]
    b = [Cost(100.0 - off, 9.99 - off / 20) for off in (2, -3, 1, -2, 2)]
    assert find(a, b).outcome == "cannot be told"
    # Where a message costs the same to the byte, nothing can be lost.
    same = [Cost(one.setup, 10.0) for one in a], [Cost(one.setup, 10.0) for one in b]
    assert find(*same).outcome == "always B"


def test_two_rays_are_no_interval() -> None:
    """A set-up that is dearer for sure, and a saving that may be none: Fieller's set excludes.

    By hand: means 300 and 0.1; the saving's standard error is about 0.2, so that the set is all
    numbers outside of two ends of different signs. Its upper ray alone would say "more than".
    """
    a = [Cost(100, 10.0), Cost(101, 10.4), Cost(99, 9.5), Cost(100, 10.2)]
    b = [Cost(400, 10.1), Cost(402, 9.9), Cost(398, 10.0), Cost(401, 10.0)]
    found = find(a, b)
    assert (found.outcome, found.messages) == ("cannot be told", None)
    assert (found.low, found.high) == (None, None)


def test_a_set_that_is_everything_is_no_interval() -> None:
    a = [Cost(100, 10.3), Cost(120, 9.9), Cost(80, 10.0)]
    b = [Cost(110, 9.9), Cost(90, 10.0), Cost(115, 10.2)]
    assert find(a, b).outcome == "cannot be told"


def test_an_estimate_lies_in_its_interval_whatever_the_noise() -> None:
    told = 0
    for seed in range(500):
        found = find(blocks(100, 10, 0.3, 2 * seed), blocks(400, 4, 0.3, 2 * seed + 1))
        if found.messages is None:
            assert found.outcome in ("cannot be told", "always A", "always B")
            continue
        told += 1
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.messages <= found.high < math.inf
    assert told > 100


def test_too_little_is_refused() -> None:
    with pytest.raises(ValueError, match="two blocks"):
        find([Cost(1, 1)], [Cost(2, 2)])
    with pytest.raises(ValueError, match="equal numbers"):
        find([Cost(1, 1)], [])
