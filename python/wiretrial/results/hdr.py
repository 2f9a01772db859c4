"""Histograms as the engine sends them: HdrHistogram V2, compressed, base64.

Knows the encoding and how to read quantiles; must not know what was measured. Values are
nanoseconds with three significant digits.
"""

from __future__ import annotations

import binascii
import math
import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from hdrh.codec import (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
)
from hdrh.histogram import HdrHistogram

LOWEST_NS = 1
HIGHEST_NS = 3_600_000_000_000
SIGNIFICANT_DIGITS = 3
_STEP = re.compile(r"(\d{1,9})(?::(\d{1,18}))?", re.ASCII)


class HistogramError(ValueError):
    """The text is no HdrHistogram V2 payload. Read the record again, or measure again."""


class Hdr:
    """One distribution of times in nanoseconds."""

    def __init__(self, histogram: HdrHistogram) -> None:
        self._histogram = histogram

    @property
    def text(self) -> str:
        """The histogram as the engine would send it."""
        return str(self._histogram.encode().decode("ascii"))

    @property
    def steps(self) -> str:
        """The places that hold something, each as its distance from the one before, with what it
        holds behind a colon where that is not 1: `8026 3388:1727 1032:2`.

        Places are counted from 0, in a histogram from `LOWEST_NS` to `HIGHEST_NS` with
        `SIGNIFICANT_DIGITS`. A packer finds more that repeats in them than in a packed text.
        """
        places, counts = self._recorded
        far = np.diff(places, prepend=0).tolist()
        told = zip(far, counts, strict=True)
        return " ".join(f"{step}" if count == 1 else f"{step}:{count}" for step, count in told)

    @property
    def count(self) -> int:
        """Number of values."""
        return int(self._histogram.get_total_count())

    @property
    def min(self) -> int:
        """Least value, 0 if there is none."""
        return int(self._histogram.get_min_value()) if self.count else 0

    @property
    def max(self) -> int:
        """Greatest value, 0 if there is none."""
        return int(self._histogram.get_max_value()) if self.count else 0

    @property
    def mean(self) -> float:
        """Mean value, 0 if there is none; each place counts with its middle, as in the library."""
        places, counts = self._recorded
        middles = _places(self._histogram).middle[places].tolist()
        whole = sum(value * count for value, count in zip(middles, counts, strict=True))
        return whole / self.count if self.count else 0.0

    def quantile(self, q: float) -> int:
        """The least value that at least the share `q` (0..1) of all values does not exceed.

        Counted exactly, with `q` as the decimal that was written: the library rounds the count
        to the nearest, which can name a value that fewer than the share `q` do not exceed.
        """
        if not 0 <= q <= 1:
            raise ValueError(f"a quantile lies between 0 and 1, not at {q}")
        if not self.count:
            return 0
        wanted = max(1, math.ceil(_share(q) * self.count))
        return self.values[bisect_left(self._cumulative, wanted)][0]

    @cached_property
    def values(self) -> tuple[tuple[int, int], ...]:
        """Each recorded value with its count, in rising order."""
        places, counts = self._recorded
        return tuple(zip(_places(self._histogram).highest[places].tolist(), counts, strict=True))

    def share_between(self, low_ns: float, high_ns: float) -> float:
        """Share of the values in `low_ns` .. `high_ns`, 0 if there is none."""
        if not self.count:
            return 0.0
        return sum(n for value, n in self.values if low_ns <= value <= high_ns) / self.count

    @cached_property
    def _recorded(self) -> tuple[npt.NDArray[np.intp], list[int]]:
        """The places that hold something, and what they hold."""
        # The library's own iterator walks tens of thousands of empty places one call at a time.
        counts = _counts(self._histogram)
        places = np.flatnonzero(counts)
        return places, counts[places].tolist()

    @cached_property
    def _cumulative(self) -> list[int]:
        return list(accumulate(n for _, n in self.values))


@lru_cache(maxsize=256)
def _share(q: float) -> Fraction:
    """The decimal that was written. Few are asked for, each of many histograms."""
    return Fraction(str(q))


class _Places(NamedTuple):
    """Of each place of a histogram the highest value that falls into it, and the middle one."""

    highest: npt.NDArray[np.int64]
    middle: npt.NDArray[np.int64]


def _places(histogram: HdrHistogram) -> _Places:
    return _places_of(
        histogram.counts_len, histogram.sub_bucket_half_count_magnitude, histogram.unit_magnitude
    )


@lru_cache(maxsize=8)
def _places_of(length: int, half_magnitude: int, unit_magnitude: int) -> _Places:
    """The first bucket has twice as many places as the others, each of one unit; from one bucket to
    the next a place is twice as wide (HdrHistogram's own layout)."""
    half = 1 << half_magnitude
    place = np.arange(length)
    bucket = np.maximum((place >> half_magnitude) - 1, 0)
    within = np.where(place < 2 * half, place, (place & (half - 1)) + half)
    width = np.int64(1) << (bucket + unit_magnitude)
    lowest = within * width
    return _Places(highest=lowest + width - 1, middle=lowest + (width >> 1))


def decode(text: str) -> Hdr:
    """The histogram in `text`; raises `HistogramError` where there is none."""
    return merge((text,))


def of_steps(text: str) -> Hdr:
    """The histogram that has these `steps`; raises `HistogramError` where they are none."""
    told = _new()
    first = place = total = 0
    for at, one in enumerate(text.split()):
        found = _STEP.fullmatch(one)
        if found is None:
            raise HistogramError(f"not a step of a histogram: {one}")
        place += int(found[1])
        if place >= told.counts_len:
            raise HistogramError(f"a histogram has no place {place:,}")
        count = int(found[2] or 1)
        first, total = (first if at else place), total + count
        # `record_value` would look for the place of the value again: a study has a million of them.
        told.counts[place] += count
    if total:
        told.set_internal_tacking_values(first, place, total)
    return Hdr(told)


def merge(texts: Iterable[str]) -> Hdr:
    """The sum of all histograms in `texts`; empty if there are none."""
    parts = tuple(texts)
    if not parts:
        return _nothing()
    try:
        first = HdrHistogram.decode(parts[0])
        if len(parts) == 1 and _is_ours(first):
            return Hdr(first)
        total = _new()
        _add(total, first)
        for text in parts[1:]:
            _add(total, HdrHistogram.decode(text))
    except (
        binascii.Error,
        zlib.error,
        IndexError,
        TypeError,
        ValueError,
        HdrCookieException,
        HdrHistogramSettingsException,
        HdrLengthException,
    ) as error:
        raise HistogramError(f"not an HdrHistogram V2 payload: {error}") from error
    return Hdr(total)


@cache
def _nothing() -> Hdr:
    """The empty one: most trials have no value of most times."""
    return Hdr(_new())


def _new() -> HdrHistogram:
    return HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)


def _is_ours(histogram: HdrHistogram) -> bool:
    """Whether it has the range and the digits of those of the engine."""
    return (
        histogram.lowest_trackable_value,
        histogram.highest_trackable_value,
        histogram.significant_figures,
    ) == (LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)


def _counts(histogram: HdrHistogram) -> npt.NDArray[np.uint64]:
    """What its places hold: its own memory, no copy."""
    return np.frombuffer(histogram.counts, dtype=np.uint64)


def _add(total: HdrHistogram, other: HdrHistogram) -> None:
    """Adds as the library does, which asks each empty place of another range for its count."""
    if other.counts_len == total.counts_len:
        total.add(other)
        return
    counts = _counts(other)
    for place in np.flatnonzero(counts).tolist():
        if not total.record_value(other.get_value_from_index(place), int(counts[place])):
            raise IndexError("a value does not fit")


def merge_named(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The histograms of several tables added, by their names."""
    found: dict[str, list[str]] = {}
    for part in parts:
        for name, text in part.items():
            found.setdefault(name, []).append(text)
    return {
        name: texts[0] if len(texts) == 1 else merge(texts).text
        for name, texts in sorted(found.items())
    }
