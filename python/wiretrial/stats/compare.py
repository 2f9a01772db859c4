"""Two scenarios compared in pairs within blocks.

Each block holds one trial of each scenario, close together in time, so what disturbs a block
disturbs both: the log of the ratio within a block cancels it. The mean log ratio gets a paired
t interval (Student 1908). Blocks of several occasions are no independent values: what a day or a
machine adds is in all of its blocks. Then each occasion counts as one value, the mean of its blocks
(Kalibera and Jones 2013, "Rigorous Benchmarking in Reasonable Time": the highest level decides).
Contrasts of one study share an estimate of variance (`stats/scatter.py`).
Families of pairs are adjusted by Holm (1979). Equivalence is shown by two one-sided tests
(Schuirmann 1987).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Literal

from wiretrial.stats import bounds, student
from wiretrial.stats.bounds import Bound
from wiretrial.stats.occasions import Components, components, units
from wiretrial.stats.scatter import Scatter, of_contrasts

Verdict = Literal["A faster", "B faster", "equal within 3 %", "no difference shown", "invalid"]

ALPHA = 0.05
BAND = 0.03
MOST_REACH = 5.0
"""A ratio of e^5 = 148."""
POWER = 0.8
"""How often a difference of the size of the resolution would be shown."""


@dataclass(frozen=True)
class Comparison:
    """The ratio A / B with its 95 % interval, and the tests' probabilities before Holm.

    `ratio` is the geometric mean over blocks, or over occasions of those over their blocks. `low`,
    `high` are None and both probabilities 1 where fewer than two of them stand.
    """

    ratio: float
    low: float | None
    high: float | None
    p: float
    p_equal: float
    pairs: int
    bound: Bound = "exact"
    """What the ratio is where a side is only a bound."""
    error: float | None = None
    """The standard error of the log ratio; None where it is not known."""
    degrees: float = 0
    """Its degrees of freedom."""
    by_occasion: tuple[float, ...] = ()
    """Each occasion's own ratio, in their order; empty where all blocks are of one."""
    components: Components | None = None
    """How much of the ratio's scatter is between blocks and between occasions, where there are
    several."""

    def resolution(self, alpha: float = ALPHA) -> float | None:
        """The smallest difference that could be shown, as a share: 0.09 is 9 %.

        A true one of this size is shown at the level `alpha` in 80 % of such suites. Infinite where
        no difference could be shown, however large; None where nothing is known.
        """
        if self.error is None:
            return None
        reach = student.detectable(alpha, POWER, self.degrees) * self.error
        # Of a few values that scatter this much, no difference can be shown.
        return math.expm1(reach) if reach < MOST_REACH else math.inf

    @property
    def interval(self) -> tuple[float, float] | None:
        """What may be shown beside the ratio; None of a bound."""
        return bounds.interval(self.low, self.high, self.bound)

    @property
    def inverse(self) -> Comparison:
        """The same seen from the other side: B / A."""
        return Comparison(
            ratio=1 / self.ratio,
            low=None if self.high is None else 1 / self.high,
            high=None if self.low is None else 1 / self.low,
            p=self.p,
            p_equal=self.p_equal,
            pairs=self.pairs,
            bound=bounds.inverse(self.bound),
            error=self.error,
            degrees=self.degrees,
            by_occasion=tuple(1 / ratio for ratio in self.by_occasion),
            components=self.components,
        )


def compare(
    a: Sequence[float],
    b: Sequence[float],
    *,
    occasions: Sequence[int] = (),
    band: float = BAND,
) -> Comparison:
    """Compares a[i] with b[i], the two of one block; both must be positive.

    `occasions`: on which one block i was measured; left out: all on the same.
    """
    if len(a) != len(b):
        raise ValueError(f"pairs need equal numbers, not {len(a)} and {len(b)}")
    if not a:
        raise ValueError("no pair to compare")
    if min(*a, *b) <= 0:
        raise ValueError("a log ratio needs positive values")
    logs = [math.log(x / y) for x, y in zip(a, b, strict=True)]
    values = units(logs, occasions)
    centre = fmean(values)
    if len(values) < 2:
        return Comparison(math.exp(centre), None, None, 1.0, 1.0, 1)
    error = stdev(values) / math.sqrt(len(values))
    told = _told(centre, error, len(values) - 1, len(logs), band)
    if len(set(occasions)) < 2:
        return told
    return replace(
        told,
        by_occasion=tuple(math.exp(value) for value in values),
        components=components([math.exp(log) for log in logs], occasions),
    )


def welch(
    a: Sequence[float],
    b: Sequence[float],
    *,
    occasions: tuple[Sequence[int], Sequence[int]] = ((), ()),
    band: float = BAND,
) -> Comparison:
    """Compares two samples that share no blocks (Welch 1947, on logarithms); all positive.

    `occasions`: of each side, on which one each value was measured; left out: all on the same.
    Where one side has several and the other one only, that one is a single value against a sample,
    as far from its mean as another of the sample would be (Sokal and Rohlf, *Biometry*, 9.5): the
    scatter of its trials says nothing of another day. `pairs` is the smaller number of values.
    """
    if not a or not b:
        raise ValueError("both sides need a value")
    if min(*a, *b) <= 0:
        raise ValueError("a log ratio needs positive values")
    logs = [math.log(value) for value in a], [math.log(value) for value in b]
    x, y = (units(side, own) for side, own in zip(logs, occasions, strict=True))
    centre, least = fmean(x) - fmean(y), min(len(a), len(b))
    if least < 2:
        return Comparison(math.exp(centre), None, None, 1.0, 1.0, least)
    several = [side for side, own in ((x, occasions[0]), (y, occasions[1])) if len(set(own)) > 1]
    if len(several) == 1:
        (sample,) = several
        error = stdev(sample) * math.sqrt(1 + 1 / len(sample))
        return _told(centre, error, len(sample) - 1, least, band)
    parts = stdev(x) ** 2 / len(x), stdev(y) ** 2 / len(y)
    error = math.sqrt(sum(parts))
    # Welch and Satterthwaite's degrees of freedom.
    weights = parts[0] ** 2 / (len(x) - 1) + parts[1] ** 2 / (len(y) - 1)
    degrees = sum(parts) ** 2 / weights if weights else float(len(x) + len(y) - 2)
    return _told(centre, error, degrees, least, band)


def moderated(comparison: Comparison, scatter: Scatter | None, *, band: float = BAND) -> Comparison:
    """A paired comparison with the moderated variance in place of its own.

    Unchanged where `scatter` is None or the comparison has no interval.
    """
    if scatter is None or comparison.error is None:
        return comparison
    values = comparison.degrees + 1
    one, degrees = scatter.with_own(comparison.error**2 * values, comparison.degrees)
    told = _told(
        math.log(comparison.ratio), math.sqrt(one / values), degrees, comparison.pairs, band
    )
    return replace(
        told,
        bound=comparison.bound,
        by_occasion=comparison.by_occasion,
        components=comparison.components,
    )


def scatter_of(comparisons: Sequence[Comparison]) -> Scatter | None:
    """The common variance of paired comparisons; None where there are too few."""
    known = [(one.error, one.degrees) for one in comparisons if one.error is not None]
    variances = [error**2 * (degrees + 1) for error, degrees in known]
    return of_contrasts(variances, [degrees for _, degrees in known])


def verdict(comparison: Comparison, adjusted_p: float, *, higher_is_better: bool) -> Verdict:
    """The verdict in words; `adjusted_p` is the comparison's p after Holm.

    Equivalence comes first: a difference that is shown to lie inside the band is no finding. Of a
    ratio that is a bound, only a difference stands that the bound leaves open no way out of.
    """
    if comparison.low is None:
        return "invalid"
    is_more = comparison.ratio > 1
    stands = comparison.bound in ("exact", "at least" if is_more else "at most")
    if comparison.p_equal < ALPHA:
        return "equal within 3 %" if comparison.bound == "exact" else "invalid"
    if adjusted_p >= ALPHA:
        return "no difference shown" if comparison.bound == "exact" else "invalid"
    if not stands:
        return "invalid"
    return "A faster" if is_more == higher_is_better else "B faster"


def holm(pvalues: Sequence[float]) -> list[float]:
    """Adjusted p values in the given order: reject where one is below the family's level."""
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    adjusted = [1.0] * len(pvalues)
    greatest = 0.0
    for position, index in enumerate(order):
        greatest = max(greatest, min(1.0, (len(pvalues) - position) * pvalues[index]))
        adjusted[index] = greatest
    return adjusted


def _told(centre: float, error: float, degrees: float, pairs: int, band: float) -> Comparison:
    """What a mean log ratio with its standard error comes to."""
    reach = student.quantile(1 - ALPHA / 2, degrees) * error
    return Comparison(
        ratio=math.exp(centre),
        low=math.exp(centre - reach),
        high=math.exp(centre + reach),
        p=_two_sided(centre, error, degrees),
        p_equal=_equivalence_p(centre, error, degrees, band),
        pairs=pairs,
        error=error,
        degrees=degrees,
    )


def _two_sided(centre: float, error: float, degrees: float) -> float:
    if error == 0:
        return 1.0 if centre == 0 else 0.0
    return student.two_sided_p(centre / error, degrees)


def _equivalence_p(centre: float, error: float, degrees: float, band: float) -> float:
    """The greater p of the two one-sided tests against -log(1 + band) and log(1 + band)."""
    edge = math.log1p(band)
    if error == 0:
        return 0.0 if abs(centre) < edge else 1.0
    return max(
        student.survival((edge - centre) / error, degrees),
        student.survival((edge + centre) / error, degrees),
    )
