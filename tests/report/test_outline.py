"""Outlines of distributions: fewer places, the same quantiles."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from tests.report.synthetic import demo_trials
from wiretrial.report import coarse, curves, merged, outlined
from wiretrial.report.measures import Measured
from wiretrial.results import hdr, outline
from wiretrial.results.hdr import HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS, Hdr

TIMES = st.lists(
    st.tuples(st.integers(1, 10_000_000_000), st.integers(1, 100_000)), min_size=1, max_size=60
)
SHARES = (0.0, *outlined.FIGURES, 1.0)


def histogram(values: Sequence[tuple[int, int]]) -> Hdr:
    made = HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
    for value, count in values:
        made.record_value(value, count)
    return Hdr(made)


@given(TIMES)
def test_an_outline_has_the_same_count_quantiles_and_mean(values: list[tuple[int, int]]) -> None:
    whole = histogram(values)
    drawn = outline.of(whole, outline.marks(whole, outlined.FIGURES))
    assert (drawn.count, drawn.min, drawn.max) == (whole.count, whole.min, whole.max)
    assert [drawn.quantile(q) for q in SHARES] == [whole.quantile(q) for q in SHARES]
    assert drawn.mean == pytest.approx(whole.mean, rel=0.002)
    assert len(drawn.values) <= 2 * len(SHARES)


@given(TIMES, TIMES)
def test_outlines_with_the_marks_of_their_sum_add_up_to_its_quantiles(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    parts = [histogram(first), histogram(second)]
    whole = hdr.merge(part.text for part in parts)
    kept = outline.marks(whole, outlined.FIGURES)
    again = hdr.merge(outline.of(part, kept).text for part in parts)
    assert [again.quantile(q) for q in SHARES] == [whole.quantile(q) for q in SHARES]


def test_the_outline_of_nothing_is_nothing() -> None:
    nothing = histogram(())
    assert outline.of(nothing, outline.marks(nothing, outlined.FIGURES)).count == 0


@pytest.mark.parametrize("shares", [outlined.PICTURES, outlined.FIGURES])
def test_an_outlined_trial_gives_the_same_figures(shares: Sequence[float]) -> None:
    for trial in demo_trials(blocks=1):
        small = coarse.of(merged.of(trial), 1)
        before, after = Measured(small), Measured(outlined.of(small, shares))
        for q in outlined.FIGURES:
            assert after.waiting_time.quantile(q) == before.waiting_time.quantile(q)
        assert after.waiting_time.count == before.waiting_time.count
        assert after.throughput == before.throughput


def test_a_picture_of_quantiles_stays_as_it_was() -> None:
    trials = [coarse.of(merged.of(trial), 1) for trial in demo_trials(blocks=1)]
    drawn = [outlined.of(trial, outlined.PICTURES) for trial in trials]
    assert [curves.curve([Measured(one)]) for one in drawn] == [
        curves.curve([Measured(one)]) for one in trials
    ]
