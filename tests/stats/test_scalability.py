"""The Universal Scalability Law, from curves whose coefficients are known."""

from __future__ import annotations

import math
import random

import pytest

from wiretrial.stats.scalability import fit

LEVELS = [1, 2, 4, 8, 16, 32, 64]


def curve(unit: float, contention: float, coherency: float) -> list[float]:
    """The law itself."""
    return [
        unit * n / (1 + contention * (n - 1) + coherency * n * (n - 1)) for n in map(float, LEVELS)
    ]


def test_an_exact_curve_gives_its_coefficients_back() -> None:
    found = fit(LEVELS, curve(1000, 0.03, 0.0005))
    assert found.unit.value == pytest.approx(1000, rel=1e-4)
    assert found.contention.value == pytest.approx(0.03, rel=1e-3)
    assert found.coherency.value == pytest.approx(0.0005, rel=1e-3)
    assert found.peak == pytest.approx(math.sqrt(0.97 / 0.0005), rel=1e-3)
    assert found.predict(100) == pytest.approx(1000 * 100 / (1 + 2.97 + 4.95), rel=1e-3)


def test_a_line_has_no_peak() -> None:
    found = fit(LEVELS, curve(1000, 0, 0))
    assert found.peak is None
    assert found.contention.value == pytest.approx(0, abs=1e-5)
    assert found.coherency.value == pytest.approx(0, abs=1e-7)


def test_amdahls_curve_is_the_law_without_coherency() -> None:
    found = fit(LEVELS, curve(10, 0.1, 0))
    assert found.contention.value == pytest.approx(0.1, rel=1e-2)
    assert found.peak is None


def test_intervals_hold_the_truth_mostly() -> None:
    draw, suites, held = random.Random(5), 200, 0
    for _ in range(suites):
        noisy = [x * math.exp(draw.gauss(0, 0.03)) for x in curve(1000, 0.05, 0.001)]
        found = fit(LEVELS, noisy)
        held += found.contention.low <= 0.05 <= found.contention.high
    assert held / suites >= 0.9


def test_too_few_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 6 levels"):
        fit([1, 2, 4, 8, 16, 16], [1, 2, 3, 4, 5, 5])
    with pytest.raises(ValueError, match="positive"):
        fit(LEVELS, [0.0] * len(LEVELS))
