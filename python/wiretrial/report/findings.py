"""What a study found, as data: who leads, by how much, where, and what cannot be told.

Knows a report's groups, families and searches; must not know how a finding is put into words
(`phrases`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wiretrial import words
from wiretrial.report import case_tables, client_words, metrics, sentences, summaries
from wiretrial.report.break_even import Crossing
from wiretrial.report.contest import Pair
from wiretrial.report.families import Family, Group
from wiretrial.report.knees import Knee
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.stats.bounds import Bound
from wiretrial.stats.compare import Comparison
from wiretrial.stats.summary import Estimate
from wiretrial.words import Noun

Kind = Literal[
    "alone",  # one scenario, compared with nobody
    "best",  # one leader; the others are worse
    "shared",  # several leaders, between which no difference is shown
    "untold",  # no difference is shown at all
    "bound",  # the generator saturated first, so that the figures are bounds
    "lacking",  # too few usable trials or messages
    "multiples",  # the others as multiples of a baseline
    "nearest",  # client libraries by their distance from the baseline
    "safest",  # never far from the best of any case
    "counted",  # who leads in how many of the levels
    "knees",  # the highest sustained rates
    "break-even",  # after how many messages a socket costs less than HTTP
]


@dataclass(frozen=True)
class Multiple:
    """How many times the leader's or the baseline's figure a label has, with the interval.

    Against a leader it is above 1: where more is better, so many times less.
    """

    label: str
    ratio: float
    low: float | None = None
    high: float | None = None
    bound: Bound = "exact"

    @classmethod
    def of(cls, label: str, found: Comparison) -> Multiple:
        """What a comparison says of `label`."""
        return cls(label, found.ratio, found.low, found.high, found.bound)


@dataclass(frozen=True)
class Finding:
    """One thing that was found. `figure` is the first leader's, in base units.

    Over several levels its ends are the least and the greatest median.
    `where` names the workload; empty where the study has only one. `base` is the baseline.
    `others` begin with the one next to the leader. `counts`: by label, in how many of the
    `levels` levels it leads.
    """

    kind: Kind
    where: str = ""
    metric: Metric | None = None
    leaders: tuple[str, ...] = ()
    figure: Estimate | None = None
    bound: Bound = "exact"
    base: str = ""
    others: tuple[Multiple, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()
    levels: int = 1
    knees: tuple[Knee, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    what: Noun = words.MESSAGE
    """What the whole report's scenarios send."""


def of_report(model: ReportModel) -> tuple[Finding, ...]:
    """All that was found, the most important first: break-even, cases, workloads, searches."""
    counted = [family for family in model.families if not family.is_outside]
    searches = dict.fromkeys(knee.group for knee in model.knees)
    several = len(counted) + len(searches) > 1
    found = [
        Finding("break-even", place.title, crossings=place.crossings) for place in model.places[:1]
    ]
    for family in sorted(counted, key=lambda family: not family.is_cases):
        found += _of_family(family, model.baselines, family.title if several else "")
    for title in searches:
        knees = tuple(knee for knee in model.knees if knee.group == title)
        found.append(Finding("knees", title if several else "", knees=knees))
    return tuple(replace(finding, what=model.what) for finding in found)


def by_workload(model: ReportModel) -> tuple[Finding, ...]:
    """Who leads each workload, whatever the study compares it with."""
    counted = [family for family in model.families if not family.is_outside]
    return tuple(
        replace(finding, what=model.what)
        for family in counted
        for finding in _of_family(family, (), family.title if len(counted) > 1 else "")
    )


def of_group(group: Group, metric: Metric, where: str = "") -> Finding:
    """What one level shows in one metric. With `where`, labels leave out what that says."""
    short = sentences.short_names(group, 2 if where else 1)
    known = [s for s in group.scenarios if metric.key in s.estimates]
    if not known:
        return Finding("lacking", where, metric, tuple(short.values()))
    leading = summaries.leaders(group, metric)
    ordered = sorted(
        (s for s in known if group.called[s.name] in leading),
        key=lambda s: s.estimates[metric.key].median,
        reverse=metric.higher_is_better,
    )
    first, leaders = ordered[0], [short[s.name] for s in ordered]
    figure, bound = first.estimates[metric.key], first.bound_of(metric)
    if len(group.scenarios) == 1:
        return Finding("alone", where, metric, tuple(leaders), figure, bound)
    others = tuple(sorted(_behind(group, metric, first, short), key=lambda other: other.ratio))
    if limited := _limited(group, metric, leading):
        names = tuple(short[s.name] for s in limited)
        return Finding("bound", where, metric, names, figure, bound, others=others)
    if not summaries.is_told(group, metric):
        pairs = group.contest.pairs.get(metric.key, ())
        kind: Kind = "untold" if any(pair.verdict != "invalid" for pair in pairs) else "lacking"
        names = tuple(short[s.name] for s in known)
        return Finding(kind, where, metric, names, figure, bound)
    kind = "best" if len(leaders) == 1 else "shared"
    return Finding(kind, where, metric, tuple(leaders), figure, bound, others=others)


def _of_family(family: Family, baselines: Sequence[str], where: str) -> Iterator[Finding]:
    if family.metric is metrics.WALL:
        yield from _driven(family, baselines, where)
        return
    if family.is_cases and (near := case_tables.nearest_of(family)):
        others = tuple(Multiple(label, ratio) for label, ratio in near.furthest.items())
        leaders = (others[0].label,)
        yield Finding("safest", where, family.metric, leaders, others=others, levels=near.told)
        return
    metric = _told_metric(family)
    base = summaries.baseline(family, baselines)
    if base and (others := _multiples(family, metric, base)):
        levels = len(family.groups)
        yield Finding("multiples", where, metric, base=base, others=others, levels=levels)
    elif len(family.groups) == 1:
        yield of_group(family.groups[0], metric, where)
    else:
        yield _over_levels(family, metric, where)


def _told_metric(family: Family) -> Metric:
    """What it is ranked by; the server's CPU where the generator saturated first in that."""
    beside = metrics.beside(family.metric)
    scenarios = [scenario for group in family.groups for scenario in group.scenarios]
    is_known = any(beside.key in scenario.estimates for scenario in scenarios)
    if beside is metrics.SERVER and family.is_bound(family.metric) and is_known:
        return beside
    return family.metric


def _over_levels(family: Family, metric: Metric, where: str) -> Finding:
    """Who leads over all levels together; else in how many of them."""
    levels = len(family.groups)
    if pooled := family.together.get(metric.key):
        behind = (_worse(pair, pair.a) for pair in pooled.against if pair.winner == pooled.best)
        tied = tuple(pair.a for pair in pooled.against if pair.winner is None)
        return Finding(
            *("shared" if tied else "best", where, metric, (pooled.best, *tied)),
            others=tuple(sorted(behind, key=lambda other: other.ratio)),
            levels=levels,
        )
    if len(family.labels) == 1:
        return Finding("alone", where, metric, family.labels, _span(family, metric), levels=levels)
    single = [of_group(group, metric) for group in family.groups]
    counts = Counter(found.leaders[0] for found in single if found.kind == "best")
    if not counts:
        kinds = Counter(found.kind for found in single)
        return Finding(kinds.most_common(1)[0][0], where, metric, family.labels, levels=levels)
    return Finding("counted", where, metric, counts=tuple(counts.most_common()), levels=levels)


def _span(family: Family, metric: Metric) -> Estimate | None:
    """The least and the greatest median over the levels, in the place of an interval."""
    known = (s.median(metric) for group in family.groups for s in group.scenarios)
    medians = sorted(value for value in known if value is not None)
    if not medians:
        return None
    middle = medians[len(medians) // 2]
    return Estimate(middle, medians[0], medians[-1], trials=len(medians), rule="none")


def _driven(family: Family, baselines: Sequence[str], where: str) -> Iterator[Finding]:
    """Client libraries, per way to connect: who needs least CPU beside the baseline."""
    for group in family.groups:
        level = family.level(group) if len(family.groups) > 1 else ""
        place = ", ".join(filter(None, (where, level)))
        base = client_words.base_of(group, baselines)
        if base is None or metrics.CLIENT.key not in base.estimates:
            yield of_group(group, metrics.WALL, place)
            continue
        name = group.called[base.name]
        multiples = [
            Multiple.of(group.called[pair.a], pair.comparison)
            for pair in group.contest.against(base.name, metrics.CLIENT)
            if pair.comparison
        ]
        others = tuple(sorted(multiples, key=lambda other: other.ratio))
        leaders = tuple(
            group.called[s.name] for s in client_words.leaders(group, base, metrics.CLIENT)
        )
        yield Finding("nearest", place, metrics.CLIENT, leaders, base=name, others=others)


def _multiples(family: Family, metric: Metric, base: str) -> tuple[Multiple, ...]:
    """The others as multiples of the baseline; over several levels the range of the ratios.

    Those that are shown to differ from it, or to equal it, at one level at least.
    """
    found = []
    for label in family.labels:
        known = (summaries.pair_of(family, group, metric, label, base) for group in family.groups)
        pairs = [pair for pair in known if pair]
        compared = [pair.comparison for pair in pairs if pair.comparison]
        if label == base or all(pair.verdict in summaries.UNDECIDED for pair in pairs):
            continue
        if len(compared) == 1:
            found.append(Multiple.of(label, compared[0]))
            continue
        ratios = sorted(one.ratio for one in compared)
        bounds = {one.bound for one in compared} - {"exact"}
        bound: Bound = "exact" if not bounds else bounds.pop() if len(bounds) == 1 else "unknown"
        found.append(Multiple(label, ratios[len(ratios) // 2], ratios[0], ratios[-1], bound))
    return tuple(sorted(found, key=lambda other: other.ratio))


def _behind(
    group: Group, metric: Metric, first: ScenarioResult, short: Mapping[str, str]
) -> Iterator[Multiple]:
    """Those that are shown to be worse than the leader."""
    for pair in group.contest.against(first.name, metric):
        if pair.winner == first.name:
            yield _worse(pair, short[pair.a])


def _worse(pair: Pair, label: str) -> Multiple:
    assert pair.comparison is not None
    is_more = pair.metric.higher_is_better
    return Multiple.of(label, pair.comparison.inverse if is_more else pair.comparison)


def _limited(group: Group, metric: Metric, leading: Sequence[str]) -> tuple[ScenarioResult, ...]:
    """The scenarios whose figures are bounds, where that leaves the first place open."""
    is_open = not summaries.is_told(group, metric)
    is_open |= bool(summaries.spared(group, metric).intersection(leading))
    return tuple(s for s in group.scenarios if s.bound(metric)) if is_open else ()
