"""Where a series of results changes its level, with a false-alarm rate that is known.

E-divisive (Matteson and James 2014, "A Nonparametric Approach for Multiple Change Point Analysis of
Multivariate Data", *JASA* 109): the cut at which the energy distance (Székely and Rizzo 2013) of
the results on both sides is greatest is tested by permutation, then each side by itself. Nothing is
assumed of the distribution, so outliers and skewed noise raise no alarms.

What a permutation may do is restricted: results of one occasion share what its boot added, so they
change places among themselves, and occasions as wholes (Winkler et al. 2015, "Multi-level block
permutation", *NeuroImage* 123). Where results differ by chance alone, an alarm is raised in at most
the share `alpha` of series. A slow drift over all results is no chance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from statistics import fmean
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wiretrial.stats import student

ALPHA = 0.01
"""The share of series without a change in which one is found all the same, at most."""
LEAST_SIDE = 3
"""Results on either side of a change: fewer can't be told from an outlier."""
FEWEST = 12
"""With fewer results no arrangement is rare enough to be told from chance."""
DRAWS = 1999
"""Permutations: with the observed order 2,000, of which `ALPHA` is a whole number."""
POWER = 0.8
_BATCHES = (50, 150, 400)
"""Most series end after the first: nothing is there."""
_MOST_CELLS = 4_000_000
"""Distances in memory at a time."""
_TINY = 1e-12

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """A new level begins with the value at `at`. `p`: of its test, within its part of the series.

    `start` and `end` are the ends of that part.
    """

    at: int
    p: float
    start: int
    end: int


def changes(
    values: Sequence[float],
    occasions: Sequence[Hashable] = (),
    *,
    alpha: float = ALPHA,
    seed: int = 0,
) -> list[Change]:
    """The changes of level, in the order of the series.

    `occasions`: on which one each value was measured, neighbours of one standing together; left
    out: all on one. Ratios matter to figures of time: give their logarithms. Below the first cut
    the parts share `alpha` by their lengths, so that each level of cuts keeps it.
    """
    told = tuple(occasions) or (0,) * len(values)
    if len(told) != len(values):
        raise ValueError(f"{len(values)} values need as many occasions, not {len(told)}")
    series, blocks = np.asarray(values, dtype=float), _blocks(told)
    draw = np.random.default_rng(seed)
    found: list[Change] = []
    waiting = [(0, len(series), alpha)]
    while waiting:
        start, end, level = waiting.pop()
        cut = _test(series[start:end], blocks[start:end], level, draw)
        if cut is None:
            continue
        at = start + cut.at
        found.append(Change(at, cut.p, start, end))
        waiting += [(a, b, level * (b - a) / (end - start)) for a, b in ((start, at), (at, end))]
    return sorted(found, key=lambda change: change.at)


def can_tell(occasions: Sequence[Hashable], alpha: float = ALPHA) -> bool:
    """Whether any order of so many values could be told from chance."""
    if len(occasions) < FEWEST:
        return False
    sizes = [len([*group]) for _, group in groupby(occasions)]
    orders = math.lgamma(len(sizes) + 1) + sum(math.lgamma(size + 1) for size in sizes)
    # A step that goes up and one that goes down are as rare.
    return orders >= math.log(2 / alpha)


def statistics(values: Sequence[float]) -> dict[tuple[int, int], float]:
    """The energy statistic of each cut: by the first value behind it and the end of its side."""
    series = np.asarray(values, dtype=float)
    found = _scan(np.abs(series[:, None] - series[None, :])[None])[0]
    places = zip(*np.nonzero(np.isfinite(found)), strict=True)
    return {(int(cut), int(end)): float(found[cut, end]) for cut, end in places}


def resolution(values: Sequence[float], cuts: Sequence[int] = (), alpha: float = ALPHA) -> float:
    """About how large a step in the middle would be found in 80 % of such series.

    In the values' own unit. `cuts`: where levels begin that were found. From the scatter around
    the levels and a t test at the place, with Bonferroni's bound over all places: an estimate, on
    the safe side.
    """
    edges = (0, *cuts, len(values))
    parts = [values[a:b] for a, b in pairwise(edges)]
    degrees = len(values) - len(parts)
    squares = sum((value - fmean(part)) ** 2 for part in parts for value in part)
    error = math.sqrt(squares / degrees) * 2 / math.sqrt(len(values))
    places = len(values) - 2 * LEAST_SIDE + 1
    return student.detectable(alpha / places, POWER, float(degrees)) * error


class _Cut(NamedTuple):
    at: int
    p: float


def _test(
    values: Floats, blocks: npt.NDArray[np.int64], alpha: float, draw: np.random.Generator
) -> _Cut | None:
    """The best cut, where it is better than chance makes it in the share `alpha` of orders."""
    allowed = math.floor(alpha * (DRAWS + 1)) - 1
    if len(values) < 2 * LEAST_SIDE or allowed < 0:
        return None
    distances = np.abs(values[:, None] - values[None, :])
    scanned = _scan(distances[None])[0]
    best = float(scanned.max())
    if best <= _TINY:
        return None
    exceeded = 0
    for orders in _orders(blocks, draw):
        shuffled = distances[orders[:, :, None], orders[:, None, :]]
        reached = _scan(shuffled).max(axis=(1, 2))
        exceeded += int((reached >= best - _TINY).sum())
        if exceeded > allowed:
            return None
    at = int(np.unravel_index(int(scanned.argmax()), scanned.shape)[0])
    return _Cut(at, (1 + exceeded) / (DRAWS + 1))


def _scan(distances: Floats) -> Floats:
    """Q of each cut: by order, first value behind the cut, end of what is compared behind it.

    The end is free, so that a level that did not last is not hidden by the one after it.
    """
    many, size = distances.shape[0], distances.shape[1]
    sums = np.zeros((many, size + 1, size + 1))
    np.cumsum(np.cumsum(distances, axis=1), axis=2, out=sums[:, 1:, 1:])
    within = np.diagonal(sums, axis1=1, axis2=2)
    weights = _weights(size)
    found: Floats = sums * weights.both
    found -= within[:, :, None] * weights.left
    found -= within[:, None, :] * weights.right
    found[:, ~weights.allowed] = -math.inf
    return found


class _Weights(NamedTuple):
    """Of sums of distances: up to cut and end, up to the cut, up to the end."""

    both: Floats
    left: Floats
    right: Floats
    allowed: npt.NDArray[np.bool_]


@lru_cache(maxsize=64)
def _weights(size: int) -> _Weights:
    """Q = mk / (m + k) (2 E|X - Y| - E|X - X'| - E|Y - Y'|), m and k values on the two sides."""
    edge = np.arange(size + 1)
    m, k = edge[:, None] + 0 * edge, edge[None, :] - edge[:, None]
    allowed = (m >= LEAST_SIDE) & (k >= LEAST_SIDE)
    m, k = np.where(allowed, m, 2), np.where(allowed, k, 2)
    across, left, right = 2 / (m + k), k / ((m + k) * (m - 1)), m / ((m + k) * (k - 1))
    # Sums over the square up to the end hold both sides, and what lies between them twice.
    return _Weights(across + 2 * right, across + left + right, right, allowed)


def _orders(
    blocks: npt.NDArray[np.int64], draw: np.random.Generator
) -> Iterator[npt.NDArray[np.int64]]:
    """`DRAWS` random orders: those of blocks, and within each of its members."""
    names, members = np.unique(blocks, return_inverse=True)
    left, most = DRAWS, max(1, _MOST_CELLS // len(blocks) ** 2)
    for number in range(DRAWS):
        size = min(left, _BATCHES[min(number, len(_BATCHES) - 1)], most)
        if not size:
            return
        left -= size
        ranks = draw.random((size, len(names))).argsort(axis=1)
        yield (ranks[:, members] + draw.random((size, len(blocks)))).argsort(axis=1)


def _blocks(occasions: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    """A number for each run of neighbours of the same occasion."""
    numbers = [number for number, (_, group) in enumerate(groupby(occasions)) for _ in group]
    return np.array(numbers, dtype=np.int64)
