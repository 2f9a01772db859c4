"""Student's t against the printed tables."""

from __future__ import annotations

import math

import pytest

from wiretrial.stats import student


@pytest.mark.parametrize(
    ("degrees", "at_975", "at_95"),
    [
        (1, 12.7062047, 6.3137515),
        (2, 4.3026527, 2.9199856),
        (3, 3.1824463, 2.3533634),
        (4, 2.7764451, 2.1318468),
        (5, 2.5705818, 2.0150484),
        (9, 2.2621572, 1.8331129),
        (30, 2.0422725, 1.6972609),
    ],
)
def test_quantiles_are_those_of_the_tables(degrees: int, at_975: float, at_95: float) -> None:
    assert student.quantile(0.975, degrees) == pytest.approx(at_975, abs=1e-6)
    assert student.quantile(0.95, degrees) == pytest.approx(at_95, abs=1e-6)


@pytest.mark.parametrize("degrees", range(1, 12))
def test_distribution_and_quantile_are_inverse(degrees: int) -> None:
    t = student.quantile(0.9, degrees)
    assert student.survival(t, degrees) == pytest.approx(0.1, abs=1e-9)
    assert student.survival(-t, degrees) == pytest.approx(0.9, abs=1e-9)
    assert student.two_sided_p(-t, degrees) == pytest.approx(0.2, abs=1e-9)


def test_ends() -> None:
    assert student.two_sided_p(0, 4) == 1
    assert student.two_sided_p(math.inf, 4) == 0
    with pytest.raises(ValueError, match="degree"):
        student.two_sided_p(1, 0)
    with pytest.raises(ValueError, match="probability"):
        student.quantile(0.5, 4)


@pytest.mark.parametrize(("degrees", "distance"), [(4, 3.76106), (9, 3.14964), (29, 2.89875)])
def test_what_a_test_can_detect_is_as_tabled(degrees: float, distance: float) -> None:
    # Cohen's d for a power of 0.8, paired t test: 1.682 for n = 5, 0.996 for 10, 0.529 for 30.
    assert student.detectable(0.05, 0.8, degrees) == pytest.approx(distance, abs=1e-4)
