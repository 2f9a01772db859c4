"""A straight line by least squares: a known slope, its coverage, and points that tell none."""

from __future__ import annotations

import random

import pytest

from wiretrial.stats import slope

X = [100.0, 100.0, 100.0, 1000.0, 2000.0]


def test_a_known_slope_comes_back() -> None:
    found = slope.fit(X, [3e7 + 2e4 * x for x in X])
    assert [found.base, found.most] == pytest.approx([3e7, 2000.0])
    assert [found.value, found.low, found.high] == pytest.approx([2e4] * 3)


def test_the_interval_covers_it_as_often_as_it_says() -> None:
    draw, covered, drawn = random.Random(3), 0, 2000
    for _ in range(drawn):
        found = slope.fit(X, [3e7 + 2e4 * x + draw.gauss(0, 1e6) for x in X])
        covered += found.low <= 2e4 <= found.high
    assert 0.935 <= covered / drawn <= 0.965


@pytest.mark.parametrize(
    ("x", "says"),
    [
        ([1.0, 2.0], "3 points at least"),
        ([10.0, 11.0, 12.0], "too close"),
        ([0.0] * 3, "too close"),
    ],
)
def test_points_that_tell_nothing_are_refused(x: list[float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        slope.fit(x, x)
    with pytest.raises(ValueError, match="each point needs its value"):
        slope.fit(x, [])
