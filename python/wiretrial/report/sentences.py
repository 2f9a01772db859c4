"""The verdict in plain words: what was found, how sure that is, what limited it.

Knows estimates and comparisons; must not know how they were drawn. What the data cannot tell is
said first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from wiretrial.report import metrics, units
from wiretrial.report.contest import Pair
from wiretrial.report.metrics import Metric
from wiretrial.stats.summary import Estimate

if TYPE_CHECKING:
    from wiretrial.report.model import Group, ScenarioResult

BOTTLENECKS = {
    "server": "the server",
    "generator": "the generator",
    "rate": "the offered rate",
    "link": "the link",
    "unknown": "unknown",
}


def verdict(groups: Sequence[Group], baselines: Sequence[str]) -> tuple[str, ...]:
    """The sentences over all groups, those about what cannot be told first."""
    counted = [group for group in groups if not group.is_outside]
    cannot = [sentence for group in counted for sentence in _untold(group, len(counted))]
    told = [sentence for group in counted for sentence in _told(group, baselines, len(counted))]
    return (*cannot, *told, bottleneck_sentence(groups))


def bottleneck_sentence(groups: Sequence[Group]) -> str:
    """Who limited how many trials, and how many are marked."""
    rows = [row for group in groups for s in group.scenarios for row in s.trials]
    counts = Counter(row.bottleneck for row in rows).most_common()
    marked = sum(row.is_marked for row in rows)
    (first, n), *rest = counts
    text = f"The bottleneck was {BOTTLENECKS[first]} in {n:,} of {units.plural(len(rows), 'trial')}"
    if rest:
        text += f", {units.listed(f'{BOTTLENECKS[who]} in {m:,}' for who, m in rest)}"
    if not marked:
        return f"{text}; none is marked."
    return f"{text}; {marked:,} {'is' if marked == 1 else 'are'} marked."


def interval_text(estimate: Estimate, unit: units.Unit) -> str:
    """`low to high` in `unit`, empty where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{unit.figure(estimate.low)} to {unit.figure(estimate.high)}"


def ratio_text(pair: Pair) -> str:
    """`0.42 (0.40 to 0.44)`: how many times `b` the scenario `a` has."""
    found = pair.comparison
    if found is None:
        return "unknown"
    ratio = units.significant(found.ratio)
    if found.low is None or found.high is None:
        return ratio
    return f"{ratio} ({units.significant(found.low)} to {units.significant(found.high)})"


def verdict_text(pair: Pair) -> str:
    """The pair's verdict with the names of its sides."""
    if pair.verdict == "invalid":
        return "cannot be told"
    if pair.winner is None:
        return pair.verdict
    if pair.metric is metrics.SERVER:
        return f"{pair.winner} needs less"
    return f"{pair.winner} faster"


def _untold(group: Group, groups: int) -> list[str]:
    """One sentence if no pair of the group shows anything, or if the generator hid the order."""
    pairs = group.contest.pairs.get(group.contest.metric.key, ())
    where = _where(group, groups)
    if not pairs:
        return []
    names = units.listed(scenario.name for scenario in group.scenarios)
    what = _quantity(group.contest.metric)
    if bound := [s.name for s in group.scenarios if s.at_least]:
        if any(pair.verdict == "invalid" for pair in pairs):
            return [
                f"{where}The {what} of {units.listed(bound)} cannot be ranked: the generator was the"
                " limit, so the figure is “at least”."
            ]
    if all(pair.verdict == "invalid" for pair in pairs):
        return [f"{where}The data cannot tell: too few valid trials to compare {names}."]
    if all(pair.verdict in ("no difference shown", "invalid") for pair in pairs):
        return [f"{where}The data cannot tell: no difference in {what} is shown between {names}."]
    return []


def _told(group: Group, baselines: Sequence[str], groups: int) -> list[str]:
    """What the group shows, in its ranked metric and in the server's CPU time."""
    found = []
    for metric in dict.fromkeys((group.contest.metric, metrics.SERVER)):
        if sentence := _metric_sentence(group, metric, baselines):
            found.append(f"{_where(group, groups)}{sentence}")
    return found


def _metric_sentence(group: Group, metric: Metric, baselines: Sequence[str]) -> str | None:
    """The baseline (else the best) with its figure, and the others as multiples of it."""
    pairs = group.contest.pairs.get(metric.key, ())
    if not any(pair.winner or pair.verdict == "equal within 3 %" for pair in pairs):
        return None
    base = _base(group, metric, baselines)
    if base is None:
        return None
    estimate = base.estimates[metric.key]
    unit = units.fitting(metric.units, (estimate.median,))
    others = sorted(
        (pair for pair in group.contest.against(base.name, metric) if pair.comparison),
        key=lambda pair: pair.comparison.ratio if pair.comparison else 0.0,
        reverse=metric.higher_is_better,
    )
    clauses = [clause for pair in others if (clause := _clause(pair))]
    if not clauses:
        return None
    interval = interval_text(estimate, unit)
    low_high = f" ({interval})" if interval else ""
    least = "at least " if metric is metrics.THROUGHPUT and base.at_least else ""
    figure = f"{least}{unit.figure(estimate.median)}{low_high} {unit.name}"
    return f"{_opening(base.name, metric, figure)}; {units.listed(clauses)}."


def _base(group: Group, metric: Metric, baselines: Sequence[str]) -> ScenarioResult | None:
    known = [s for s in group.scenarios if metric.key in s.estimates]
    for scenario in known:
        if scenario.name in baselines:
            return scenario

    def figure(scenario: ScenarioResult) -> float:
        return scenario.estimates[metric.key].median

    if not known:
        return None
    return max(known, key=figure) if metric.higher_is_better else min(known, key=figure)


def _opening(name: str, metric: Metric, figure: str) -> str:
    if metric is metrics.SERVER:
        return f"{name} costs the server {figure} of CPU per message"
    if metric is metrics.THROUGHPUT:
        return f"{name} reaches {figure}"
    return f"{name} answers within {figure} ({metric.title})"


def _clause(pair: Pair) -> str | None:
    """How `a` stands to the baseline, None where that cannot be told."""
    if pair.verdict == "invalid":
        return None
    if pair.verdict == "no difference shown":
        return f"for {pair.a} no difference is shown"
    if pair.verdict == "equal within 3 %":
        return f"{pair.a} is equal within 3 %"
    return f"{pair.a} {ratio_text(pair)} times that"


def _quantity(metric: Metric) -> str:
    return "throughput" if metric is metrics.THROUGHPUT else f"{metric.title} of the response time"


def _where(group: Group, groups: int) -> str:
    return f"{group.title[:1].upper()}{group.title[1:]}: " if groups > 1 else ""
