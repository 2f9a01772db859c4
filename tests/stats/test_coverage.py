"""How often an interval of 95 % holds the truth when the data are not what theory likes.

Three kinds of trials that servers really show: skewed (some are slow, none is fast), drifting
(the machine warms up while the study runs), in two modes (a process lands on a good or a bad
layout of memory).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from wiretrial.stats.compare import compare
from wiretrial.stats.summary import summarise

SUITES = 3000
RATIO = 1.1

Noise = Callable[[random.Random, float], float]
"""The logarithm of one trial's disturbance; the number is how far the study has got, 0 to 1."""


def skewed(draw: random.Random, _progress: float) -> float:
    return -draw.expovariate(1 / 0.05)


def drifting(draw: random.Random, progress: float) -> float:
    return 0.10 * progress + draw.gauss(0, 0.02)


def in_two_modes(draw: random.Random, _progress: float) -> float:
    return (0.0 if draw.random() < 0.7 else -0.15) + draw.gauss(0, 0.01)


@pytest.mark.parametrize("noise", [skewed, drifting, in_two_modes])
@pytest.mark.parametrize("blocks", [5, 10])
def test_the_interval_of_a_ratio(noise: Noise, blocks: int) -> None:
    """A and B drawn alike in each block, A a tenth more: what they share cancels."""
    draw, held = random.Random(blocks), 0
    for _ in range(SUITES):
        progress = [block / (blocks - 1) for block in range(blocks)]
        a = [RATIO * math.exp(noise(draw, p)) for p in progress]
        b = [math.exp(noise(draw, p)) for p in progress]
        found = compare(a, b)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= RATIO <= found.high
    assert 0.935 <= held / SUITES <= 0.99


@pytest.mark.parametrize(
    ("noise", "middle"),
    [(skewed, -0.05 * math.log(2)), (in_two_modes, -0.00566)],
)
@pytest.mark.parametrize(("trials", "least"), [(5, 0.85), (6, 0.935), (10, 0.935)])
def test_the_interval_of_a_median(noise: Noise, middle: float, trials: int, least: float) -> None:
    """Six trials and more promise 95 % for any shape; five and fewer assume one, and lose some."""
    draw, held = random.Random(trials), 0
    for _ in range(SUITES):
        found = summarise([math.exp(noise(draw, 0)) for _ in range(trials)])
        assert found.low is not None
        assert found.high is not None
        held += found.low <= math.exp(middle) <= found.high
    assert held / SUITES >= least
