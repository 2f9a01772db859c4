"""Another host's clock on ours: the truth always lies within the error that is told."""

from __future__ import annotations

import random

from wiretrial.observers import clock
from wiretrial.observers.clock import Question

MS = 1_000_000


def asked(at_ns: int, there: int, back: int, offset_ns: int, drift: float = 0.0) -> Question:
    """A question that took so long each way; the other clock is `offset_ns` behind ours."""
    told = at_ns + there
    return Question(at_ns, round(told * (1 + drift)) - offset_ns, at_ns + there + back)


def test_no_question_lays_no_clock() -> None:
    assert clock.laid([]) is None


def test_equal_ways_give_the_offset_exactly() -> None:
    found = clock.laid([asked(1000, 50, 50, 7_000_000)])
    assert found is not None
    assert found.error_ns == 50
    assert found.ours(1050 - 7_000_000) == 1050


def test_the_shortest_round_trip_decides() -> None:
    questions = [asked(0, 9 * MS, MS, 5), asked(10, 40, 40, 5), asked(20, MS, 9 * MS, 5)]
    found = clock.laid(questions)
    assert found is not None
    assert found.first.error_ns == 40


def test_the_truth_lies_within_the_error() -> None:
    draw = random.Random(5)
    for _ in range(200):
        offset = draw.randrange(-(10**12), 10**12)
        ways = [(draw.randrange(1, 3 * MS), draw.randrange(1, 3 * MS)) for _ in range(8)]
        starts = [index * 50 * MS for index in range(4)]
        starts += [10**10 + index * 50 * MS for index in range(4)]
        found = clock.laid([asked(at, *way, offset) for at, way in zip(starts, ways, strict=True)])
        assert found is not None
        for ours in range(0, 10**10, 10**9):
            assert abs(found.ours(ours - offset) - ours) <= found.error_ns + 1


def test_a_clock_that_drifts_is_followed() -> None:
    # 100 ppm over 100 s are 10 ms; the questions themselves are exact.
    questions = [asked(at, 10, 10, 0, drift=1e-4) for at in (0, 100_000 * MS)]
    found = clock.laid(questions)
    assert found is not None
    there = round(50_000 * MS * (1 + 1e-4))
    assert abs(found.ours(there) - 50_000 * MS) < 1000
    # Beyond both questions the nearer offset holds.
    assert found.ours(found.first.told_ns - 5) == found.first.told_ns - 5 + found.first.offset_ns
