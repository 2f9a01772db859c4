"""Histograms as the engine sends them: range 1 ns to 1 h, three significant digits."""

from __future__ import annotations

import math
from random import Random

import pytest
from hdrh.histogram import HdrHistogram

from wiretrial.results import hdr

HOUR = 3_600_000_000_000


def encoded(values: dict[int, int]) -> str:
    histogram = HdrHistogram(1, HOUR, 3)
    for value, count in values.items():
        histogram.record_value(value, count)
    return str(histogram.encode().decode("ascii"))


def test_the_whole_range_survives() -> None:
    found = hdr.decode(encoded({1: 1, 1_000: 1, 1_000_000: 1, HOUR: 1}))
    assert found.count == 4
    assert found.min == 1
    assert found.max == pytest.approx(HOUR, rel=1e-3)
    assert found.quantile(0.5) == 1_000
    assert found.quantile(0.75) == pytest.approx(1_000_000, rel=1e-3)


@pytest.mark.parametrize("n", [1, 2, 14, 16, 999, 1000, 1001])
@pytest.mark.parametrize("q", [0.0, 0.5, 0.9, 0.99, 0.999, 1.0])
def test_quantiles_are_exact_ranks(n: int, q: float) -> None:
    found = hdr.decode(encoded(dict.fromkeys(range(1, n + 1), 1)))
    wanted = max(1, math.ceil(round(q * n, 9)))
    assert found.quantile(q) == wanted


@pytest.mark.parametrize("seed", range(5))
def test_values_and_mean_are_those_of_the_library(seed: int) -> None:
    random = Random(seed)
    recorded = {round(math.exp(random.uniform(0, math.log(HOUR)))): seed + 1 for _ in range(300)}
    recorded |= dict.fromkeys((1, 1023, 1024, 2047, 2048, 2049, HOUR), 1)
    text = encoded(recorded)
    library, found = HdrHistogram.decode(text), hdr.decode(text)
    own = {
        item.value_iterated_to: item.count_added_in_this_iter_step
        for item in library.get_recorded_iterator()
    }
    assert dict(found.values) == own
    assert found.mean == pytest.approx(library.get_mean_value(), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        ({}, ""),
        ({1: 1}, "1"),
        ({1: 5, 3: 1, 2047: 2}, "1:5 2 2044:2"),
        # From 2,048 ns on a place is two wide.
        ({2048: 1, 2049: 1, 2050: 3}, "2048:2 1:3"),
    ],
)
def test_a_histogram_is_said_in_steps(values: dict[int, int], steps: str) -> None:
    assert hdr.decode(encoded(values)).steps == steps
    assert hdr.of_steps(steps).values == hdr.decode(encoded(values)).values


@pytest.mark.parametrize("seed", range(5))
def test_steps_lose_nothing(seed: int) -> None:
    random = Random(seed)
    recorded = {
        round(math.exp(random.uniform(0, math.log(HOUR)))): random.randint(1, 10**9)
        for _ in range(300)
    }
    found = hdr.decode(encoded(recorded | {HOUR: 1}))
    again = hdr.of_steps(found.steps)
    assert again.values == found.values
    assert again.text == found.text


@pytest.mark.parametrize(
    "steps", ["x", "1:", "1:x", "-1", "1.5", "1 2:3:4", "40000", "1 HISTF", "1:" + "9" * 19]
)
def test_what_is_no_step_is_refused(steps: str) -> None:
    with pytest.raises(hdr.HistogramError):
        hdr.of_steps(steps)


def test_merge_adds() -> None:
    found = hdr.merge([encoded({100: 3}), encoded({200: 1})])
    assert (found.count, found.min, found.max) == (4, 100, 200)
    assert found.mean == pytest.approx(125)
    assert found.share_between(150, 250) == 0.25


def test_a_histogram_of_another_range_is_added_as_the_library_does() -> None:
    random = Random(7)
    minute = HdrHistogram(1, HOUR // 60, 3)
    for _ in range(300):
        minute.record_value(round(math.exp(random.uniform(0, math.log(HOUR // 60)))), 3)
    texts = (encoded({100: 3}), minute.encode().decode("ascii"))
    library, found = HdrHistogram(1, HOUR, 3), hdr.merge(texts)
    for text in texts:
        library.decode_and_add(text)
    assert found.text == library.encode().decode("ascii")
    assert (found.count, found.min, found.max) == (
        library.get_total_count(),
        library.get_min_value(),
        library.get_max_value(),
    )
    with pytest.raises(hdr.HistogramError, match="HdrHistogram V2"):
        hdr.merge([encoded_beyond()])


def encoded_beyond() -> str:
    """One with a value that no histogram of the engine has room for."""
    histogram = HdrHistogram(1, 1000 * HOUR, 3)
    histogram.record_value(500 * HOUR)
    return str(histogram.encode().decode("ascii"))


def test_nothing_is_an_empty_histogram() -> None:
    found = hdr.merge([])
    assert (found.count, found.min, found.mean, found.quantile(0.5), found.max) == (0, 0, 0, 0, 0)
    assert found.share_between(0, HOUR) == 0


@pytest.mark.parametrize("text", ["", "no", "AAAA", "!!", "HISTFAAAAC8p4nA=", encoded({5: 1})[:-9]])
def test_garbage_is_one_typed_error(text: str) -> None:
    with pytest.raises(hdr.HistogramError, match="HdrHistogram V2"):
        hdr.decode(text)


def test_a_quantile_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        hdr.merge([]).quantile(99)
