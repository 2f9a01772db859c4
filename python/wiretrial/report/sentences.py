"""The verdict in plain words: what was found, how sure that is, what limited it.

Knows estimates and comparisons; must not know how they were drawn. What the data cannot tell is
said first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from wiretrial import warnings
from wiretrial.report import client_words, metrics, summaries, units
from wiretrial.report.contest import Pair
from wiretrial.report.families import Family, Group
from wiretrial.report.figure_words import interval_ratio, ratio_text, sentence
from wiretrial.report.knees import Knee, Step
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult, TrialRow
from wiretrial.results.model import Warning
from wiretrial.words import Noun

BOTTLENECKS = {
    "server": "the server",
    "generator": "the generator",
    "rate": "the offered rate",
    "link": "the link",
    "connections": "too few connections",
    "unknown": "unknown",
    "client": "the client",
    "waiting": "waiting",
}
OPENINGS = {
    metrics.SERVER.key: "costs the server {figure} of CPU per {message}",
    metrics.CLIENT.key: "spends {figure} of CPU per round trip",
    metrics.WALL.key: "takes {figure} for a round trip",
    metrics.THROUGHPUT.key: "reaches {figure}",
    metrics.ELAPSED.key: "takes {figure}",
    metrics.CONNECT_RATE.key: "opens {figure}",
    metrics.USER_MEMORY.key: "takes {figure} of memory per connection",
    metrics.BANDWIDTH.key: "echoes {figure}",
}
"""What a scenario does with its figure; all others are times within which it answers."""


def verdict(
    families: Sequence[Family], baselines: Sequence[str], searched: Sequence[Knee]
) -> tuple[str, ...]:
    """A paragraph per workload, then who was the limit.

    Tables of cases come first, then the workloads in the order of the study, which begins with its
    question. Levels of one workload never get a paragraph each.
    """
    counted = [family for family in families if not family.is_outside]
    several = len(counted) + len({knee.group for knee in searched}) > 1
    told: list[tuple[bool, str]] = []
    for family in counted:
        name = f"{family.title}: " if several else ""
        if parts := _of_family(family, baselines, len(counted)):
            rest = (sentence(part, family.labels) for part in parts[1:])
            text = sentence(name + " ".join([parts[0], *rest]), family.labels)
            told.append((not family.is_cases, text))
    paragraphs = [text for _, text in sorted(told, key=lambda entry: entry[0])]
    for title in dict.fromkeys(knee.group for knee in searched):
        text = summaries.knees([knee for knee in searched if knee.group == title])
        paragraphs.append(sentence(f"{title}: {text}" if several else text))
    groups = [group for family in families for group in family.groups]
    limit = bottleneck_sentence(groups, searched)
    return (*paragraphs, limit)


def _of_family(family: Family, baselines: Sequence[str], families: int) -> list[str]:
    """What can be told and what cannot, in the order in which it is to be read."""
    if family.metric is metrics.WALL:
        return client_words.told(family, baselines)
    if family.is_cases:
        return summaries.of_cases(family, baselines)
    if len(family.groups) > 1:
        return summaries.paragraph(family, baselines)
    (group,) = family.groups
    return _found(group, baselines, families)


def round_trips(families: Sequence[Family], baselines: Sequence[str]) -> tuple[str, ...]:
    """A sentence per workload of client libraries: whose round trips are short."""
    counted = [family for family in families if not family.is_outside]
    told = (
        (family, client_words.round_trips(family, baselines))
        for family in counted
        if family.metric is metrics.WALL
    )
    return tuple(
        sentence(f"{family.title}: {text}" if len(counted) > 1 else text, family.labels)
        for family, text in told
        if text
    )


def group_notes(groups: Sequence[Group], baselines: Sequence[str]) -> dict[str, str]:
    """The same paragraphs by their group's title, to stand with the group."""
    counted = [group for group in groups if not group.is_outside]
    notes: dict[str, str] = {}
    for group in counted:
        names = tuple(group.called.values())
        if said := _found(group, baselines, len(counted)):
            notes[group.title] = " ".join(sentence(text, names) for text in said)
    return notes


def bottleneck_sentence(groups: Sequence[Group], searched: Sequence[Knee] = ()) -> str:
    """Who limited how many trials, and how many are marked.

    Where nothing but searches for the highest rate was measured: at the knee and above it.
    """
    rows = [row for group in groups for s in group.scenarios for row in s.trials]
    if not rows:
        return _knee_bottlenecks(searched)
    counts = Counter(row.bottleneck for row in rows).most_common()
    if all(s.is_driven for group in groups for s in group.scenarios):
        return _driven_bottlenecks(rows)
    marked = sum(row.is_marked for row in rows)
    (first, n), *rest = counts
    text = f"The bottleneck was {BOTTLENECKS[first]} in {n:,} of {units.plural(len(rows), 'trial')}"
    if rest:
        text += f", {units.listed(f'{BOTTLENECKS[who]} in {m:,}' for who, m in rest)}"
    if not marked:
        return f"{text}; none is marked."
    return f"{text}; {marked:,} {'is' if marked == 1 else 'are'} marked."


def bottleneck_counts(trials: Sequence[TrialRow | Step]) -> str:
    """`the server in 4 of 5 and unknown in 1 of 5`."""
    counts = Counter(row.bottleneck for row in trials).most_common()
    return units.listed(f"{BOTTLENECKS[who]} in {n} of {len(trials)}" for who, n in counts)


def _knee_bottlenecks(searched: Sequence[Knee]) -> str:
    found: dict[str, list[Step]] = {}
    for knee in searched:
        for name, steps in knee.ends:
            found.setdefault(name, []).extend(steps)
    if not found:
        return "No rate of the search was sustained or refused, so no bottleneck is told."
    places = {"the knee": "at the knee", "above the knee": "just above it"}
    told = (f"{places[name]} {bottleneck_counts(steps)}" for name, steps in found.items())
    return f"The bottleneck was {'; '.join(told)} trials."


def _driven_bottlenecks(rows: Sequence[TrialRow]) -> str:
    """Where the round trips of client libraries went."""
    where = {"client": "the client's CPU", "server": "the server's CPU", "waiting": "waiting"}
    counts = Counter(row.bottleneck for row in rows).most_common()
    told = units.listed(f"{where.get(who, who)} in {n:,}" for who, n in counts)
    marked = sum(row.is_marked for row in rows)
    text = f"Most of a round trip went to {told} of {units.plural(len(rows), 'trial')}"
    if not marked:
        return f"{text}; none is marked."
    return f"{text}; {marked:,} {'is' if marked == 1 else 'are'} marked."


def twin(pair: Pair) -> str:
    """What an A/A pair says: it was measured twice, and must not differ."""
    if pair.verdict == "invalid":
        return f"A/A check not possible: {pair.b}, measured twice, has too few valid trials."
    if pair.winner is None:
        said = "equals itself within 3 %" if "equal" in pair.verdict else "shows no difference"
        return f"A/A check passed: {pair.b}, measured twice, {said}, ratio {ratio_text(pair)}."
    return f"{_twins_differ(pair)}."


def twin_warning(pair: Pair) -> Warning:
    """The same as a warning, with what to do."""
    return warnings.warn(warnings.Code.TWINS_DIFFER, _twins_differ(pair))


def _twins_differ(pair: Pair) -> str:
    return f"A/A check failed: two identical runs of {pair.b} differ, ratio {ratio_text(pair)}"


def opening(name: str, metric: Metric, figure: str, what: Noun) -> str:
    """What a scenario does, with its figure in the metric that it is ranked by."""
    does = OPENINGS.get(metric.key, "answers within {figure} ({title})")
    told = does.format(figure=figure, title=metric.title, message=what.one)
    return f"{name} {told}"


def _found(group: Group, baselines: Sequence[str], groups: int) -> list[str]:
    """What the group shows, after what it cannot tell."""
    untold = _untold(group, groups)
    return [*([untold] if untold else []), *_told(group, baselines, groups)]


def _untold(group: Group, groups: int) -> str | None:
    """Why the group's order cannot be told, None if it can."""
    pairs = group.contest.pairs.get(group.contest.metric.key, ())
    verdicts = {pair.verdict for pair in pairs}
    if not pairs:
        return None
    short = short_names(group, groups)
    names = units.listed(short.values())
    what = summaries.quantity(group.contest.metric, group.what)
    bound = units.listed(short[s.name] for s in group.scenarios if s.at_least)
    if bound and "invalid" in verdicts:
        return (
            f"the {what} of {bound} is not ranked: the load generator saturated first, so it is "
            f"{summaries.bound_words(group.contest.metric)}."
        )
    if verdicts == {"invalid"} and summaries.lacks(group, group.contest.metric):
        return f"too few {group.what.many} came to tell a {group.contest.metric.title} of {names}."
    if verdicts == {"invalid"}:
        return f"the data cannot tell: too few valid trials to compare {names}."
    if verdicts <= {"no difference shown", "invalid"}:
        return f"the data cannot tell: no difference in {what} is shown between {names}."
    return None


def _told(group: Group, baselines: Sequence[str], groups: int) -> list[str]:
    """What the group shows, in its ranked metric and in the server's CPU time."""
    ranked = group.contest.metric
    shown = (ranked, metrics.beside(ranked))
    short = short_names(group, groups)
    sentences = (_metric_sentence(group, metric, baselines, short) for metric in shown)
    return [sentence for sentence in sentences if sentence is not None]


def _metric_sentence(
    group: Group, metric: Metric, baselines: Sequence[str], short: Mapping[str, str]
) -> str | None:
    """The baseline (else the best) with its figure, and the others as multiples of it."""
    pairs = group.contest.pairs.get(metric.key, ())
    if not any(pair.winner or pair.verdict == "equal within 3 %" for pair in pairs):
        return None
    base = _base(group, metric, baselines)
    if base is None:
        return None
    estimate = base.estimates[metric.key]
    unit = metric.unit((estimate.median,), group.what)
    others = sorted(
        (pair for pair in group.contest.against(base.name, metric) if pair.comparison),
        key=lambda pair: pair.comparison.ratio if pair.comparison else 0.0,
        reverse=metric.higher_is_better,
    )
    told = summaries.few([clause for pair in others if (clause := _clause(pair, short))])
    unshown = [short[pair.a] for pair in others if pair.verdict == "no difference shown"]
    told += summaries.undecided(unshown)
    if not told:
        return None
    least = f"{summaries.bounded(metric)} " if base.bound(metric) else ""
    figure = f"{least}{unit.figure(estimate.median)} {unit.name}"
    return f"{'; '.join((opening(short[base.name], metric, figure, group.what), *told))}."


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


def _clause(pair: Pair, short: Mapping[str, str]) -> str | None:
    """How `a` stands to the baseline, None where no difference and no equality is shown."""
    if pair.verdict == "equal within 3 %":
        return f"{short[pair.a]} is equal within 3 %"
    if pair.winner is None or pair.comparison is None:
        return None
    found = pair.comparison
    multiple = "of that" if found.ratio < 1 else "times as much"
    bound = "" if found.bound == "exact" else f"{found.bound} "
    ratio = interval_ratio(replace(found, bound="exact"))
    return f"{short[pair.a]} {bound}{ratio} {multiple}"


def short_names(group: Group, groups: int) -> Mapping[str, str]:
    """The labels; names without the `subject: ` that all share, where the title says it already."""
    names = [scenario.name for scenario in group.scenarios]
    prefixes = {name.partition(": ")[0] for name in names if ": " in name}
    called = group.called
    if groups < 2 or len(prefixes) != 1 or not all(": " in name for name in called.values()):
        return called
    return {name: name.partition(": ")[2] for name in names}
