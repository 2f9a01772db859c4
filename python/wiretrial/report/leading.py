"""Who leads, who is beaten, and why nobody is shown to lead: what findings are decided by.

Knows groups, families and their pairs; must not know how a finding is put into words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from wiretrial.report import metrics
from wiretrial.report.contest import Pair
from wiretrial.report.families import Family, Group
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult

UNDECIDED = ("no difference shown", "invalid")
Why = Literal["untold", "overloaded", "short", "single", "lacking"]
"""Why a group shows no difference; `findings` says what each means."""


def leaders(
    group: Group, metric: Metric, without: ScenarioResult | None = None
) -> tuple[ScenarioResult, ...]:
    """The scenarios that nobody is shown to beat, best first; `without` takes no part."""
    known = [s for s in group.scenarios if metric.key in s.estimates and s is not without]
    names = {scenario.name for scenario in known}
    beaten = {
        pair.a if pair.winner == pair.b else pair.b
        for pair in group.contest.pairs.get(metric.key, ())
        if pair.winner in names
    }
    return tuple(
        sorted(
            (scenario for scenario in known if scenario.name not in beaten),
            key=lambda scenario: scenario.estimates[metric.key].median,
            reverse=metric.higher_is_better,
        )
    )


def limited(group: Group, metric: Metric) -> tuple[ScenarioResult, ...]:
    """The scenarios whose figures are bounds, where that leaves the first place open.

    A bound below somebody's figure may be the best, or not; and one that leads beside others may be
    better than they.
    """
    pairs = group.contest.pairs.get(metric.key, ())
    spared = {pair.spared for pair in pairs if pair.spared}
    leading = leaders(group, metric)
    is_open = any(scenario.name in spared for scenario in leading)
    is_open |= len(leading) > 1 and any(scenario.bound(metric) for scenario in leading)
    if not is_open and is_told(group, metric):
        return ()
    return tuple(scenario for scenario in group.scenarios if scenario.bound(metric))


def resolution(pairs: Iterable[Pair]) -> float | None:
    """The smallest difference that could be shown in each of the pairs that show none.

    Infinite where no difference at all could be shown in one of them; None where that is not known
    of each.
    """
    every = [pair.resolution for pair in pairs if pair.verdict == "no difference shown"]
    known = [one for one in every if one is not None]
    return max(known) if known and len(known) == len(every) else None


def is_told(group: Group, metric: Metric) -> bool:
    """Whether some pair of the group shows who is better, or that both are equal."""
    return any(pair.verdict not in UNDECIDED for pair in group.contest.pairs.get(metric.key, ()))


def why_untold(group: Group, metric: Metric) -> Why:
    """Why no pair of the group shows anything."""
    pairs = group.contest.pairs.get(metric.key, ())
    if any(pair.verdict == "no difference shown" for pair in pairs):
        return "untold"
    if overloaded(group, metric):
        return "overloaded"
    if metric in metrics.WAITING and lacks(group, metric):
        return "short"
    # One trial each, because more would show nothing, is no lack of trials.
    return "single" if all(s.wanted == 1 for s in group.scenarios) else "lacking"


def overloaded(group: Group, metric: Metric) -> tuple[ScenarioResult, ...]:
    """The scenarios whose response times grow with the run, so that nobody is compared by them."""
    if metric not in metrics.WAITING:
        return ()
    return tuple(scenario for scenario in group.scenarios if scenario.is_overloaded)


def lacks(group: Group, metric: Metric) -> bool:
    """Whether there are trials enough, but of none the figure is known.

    So it is with a quantile of few messages.
    """
    usable = [s for s in group.scenarios if s.usable > 1]
    return len(usable) > 1 and not any(metric.key in s.estimates for s in usable)


def base_of(group: Group, baselines: Sequence[str]) -> ScenarioResult | None:
    """What the others are multiples of; None where the study names nothing in the group.

    Nor is it one of several, each of which is for some of the others.
    """
    known = [scenario for scenario in group.scenarios if scenario.name in baselines]
    return known[0] if len(known) == 1 else None


def baseline(family: Family, baselines: Sequence[str]) -> str | None:
    """The label that the study compares the others with; None where it names none."""
    found = ((group, base_of(group, baselines)) for group in family.groups)
    return next((group.called[base.name] for group, base in found if base), None)


def pair_of(family: Family, group: Group, metric: Metric, label: str, base: str) -> Pair | None:
    """The two as they compare there; None where they do not."""
    one, other = family.of(label, group), family.of(base, group)
    if one is None or other is None:
        return None
    pairs = group.contest.against(other.name, metric)
    return next((pair for pair in pairs if pair.a == one.name and pair.comparison), None)


def ratio(group: Group, scenario: ScenarioResult, base: ScenarioResult, metric: Metric) -> float:
    """How many times the baseline's the scenario's median is; 0 where it can't be told."""
    pairs = group.contest.against(base.name, metric)
    pair = next((pair for pair in pairs if pair.a == scenario.name), None)
    if pair is not None and pair.comparison is not None:
        return pair.comparison.ratio
    own, other = scenario.median(metric), base.median(metric)
    return own / other if own and other else 0.0


def short_names(group: Group, groups: int) -> Mapping[str, str]:
    """The labels; names without the `subject: ` that all share, where the title says it already."""
    names = [scenario.name for scenario in group.scenarios]
    prefixes = {name.partition(": ")[0] for name in names if ": " in name}
    called = group.called
    if groups < 2 or len(prefixes) != 1 or not all(": " in name for name in called.values()):
        return called
    return {name: name.partition(": ")[2] for name in names}
