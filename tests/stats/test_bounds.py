"""Bounds: which kind a ratio has, and what each kind can tell of a claim, as truth tables."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from wiretrial.stats.bounds import SIGNS, Bound, Place, Range, interval, inverse, ratio
from wiretrial.stats.compare import compare
from wiretrial.stats.summary import summarise

EXACT, LEAST, MOST, UNKNOWN = get_args(Bound)


@pytest.mark.parametrize(
    ("top", "bottom", "expected"),
    [
        (EXACT, EXACT, EXACT),
        (LEAST, EXACT, LEAST),
        (MOST, EXACT, MOST),
        (EXACT, LEAST, MOST),
        (EXACT, MOST, LEAST),
        (LEAST, MOST, LEAST),
        (MOST, LEAST, MOST),
        (LEAST, LEAST, UNKNOWN),
        (MOST, MOST, UNKNOWN),
        (UNKNOWN, EXACT, UNKNOWN),
        (EXACT, UNKNOWN, UNKNOWN),
        (UNKNOWN, UNKNOWN, UNKNOWN),
        (UNKNOWN, LEAST, UNKNOWN),
        (MOST, UNKNOWN, UNKNOWN),
    ],
)
def test_the_bound_of_a_ratio(top: Bound, bottom: Bound, expected: Bound) -> None:
    assert ratio(top, bottom) == expected
    assert ratio(bottom, top) == inverse(expected)


@pytest.mark.parametrize(
    ("bound", "below", "within", "above"),
    [
        # The figure (2.0 to 2.1) lies below what is claimed, within it, above it.
        (EXACT, "outside", "inside", "outside"),
        (LEAST, "neither", "neither", "outside"),
        (MOST, "outside", "neither", "neither"),
        (UNKNOWN, "neither", "neither", "neither"),
    ],
)
def test_what_a_bound_tells_of_a_claimed_range(
    bound: Bound, below: Place, within: Place, above: Place
) -> None:
    found = Range(2.0, 2.1).opened(bound)
    assert found.against(Range(4.0, 5.0)) == below
    assert found.against(Range(1.6, 2.5)) == within
    assert found.against(Range(0.8, 1.25)) == above


@pytest.mark.parametrize(
    ("bound", "greater", "smaller"),
    [
        # A claimed ceiling that is greater than the figure, and one that is smaller.
        (EXACT, "inside", "outside"),
        (LEAST, "neither", "outside"),
        (MOST, "inside", "neither"),
        (UNKNOWN, "neither", "neither"),
    ],
)
def test_what_a_bound_tells_of_a_claimed_ceiling(
    bound: Bound, greater: Place, smaller: Place
) -> None:
    found = Range(2.0, 2.1).opened(bound)
    assert found.against(Range(high=4.0)) == greater
    assert found.against(Range(high=1.0)) == smaller


@pytest.mark.parametrize(
    ("bound", "greater", "smaller"),
    [
        # A claimed floor ("at least N"): a lower bound supports a smaller one.
        (EXACT, "outside", "inside"),
        (LEAST, "neither", "inside"),
        (MOST, "outside", "neither"),
        (UNKNOWN, "neither", "neither"),
    ],
)
def test_what_a_bound_tells_of_a_claimed_floor(
    bound: Bound, greater: Place, smaller: Place
) -> None:
    found = Range(2.0, 2.1).opened(bound)
    assert found.against(Range(low=4.0)) == greater
    assert found.against(Range(low=1.0)) == smaller


def test_an_interval_that_sticks_out_of_the_claim_tells_nothing() -> None:
    assert Range(1.5, 3.0).against(Range(1.6, 2.5)) == "neither"
    assert Range(1.0, 1.7).against(Range(1.6, 2.5)) == "neither"


def test_a_bound_has_no_interval_beside_it() -> None:
    """Its upper end would say that the true figure lies below it."""
    assert interval(1.9, 2.1, EXACT) == (1.9, 2.1)
    for bound in (LEAST, MOST, UNKNOWN):
        assert interval(1.9, 2.1, bound) is None
        assert replace(summarise([1.0, 2.0, 3.0]), bound=bound).interval is None
        assert replace(compare([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]), bound=bound).interval is None
    assert interval(None, None, EXACT) is None


def test_each_bound_has_a_sign_of_its_own() -> None:
    assert len(set(SIGNS.values())) == len(get_args(Bound))
