"""Who beats whom: pairwise comparisons within groups, and the ranking that follows.

Knows scenarios and their trials' figures; must not know how a comparison is shown. What a study
declares before it measures is each scenario against the baseline of its group: these contrasts of
the study in one metric are Holm's family. Two scenarios alone are a contrast of themselves. All
other pairs are exploratory, and a family of their own. Every comparison in a metric uses the common
variance of the declared contrasts in it (`stats/scatter.py`): of its workload, because a workload
has a scatter of its own, or where that has few contrasts, of the study.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

from wiretrial.report import metrics
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.stats import bounds
from wiretrial.stats.compare import (
    ALPHA,
    Comparison,
    Verdict,
    compare,
    holm,
    moderated,
    scatter_of,
    verdict,
)
from wiretrial.stats.ranks import Ranking, rank
from wiretrial.stats.scatter import Scatter

FEWEST_OF_WORKLOAD = 7
"""A workload with fewer declared contrasts uses the common variance of the study."""

OUTSIDE = "extra"
"""The group whose scenarios are shown and take no part in the verdict."""


class Block(NamedTuple):
    """One block of trials; those of one occasion are not independent of each other."""

    occasion: int
    number: int


@dataclass(frozen=True)
class Pair:
    """Scenario `a` against scenario `b` in one metric. `comparison` is None without two pairs."""

    a: str
    b: str
    metric: Metric
    comparison: Comparison | None
    verdict: Verdict
    spared: str | None = None
    """Who would be shown to be worse if its figure were more than a bound."""
    is_declared: bool = False
    """Whether the study declared it before anything was measured."""
    resolution: float | None = None
    """The smallest difference that could be shown here, as a share; None where none is known."""

    @property
    def winner(self) -> str | None:
        """The scenario shown to be better, None if none is."""
        return {"A faster": self.a, "B faster": self.b}.get(self.verdict)

    def seen_from(self, name: str) -> Pair:
        """The same pair with `name` as `b`, so that the ratio says how many times `name`'s."""
        if name == self.b:
            return self
        swapped: Mapping[Verdict, Verdict] = {"A faster": "B faster", "B faster": "A faster"}
        return replace(
            self,
            a=self.b,
            b=self.a,
            comparison=self.comparison and self.comparison.inverse,
            verdict=swapped.get(self.verdict, self.verdict),
        )


@dataclass(frozen=True)
class Shared:
    """The common variances of a study's declared contrasts in one metric."""

    of_study: Scatter | None = None
    of_workload: Mapping[str, Scatter | None] = field(default_factory=dict)
    """Those of workloads with enough contrasts; None: they are too unlike."""

    def at(self, scenario: ScenarioResult) -> Scatter | None:
        """What a comparison of this scenario uses."""
        return self.of_workload.get(_workload(scenario), self.of_study)


ALONE = Shared()
"""Nothing is shared."""


@dataclass(frozen=True)
class Contest:
    """One group's ranking by `metric`, and its pairs by metric key."""

    metric: Metric
    ranking: Ranking[str]
    pairs: Mapping[str, tuple[Pair, ...]]
    by_cost: Ranking[str]
    """The same scenarios by what stands beside."""
    scatter: Mapping[str, Shared] = field(default_factory=dict)
    """By metric key: the common variances of the study's declared contrasts."""

    def against(self, name: str, metric: Metric) -> tuple[Pair, ...]:
        """All pairs of `name` in `metric`, with `name` as `b`."""
        pairs = self.pairs.get(metric.key, ())
        return tuple(pair.seen_from(name) for pair in pairs if name in (pair.a, pair.b))

    @property
    def extremes(self) -> tuple[frozenset[str], frozenset[str]]:
        """The best and the worst: the fewest that are each shown to differ from all the others.

        Either is empty where no half of them or less is, so that nobody is marked for a difference
        that the data do not show.
        """
        order = self.ranking.order
        beats = {
            (pair.winner, pair.a if pair.winner == pair.b else pair.b)
            for pair in self.pairs.get(self.metric.key, ())
            if pair.winner
        }
        worst = _apart(order[::-1], {(loser, winner) for winner, loser in beats})
        return _apart(order, beats), worst


@dataclass(frozen=True)
class Pooled:
    """The best label over all levels of a family, or its baseline, and the others against it."""

    best: str
    against: tuple[Pair, ...]
    """`b` is the best, or the baseline; the sides are labels."""
    levels: int
    """So many are in it: those at which every label has a figure in each of the blocks."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The least and the greatest ratio over the levels, of labels whose ratio to the best is shown
    to differ from level to level: a mean would hide that."""


def run(
    groups: Sequence[tuple[ScenarioResult, ...]], baselines: Collection[str] = ()
) -> list[Contest]:
    """One contest per group. `baselines` names the scenario that its group is compared with."""
    compared = [_metrics(group) for group in groups]
    found: list[dict[str, tuple[Pair, ...]]] = [{} for _ in groups]
    scatter: dict[str, Shared] = {}
    for metric in dict.fromkeys(metric for row in compared for metric in row):
        sides = [
            _Side(index, a, b, _is_declared(group, a, b, baselines), against(a, b, metric))
            for index, group in enumerate(groups)
            if metric in compared[index] and group[0].group != OUTSIDE
            for a, b in combinations(group, 2)
        ]
        own: dict[int, list[Pair]] = {side.group: [] for side in sides}
        shared = scatter[metric.key] = _shared([side for side in sides if side.is_declared])
        for is_declared in (True, False):
            family = [side for side in sides if side.is_declared is is_declared]
            told = [side.moderated(shared) for side in family]
            pairs = _pairs(told, metric, is_declared=is_declared)
            for side, pair in zip(family, pairs, strict=True):
                own[side.group].append(pair)
        for index, pairs in own.items():
            found[index][metric.key] = tuple(pairs)
    return [_contest(group, pairs, scatter) for group, pairs in zip(groups, found, strict=True)]


def _is_declared(
    group: Sequence[ScenarioResult],
    a: ScenarioResult,
    b: ScenarioResult,
    baselines: Collection[str],
) -> bool:
    if len(group) == 2:
        return True
    if any(scenario.baseline for scenario in group):
        return a.baseline == b.name or b.baseline == a.name
    return a.name in baselines or b.name in baselines


_Compared = tuple[ScenarioResult, ScenarioResult, Comparison | None]
"""Two scenarios, and the first against the second."""


class _Side(NamedTuple):
    """Two scenarios of a group, by its place, that are compared."""

    group: int
    a: ScenarioResult
    b: ScenarioResult
    is_declared: bool
    plain: Comparison | None
    """Without a common variance."""

    def moderated(self, scatter: Shared) -> _Compared:
        """The same with the common variances."""
        return self.a, self.b, self.plain and moderated(self.plain, scatter.at(self.a))


def against(
    a: ScenarioResult, b: ScenarioResult, metric: Metric, scatter: Shared = ALONE
) -> Comparison | None:
    """The ratio of two scenarios over the blocks that hold both, a bound where a side is one.

    `scatter`: the common variances of the study's contrasts. None with fewer than two blocks.
    """
    left, right = by_block(a, metric), by_block(b, metric)
    blocks = sorted(left.keys() & right.keys())
    if len(blocks) < 2:
        return None
    found = compare(
        [left[block] for block in blocks],
        [right[block] for block in blocks],
        occasions=[block.occasion for block in blocks],
    )
    bound = bounds.ratio(a.bound_of(metric), b.bound_of(metric))
    return replace(moderated(found, scatter.at(a)), bound=bound)


def _shared(sides: Sequence[_Side]) -> Shared:
    """The common variances of these contrasts."""
    of_workload: dict[str, list[Comparison]] = {}
    for side in sides:
        if side.plain is not None:
            of_workload.setdefault(_workload(side.a), []).append(side.plain)
    every = [one for own in of_workload.values() for one in own]
    return Shared(
        scatter_of(every),
        {
            name: scatter_of(own)
            for name, own in of_workload.items()
            if len(own) >= FEWEST_OF_WORKLOAD
        },
    )


def _workload(scenario: ScenarioResult) -> str:
    return str(scenario.levels.get("workload", ""))


def by_block(scenario: ScenarioResult, metric: Metric) -> dict[Block, float]:
    """The usable figures above 0, by block.

    None are the response times of a scenario that was overloaded in some blocks: those of the
    others would flatter it.
    """
    if metric in metrics.WAITING and scenario.is_overloaded:
        return {}
    return {
        Block(row.occasion, row.block): row.figures[metric.key]
        for row in scenario.trials
        if row.is_usable and row.figures.get(metric.key, 0) > 0
    }


def twins(
    scenarios: Sequence[ScenarioResult], scatter: Mapping[str, Shared] | None = None
) -> tuple[Pair, ...]:
    """Each scenario that was measured twice, against itself; those of one metric are a family.

    `scatter`: by metric key, as the contest has it. Where the generator was the limit, it was so of
    both: they must agree as any other.
    """
    by_name = {scenario.name: scenario for scenario in scenarios}
    sides = [(s, by_name[s.twin_of]) for s in scenarios if s.twin_of in by_name]
    ranked = [_metrics(side)[0] for side in sides]
    found: list[Pair] = []
    for metric in dict.fromkeys(ranked):
        shared = (scatter or {}).get(metric.key, ALONE)
        own = [
            (a, b, against(a, b, metric, shared))
            for (a, b), other in zip(sides, ranked, strict=True)
            if other is metric
        ]
        found += _pairs(own, metric, bounds_count=False)
    return tuple(found)


def _apart(order: Sequence[str], shown: Collection[tuple[str, str]]) -> frozenset[str]:
    """The shortest beginning of the order each of whose members is shown apart from the rest."""
    for size in range(1, len(order) // 2 + 1):
        head, rest = order[:size], order[size:]
        if all((one, other) in shown for one in head for other in rest):
            return frozenset(head)
    return frozenset()


def _metrics(group: Sequence[ScenarioResult]) -> tuple[Metric, ...]:
    """What the group is ranked by, and what is compared beside it."""
    wanted = {scenario.ranked_by.key for scenario in group}
    ranked = group[0].ranked_by
    told = all(ranked.key in scenario.estimates for scenario in group if scenario.usable)
    if len(wanted) > 1 or (ranked is metrics.SERVER and not told):
        ranked = metrics.ranked_metric(
            is_open_loop=group[0].is_open_loop, is_driven=group[0].is_driven
        )
    return (ranked, metrics.beside(ranked))


def _contest(
    group: tuple[ScenarioResult, ...],
    pairs: Mapping[str, tuple[Pair, ...]],
    scatter: Mapping[str, Shared],
) -> Contest:
    metric, beside = _metrics(group)
    by_cost = _ranking(group, pairs, beside)
    return Contest(metric, _ranking(group, pairs, metric), pairs, by_cost, scatter)


def _ranking(
    group: tuple[ScenarioResult, ...], pairs: Mapping[str, tuple[Pair, ...]], metric: Metric
) -> Ranking[str]:
    medians = {s.name: m for s in group if (m := s.median(metric)) is not None}
    order = sorted(medians, key=medians.__getitem__, reverse=metric.higher_is_better)
    better = {
        (pair.winner, pair.a if pair.winner == pair.b else pair.b)
        for pair in pairs.get(metric.key, ())
        if pair.winner is not None
    }
    spared = {pair.spared for pair in pairs.get(metric.key, ()) if pair.spared}
    return rank(order, better, unranked=spared)


def _pairs(
    sides: Sequence[_Compared],
    metric: Metric,
    *,
    bounds_count: bool = True,
    is_declared: bool = False,
) -> list[Pair]:
    if not bounds_count:
        sides = [(a, b, c and replace(c, bound="exact")) for a, b, c in sides]
    known = [comparison for _, _, comparison in sides if comparison is not None]
    adjusted = iter(holm([c.p for c in known]))
    pairs: list[Pair] = []
    for a, b, comparison in sides:
        found: Verdict = "invalid"
        spared: str | None = None
        if comparison is not None:
            p = next(adjusted)
            found = verdict(comparison, p, higher_is_better=metric.higher_is_better)
            bare = replace(comparison, bound="exact")
            seen = verdict(bare, p, higher_is_better=metric.higher_is_better)
            if found == "invalid":
                spared = {"A faster": b.name, "B faster": a.name}.get(seen)
        # As the strictest step of Holm's asks, so that it holds whatever the other pairs show.
        smallest = comparison.resolution(ALPHA / len(known)) if comparison else None
        pairs.append(Pair(a.name, b.name, metric, comparison, found, spared, is_declared, smallest))
    return pairs
