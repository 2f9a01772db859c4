"""How much of the scatter is between trials, and how much between occasions.

An occasion is one boot of one machine with everything rebuilt: caches, addresses and layouts are
drawn anew then, and no number of trials within one tells what another day would say. The components
are those of the random-effects analysis of variance with one level of nesting (Kalibera and Jones
2013, "Rigorous Benchmarking in Reasonable Time", section 6; Searle, Casella and McCulloch 1992,
*Variance Components*, 3.6, for unequal numbers of trials).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

ENOUGH = 3
"""With fewer occasions an interval over them reaches too far to say anything."""


@dataclass(frozen=True)
class Components:
    """Standard deviations of logarithms, so about shares: 0.05 is 5 %."""

    trials: float
    occasions: float
    """0 where the occasions lie no further apart than their trials would put them."""


def grouped(values: Sequence[float], occasions: Sequence[int]) -> dict[int, list[float]]:
    """The values of each occasion."""
    groups: dict[int, list[float]] = {}
    for value, occasion in zip(values, occasions, strict=True):
        groups.setdefault(occasion, []).append(value)
    return groups


def means(values: Sequence[float], occasions: Sequence[int]) -> list[float]:
    """The mean of each occasion's values, in the order of the occasions."""
    return [fmean(group) for _, group in sorted(grouped(values, occasions).items())]


def units(values: Sequence[float], occasions: Sequence[int]) -> list[float]:
    """What counts as one independent value: each occasion's mean, or each trial of only one.

    `occasions`: on which one each was measured; left out: all on the same.
    """
    return means(values, occasions) if len(set(occasions)) > 1 else [*values]


def components(values: Sequence[float], occasions: Sequence[int]) -> Components | None:
    """Of positive `values`; None without two occasions, or without two trials in one of them."""
    groups = list(grouped([math.log(value) for value in values], occasions).values())
    sizes = [len(group) for group in groups]
    total, many = sum(sizes), len(sizes)
    if many < 2 or total == many:
        return None
    grand = fmean(value for group in groups for value in group)
    within = sum((value - fmean(group)) ** 2 for group in groups for value in group)
    within /= total - many
    between = sum(len(group) * (fmean(group) - grand) ** 2 for group in groups) / (many - 1)
    trials_each = (total - sum(n * n for n in sizes) / total) / (many - 1)
    added = max(0.0, (between - within) / trials_each)
    return Components(math.sqrt(within), math.sqrt(added))
