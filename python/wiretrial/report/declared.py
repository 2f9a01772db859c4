"""The contrasts of a report that its study declared before anything was measured.

Knows families, their groups and pairs; must not know what is told of a contrast. Each is there
once: over all levels where they are looked at together, else level by level. Where levels are shown
to differ there is no ratio over all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wiretrial.report import leading, metrics
from wiretrial.report.contest import Pair
from wiretrial.report.families import Family
from wiretrial.report.metrics import Metric


@dataclass(frozen=True)
class Contrast:
    """Two of a family against each other, in one metric."""

    family: Family
    sides: tuple[str, str]
    """What they are called; the second is the baseline."""
    where: str
    """At which levels."""
    pair: Pair

    @property
    def name(self) -> str:
        """`gorilla / ws`."""
        return " / ".join(self.sides)

    @property
    def is_ranked(self) -> bool:
        """Whether it is in what its family is ranked by, not in what stands beside it."""
        return self.pair.metric is self.family.metric


def inside(families: Sequence[Family], baselines: Sequence[str]) -> Iterator[Contrast]:
    """Those of the families that take part in the verdict: in their own metric, then in what stands
    beside it.
    """
    ranked = [family for family in families if not family.is_outside]
    for family in ranked:
        yield from of(family, family.metric, baselines)
    for family in ranked:
        yield from of(family, metrics.beside(family.metric), baselines)


def of(family: Family, metric: Metric, baselines: Sequence[str]) -> Iterator[Contrast]:
    """Those of one family in one metric."""
    base = leading.baseline(family, baselines)
    together = family.together.get(metric.key)
    pooled = [pair for pair in together.against if pair.is_declared] if together else []
    whole = [pair for pair in pooled if together and pair.a not in together.ranges]
    for pair in whole:
        yield Contrast(family, (pair.a, pair.b), family.title, pair)
    done = {frozenset((pair.a, pair.b)) for pair in whole}
    for group in family.groups:
        bases = {scenario.name: scenario.baseline for scenario in group.scenarios}
        for pair in group.contest.pairs.get(metric.key, ()):
            is_turned = group.called[pair.a] == base or bases.get(pair.b) == pair.a
            turned = pair.seen_from(pair.a) if is_turned else pair
            sides = group.called[turned.a], group.called[turned.b]
            if pair.is_declared and frozenset(sides) not in done:
                yield Contrast(family, sides, group.title, turned)
