"""Modes of a distribution of times: one where it is known to be, or a second one anywhere.

Pure: knows histograms; must not know what a mode means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from wiretrial.results import hdr

SHARE = 0.002
"""A known mode holds this share of the values at least."""
SHARE_IF_STARVED = 0.05
"""Where the generator had to wait for a CPU, long waits of a few are that, and no known mode."""
FEWEST = 3
NEIGHBOURS = 0.5

BINS_PER_DOUBLING = 5
SECOND_SHARE = 0.02
"""A second mode that nobody knows beforehand holds this share at least."""
APART = 2.0
"""Two modes are apart by this factor at least."""
VALLEY = 0.25
"""Between two modes, a bin holds at most this share of what the lesser one's peak holds."""
NARROW = 0.5
"""Share of a mode's values in its peak's bin and the two beside it; a tail has less."""


@dataclass(frozen=True)
class Second:
    """The lesser of two modes, and where the other is."""

    at_ns: float
    share: float
    main_ns: float


def known_share(text: str | None, low_ns: int, high_ns: int, *, starved: bool) -> float:
    """Share of the values in the band, 0 unless they are a mode of their own.

    A mode: enough values, well above the median, and the bands of the same width on a log scale at
    both sides hold at most half as many.
    """
    times = histogram(text)
    width = high_ns / low_ns
    share = times.share_between(low_ns, high_ns)
    least = SHARE_IF_STARVED if starved else SHARE
    if share < least or share * times.count < FEWEST or times.quantile(0.5) > low_ns / 2:
        return 0.0
    below = times.share_between(low_ns / width, low_ns - 1)
    above = times.share_between(high_ns + 1, high_ns * width)
    return share if max(below, above) <= NEIGHBOURS * share else 0.0


def second(text: str | None) -> Second | None:
    """A second mode beside the main one; None where there is none.

    Values are counted in bins of equal width on a log scale. Two peaks are two modes if they are
    far apart, a valley lies between them, and the lesser one is narrow and large enough.
    """
    times = histogram(text)
    bins: dict[int, int] = {}
    for value, count in times.values:
        at = math.floor(math.log2(max(value, 1)) * BINS_PER_DOUBLING)
        bins[at] = bins.get(at, 0) + count
    if not bins:
        return None
    main = max(bins, key=bins.__getitem__)
    distance = math.ceil(math.log2(APART) * BINS_PER_DOUBLING)
    found = [
        one
        for side in (range(min(bins), main - distance + 1), range(main + distance, max(bins) + 1))
        if (one := _mode_in(bins, side, main, times.count))
    ]
    return max(found, key=lambda one: one.share, default=None)


@lru_cache(maxsize=64)
def histogram(text: str | None) -> hdr.Hdr:
    """Several rules look at the same histogram, and decoding is the dear part."""
    return hdr.merge(() if text is None else (text,))


def _mode_in(bins: dict[int, int], side: range, main: int, count: int) -> Second | None:
    """The greatest peak of one side, if it is a mode."""
    if not side:
        return None
    peak = max(side, key=lambda at: bins.get(at, 0))
    between = range(min(peak, main) + 1, max(peak, main))
    floor = min(between, key=lambda at: bins.get(at, 0))
    if bins.get(floor, 0) > VALLEY * bins.get(peak, 0):
        return None
    beyond = range(floor, max(bins) + 1) if peak > main else range(min(bins), floor + 1)
    mass = sum(bins.get(at, 0) for at in beyond)
    core = sum(bins.get(at, 0) for at in range(peak - 1, peak + 2))
    if mass < SECOND_SHARE * count or core < NARROW * mass:
        return None
    return Second(at_ns=_middle(peak), share=mass / count, main_ns=_middle(main))


def _middle(at: int) -> float:
    return float(2 ** ((at + 0.5) / BINS_PER_DOUBLING))
