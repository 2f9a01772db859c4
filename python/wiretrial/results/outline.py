"""A distribution in few places: what its named quantiles need, and no more.

Knows how counts may be moved without moving a quantile; must not know whose times they are. A
distribution of a million replies takes kilobytes; its outline takes a hundred bytes, so that every
trial of a study can be kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby

from hdrh.histogram import HdrHistogram

from wiretrial.results.hdr import HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS, Hdr


def marks(times: Hdr, shares: Sequence[float]) -> frozenset[int]:
    """The values in nanoseconds at these quantiles (0..1), the least and the greatest."""
    if not times.count:
        return frozenset()
    return frozenset(times.quantile(share) for share in (0.0, *shares, 1.0))


def of(times: Hdr, kept: frozenset[int]) -> Hdr:
    """The distribution with the counts of these values as they are; between two of them all counts
    stand in one place, at their mean.

    At each of these values as many lie below, at and above it as before: a quantile that falls on
    one of them stays where it is, also in the sum with another distribution. The mean stays within
    the width of a place (0.1 %).
    """
    edges = sorted(kept)
    drawn = HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
    for _, run in groupby(
        times.values, key=lambda one: (bisect_left(edges, one[0]), one[0] in kept)
    ):
        counted = list(run)
        whole = sum(count for _, count in counted)
        mean = sum(value * count for value, count in counted) // whole
        drawn.record_value(mean, whole)
    return Hdr(drawn)
