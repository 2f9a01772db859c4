"""The labels of a family compared over all its levels at once.

Knows families and their trials' figures; must not know how a comparison is put into words. Where
each level alone is too noisy to tell, the mean over the levels within a block is not: noise
averages out, and the blocks stay independent of each other. Where a test speaks against one
ratio for all levels, the range over them stands instead of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from wiretrial.report import contest, leading, metrics
from wiretrial.report.contest import Pair, Pooled
from wiretrial.report.families import Family
from wiretrial.report.metrics import Metric
from wiretrial.stats import heterogeneity
from wiretrial.stats.compare import (
    ALPHA,
    Comparison,
    compare,
    holm,
    moderated,
    scatter_of,
    verdict,
)
from wiretrial.stats.occasions import units
from wiretrial.stats.scatter import Scatter
from wiretrial.stats.summary import FEWEST

LEAST_SHARE = 0.5
"""Of no more of the levels, what is left would not speak for the family."""


def told(
    families: Sequence[Family], baselines: Sequence[str] = (), workloads: Collection[str] = ()
) -> tuple[Family, ...]:
    """The families, each with what its levels show together.

    A family with one of `baselines` is looked at level by level, unless its workload is one of
    `workloads`: then everybody is compared with the baseline over all levels. Without a baseline
    all pairs are. Holm's families are, as with single levels, the declared contrasts of the study
    in one metric, and all other pairs. A family has
    nothing to show together where a level shows another winner, or levels that are shown to differ
    lie on both sides of 1, because a mean over a crossing says nothing; where a single level makes
    the difference; where the generator was the limit somewhere; and where its levels are cases.
    """
    found: list[dict[str, Pooled]] = [{} for _ in families]
    bases = [leading.baseline(family, baselines) for family in families]
    compared = [
        () if base and family.workload not in workloads else _metrics(family)
        for family, base in zip(families, bases, strict=True)
    ]
    for metric in dict.fromkeys(metric for row in compared for metric in row):
        logs = {
            place: one
            for place, family in enumerate(families)
            if metric in compared[place] and (one := _logs(family, metric))
        }
        sides = {place: _sides(one, bases[place]) for place, one in logs.items()}
        for is_declared in (True, False):
            own = {place: logs[place] for place in logs if bool(bases[place]) is is_declared}
            compared_here = [(one, *side) for at, one in own.items() for side in sides[at]]
            pairs = iter(_pairs(compared_here, metric, is_declared=is_declared))
            for place, one in own.items():
                told = [next(pairs) for _ in sides[place]]
                if result := _pooled(families[place], metric, one, told, bases[place]):
                    found[place][metric.key] = result
    return tuple(replace(family, together=own) for family, own in zip(families, found, strict=True))


@dataclass(frozen=True)
class _Logs:
    """Per label a row for each level that stands, of the figure's logarithm in each block."""

    labels: Mapping[str, Sequence[Sequence[float]]]
    occasions: Sequence[int]
    """Of each block."""

    @property
    def levels(self) -> int:
        return len(next(iter(self.labels.values())))

    def mean(self, label: str) -> float:
        """Over levels and blocks."""
        return fmean(fmean(row) for row in self.labels[label])

    def compared(self, a: str, b: str, without: int | None = None) -> Comparison:
        """Two labels by their geometric means over the levels, without one of them if asked."""
        sides = self._means(a, without), self._means(b, without)
        return compare(*sides, occasions=self.occasions)

    def apart(self, a: str, b: str) -> tuple[float, float] | None:
        """The least and the greatest ratio over the levels, where they are shown to differ."""
        ratios = [
            [x - y for x, y in zip(*rows, strict=True)]
            for rows in zip(self.labels[a], self.labels[b], strict=True)
        ]
        if heterogeneity.p_value(ratios, self.occasions) >= heterogeneity.ALPHA:
            return None
        means = [fmean(units(row, self.occasions)) for row in ratios]
        return math.exp(min(means)), math.exp(max(means))

    def _means(self, label: str, without: int | None) -> list[float]:
        rows = [row for place, row in enumerate(self.labels[label]) if place != without]
        return [math.exp(fmean(block)) for block in zip(*rows, strict=True)]


def _metrics(family: Family) -> tuple[Metric, ...]:
    if family.is_cases or family.is_outside or len(family.groups) < 2:
        return ()
    both = (family.metric, metrics.beside(family.metric))
    return tuple(metric for metric in both if not family.is_bound(metric))


def _logs(family: Family, metric: Metric) -> _Logs | None:
    """None where too few levels or blocks hold a figure of everybody."""
    known = []
    for group in family.groups:
        sides = {label: family.of(label, group) for label in family.labels}
        known.append(
            {label: contest.by_block(side, metric) if side else {} for label, side in sides.items()}
        )
    blocks = sorted({block for level in known for side in level.values() for block in side})
    whole = [level for level in known if all(set(blocks) <= side.keys() for side in level.values())]
    few = len(whole) < 2 or len(whole) <= LEAST_SHARE * len(known)
    if few or len(blocks) < FEWEST or len(family.labels) < 2:
        return None
    return _Logs(
        {
            label: [[math.log(level[label][block]) for block in blocks] for level in whole]
            for label in family.labels
        },
        [block.occasion for block in blocks],
    )


def _sides(logs: _Logs, base: str | None) -> list[tuple[str, str]]:
    """The labels that are compared: each with the baseline, or every two."""
    if base is None:
        return list(combinations(logs.labels, 2))
    return [(label, base) for label in logs.labels if label != base]


def _pairs(
    sides: Sequence[tuple[_Logs, str, str]], metric: Metric, *, is_declared: bool
) -> list[Pair]:
    """Labels of all families that are looked at together: one family of Holm's."""
    plain = [one.compared(a, b) for one, a, b in sides]
    scatter = scatter_of(plain)
    found = [moderated(one, scatter) for one in plain]
    adjusted = holm([comparison.p for comparison in found])
    pairs = []
    for (one, a, b), comparison, p in zip(sides, found, adjusted, strict=True):
        said = verdict(comparison, p, higher_is_better=metric.higher_is_better)
        if said in ("A faster", "B faster") and not _holds_without_any(
            one, a, b, comparison, scatter
        ):
            said = "no difference shown"
        smallest = comparison.resolution(ALPHA / len(found))
        pairs.append(Pair(a, b, metric, comparison, said, None, is_declared, smallest))
    return pairs


def _holds_without_any(
    logs: _Logs, a: str, b: str, found: Comparison, scatter: Scatter | None
) -> bool:
    """Whether no single level makes the difference: it is there whichever of them is left out."""
    rest = [moderated(logs.compared(a, b, without), scatter) for without in range(logs.levels)]
    return all(one.p < ALPHA and (one.ratio > 1) == (found.ratio > 1) for one in rest)


def _pooled(
    family: Family, metric: Metric, logs: _Logs, pairs: Sequence[Pair], base: str | None
) -> Pooled | None:
    order = sorted(logs.labels, key=logs.mean)
    best = base or order[-1 if metric.higher_is_better else 0]
    against = tuple(pair.seen_from(best) for pair in pairs if best in (pair.a, pair.b))
    spans = {pair.a: logs.apart(pair.a, best) for pair in against}
    ranges = {label: span for label, span in spans.items() if span}
    if base is None:
        is_led = any(pair.winner == best for pair in against)
        crosses = any(least < 1 < greatest for least, greatest in ranges.values())
        if crosses or not is_led or _crosses(family, metric, best):
            return None
    return Pooled(best, against, logs.levels, ranges)


def _crosses(family: Family, metric: Metric, best: str) -> bool:
    """Whether a level alone shows somebody to be better than the best of all."""
    for group in family.groups:
        own = family.of(best, group)
        pairs = group.contest.against(own.name, metric) if own else ()
        if any(pair.winner == pair.a for pair in pairs):
            return True
    return False
