"""Drift: slopes that are known, noise that is none, and shapes that only look like one."""

from __future__ import annotations

import random

import pytest

from wiretrial.stats.drift import CONFIDENCE, drift, slope

N = 40


def series(
    rise: float, noise: float, seed: int, *, alike: float = 0.0
) -> list[tuple[float, float]]:
    """100 that rises by `rise` in all; normal noise of which neighbours have a share in common."""
    draw, points, now = random.Random(seed), [], 0.0
    for index in range(N):
        now = alike * now + (1 - alike**2) ** 0.5 * draw.gauss(0, noise)
        points.append((float(index), 100 + rise * index / (N - 1) + now))
    return points


def test_a_line_has_its_slope() -> None:
    found = slope([(x, 3 + 2.5 * x) for x in range(10)])
    assert (found.value, found.low, found.high) == (2.5, 2.5, 2.5)
    assert found.is_sure


def test_outliers_do_not_move_it() -> None:
    points = [(float(x), 5.0 * x) for x in range(N)]
    points[7], points[20] = (7.0, 1e6), (20.0, -1e6)
    assert slope(points).value == pytest.approx(5.0)


@pytest.mark.parametrize("alike", [0.0, 0.5])
def test_the_interval_holds_the_slope_as_often_as_it_says(alike: float) -> None:
    rise, runs = 20.0, 400
    held = 0
    for seed in range(runs):
        found = slope(series(rise, 4, seed, alike=alike))
        held += found.low <= rise / (N - 1) <= found.high
    # The first autocorrelation is taken from few points: a little below is what it comes to.
    assert held / runs >= CONFIDENCE - 0.05


@pytest.mark.parametrize("rise", [30.0, -30.0])
def test_what_rises_or_falls_throughout_drifts(rise: float) -> None:
    found = [drift(series(rise, 3, seed)) for seed in range(100)]
    told = [one for one in found if one is not None]
    assert len(told) >= 95
    assert all(one.low * rise > 0 and one.high * rise > 0 for one in told)
    assert sum(one.low <= rise / (N - 1) <= one.high for one in told) >= 93


@pytest.mark.parametrize("alike", [0.0, 0.6])
def test_noise_does_not_drift(alike: float) -> None:
    told = sum(drift(series(0, 10, seed, alike=alike)) is not None for seed in range(200))
    assert told <= 6


def test_what_is_too_little_is_not_told() -> None:
    assert drift(series(3, 0.01, 1)) is None
    assert drift(series(8, 0.01, 1)) is not None


@pytest.mark.parametrize(
    "shape",
    [
        lambda x: 100 if x < N / 2 else 140,
        lambda x: min(100 + 4 * x, 140),
        lambda x: 100 + 40 * (x >= N - 8),
        lambda x: 100 + abs(x - N / 2),
    ],
    ids=["step", "fills", "late step", "valley"],
)
def test_other_shapes_are_no_drift(shape: object) -> None:
    assert callable(shape)
    draw = random.Random(5)
    points = [(float(x), shape(x) + draw.gauss(0, 0.5)) for x in range(N)]
    assert drift(points) is None


def test_few_points_tell_nothing() -> None:
    assert drift([(float(x), 10.0 * x) for x in range(15)]) is None
    with pytest.raises(ValueError, match="two points"):
        slope([(0.0, 1.0)])
