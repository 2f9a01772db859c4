"""Counters that are scraped now and then: values between scrapes, resets, gauges. Known answers."""

from __future__ import annotations

import pytest

from wiretrial.observers import scrapes
from wiretrial.observers.scrapes import Counter, Point

STEADY = tuple(Point(100.0 + 15 * n, 30.0 * n) for n in range(5))
"""2 a second."""


@pytest.mark.parametrize(
    ("at_s", "value"),
    [
        pytest.param(100.0, 0.0, id="the first sample"),
        pytest.param(107.5, 15.0, id="halfway"),
        pytest.param(115.0, 30.0, id="a sample"),
        pytest.param(159.0, 118.0, id="near the last one"),
        pytest.param(160.0, 120.0, id="the last sample"),
        pytest.param(99.9, None, id="before the first"),
        pytest.param(160.1, None, id="after the last"),
    ],
)
def test_a_counter_between_two_scrapes_lies_on_a_straight_line(
    at_s: float, value: float | None
) -> None:
    assert Counter.of(STEADY).at(at_s) == value


def test_a_reset_is_taken_out_and_noticed() -> None:
    counter = Counter.of([Point(0, 100), Point(10, 120), Point(20, 5), Point(30, 25)])
    assert [point.value for point in counter.points] == [100, 120, 125, 145]
    assert list(counter.resets) == [20]
    assert counter.at(25) == 135


def test_each_of_several_resets_counts() -> None:
    counter = Counter.of([Point(0, 10), Point(1, 0), Point(2, 7), Point(3, 3), Point(4, 3)])
    assert [point.value for point in counter.points] == [10, 10, 17, 20, 20]
    assert list(counter.resets) == [1, 3]


def test_of_no_sample_nothing_is_known() -> None:
    assert Counter.of([]).at(1) is None
    assert scrapes.last([], 1) is None
    assert scrapes.interval_s([]) is None
    assert scrapes.interval_s([Point(1, 1)]) is None


def test_a_gauge_is_what_it_was_last() -> None:
    points = [Point(10, 5), Point(20, 7)]
    told = [scrapes.last(points, at_s) for at_s in (9.9, 10, 19.9, 20, 500)]
    assert told == [None, 5, 5, 7, 7]


def test_the_usual_interval_is_not_that_of_a_scrape_that_was_missed() -> None:
    points = [Point(at_s, 0) for at_s in (0, 15, 30, 60, 75)]
    assert scrapes.interval_s(points) == 15
