"""A family of groups in one or two sentences, however many levels it has; knees likewise.

Knows families, comparisons and knees; must not know how they are drawn. A level is told apart only
where the answer there is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wiretrial.report import case_tables, metrics, units
from wiretrial.report.contest import Pair
from wiretrial.report.metrics import Metric

if TYPE_CHECKING:
    from wiretrial.report.families import Family
    from wiretrial.report.knees import Knee
    from wiretrial.report.model import Group, ScenarioResult

QUANTITIES = {
    metrics.THROUGHPUT.key: "throughput",
    metrics.ELAPSED.key: "time",
    metrics.SERVER.key: "server CPU per message",
    metrics.WALL.key: "time per round trip",
    metrics.CLIENT.key: "client CPU per round trip",
    metrics.CONNECT_RATE.key: "rate of opening connections",
    metrics.USER_MEMORY.key: "memory per connection",
    metrics.BANDWIDTH.key: "rate of echoed bytes",
}
BEST_IS = {
    metrics.THROUGHPUT.key: "throughput is highest",
    metrics.ELAPSED.key: "the time is shortest",
    metrics.SERVER.key: "the server's CPU per message is least",
    metrics.WALL.key: "the round trip is shortest",
    metrics.CLIENT.key: "the client's CPU per round trip is least",
    metrics.CONNECT_RATE.key: "connections are opened fastest",
    metrics.USER_MEMORY.key: "the server's memory per connection is least",
    metrics.BANDWIDTH.key: "most bytes per second are echoed",
}
MOST_NAMED = 8
"""More names are no sentence."""
UNDECIDED = ("no difference shown", "invalid")


def untold(family: Family) -> list[str]:
    """What the data cannot tell, at which levels."""
    metric = family.metric
    what = QUANTITIES.get(metric.key, f"{metric.title} of the response time")
    labels = family.labels
    names = units.listed(labels) if len(labels) <= MOST_NAMED else f"any of the {len(labels)}"
    few: list[Group] = []
    short: list[Group] = []
    bound: dict[tuple[str, ...], list[Group]] = {}
    same: list[Group] = []
    for group in family.groups:
        verdicts = {pair.verdict for pair in group.contest.pairs.get(metric.key, ())}
        limited = tuple(group.called[s.name] for s in group.scenarios if s.at_least)
        if limited and "invalid" in verdicts and metric.key in metrics.BOUNDS:
            bound.setdefault(limited, []).append(group)
        elif verdicts == {"invalid"} and lacks(group, metric):
            short.append(group)
        elif verdicts == {"invalid"}:
            # One trial each, because more would show nothing, is no lack of trials.
            few += [group] if any(s.wanted != 1 for s in group.scenarios) else []
        elif verdicts and verdicts <= set(UNDECIDED):
            same.append(group)
    said = []
    if few:
        said.append(
            f"{_where(family, few)} the data cannot tell: too few valid trials to compare {names}."
        )
    if short:
        said.append(f"{_where(family, short)} too few messages came to tell a {metric.title}.")
    if family.is_cases and bound:
        # A sentence each would be a list of cases, which the table is already.
        anybody = tuple(dict.fromkeys(label for limited in bound for label in limited))
        bound = {anybody: [group for groups in bound.values() for group in groups]}
    for limited, groups in bound.items():
        said.append(
            f"{_where(family, groups)} the {what} of {units.listed(limited)} cannot be ranked, "
            f"because the generator was the limit and the figure is “{bounded(metric)}”."
        )
    if same and _is_told_together(family, metric):
        alone = f"{len(same)} of {len(family.groups)} levels show no"
        alone = "no level shows a" if len(same) == len(family.groups) else alone
        said.append(f"Taken alone, {alone} difference in {what}.")
    elif same:
        said.append(
            f"{_where(family, same)} the data cannot tell: no difference in {what} is shown "
            f"between {names}."
        )
    return said


def lacks(group: Group, metric: Metric) -> bool:
    """Whether there are trials enough, but of none the figure is known.

    So it is with a quantile of few messages.
    """
    usable = [s for s in group.scenarios if s.usable > 1]
    return len(usable) > 1 and not any(metric.key in s.estimates for s in usable)


def told(family: Family, baselines: Sequence[str]) -> list[str]:
    """The family in its ranked metric and in what stands beside it, a sentence each.

    Of cases, who is never far from the best comes first, and who stalls and what is waiting stand
    between the two.
    """
    found = [_together(family, family.metric) or _told(family, family.metric, baselines)]
    if family.is_cases:
        found.insert(0, case_tables.nearest_sentence(family))
        found += [case_tables.stall_sentence(family), case_tables.floor_sentence(family)]
    beside = metrics.beside(family.metric)
    found.append(_together(family, beside) or _told(family, beside, baselines))
    return [sentence for sentence in found if sentence]


def begins_with_what_is_told(family: Family) -> bool:
    """Whether several levels tell more than they leave open, one by one or together.

    Not where the generator was the limit: that is said first, however few levels it concerns.
    """
    metric = family.metric
    if len(family.groups) < 2 or family.is_bound(metric):
        return False
    return _is_mostly_told(family, metric) or _is_told_together(family, metric)


def knees(searched: Sequence[Knee]) -> str:
    """How high a rate each sustains, the highest first."""
    ordered = sorted(searched, key=lambda knee: knee.sustained or 0.0, reverse=True)
    found = [knee for knee in ordered if knee.sustained is not None]
    none = [knee.label for knee in ordered if knee.sustained is None]
    objective = searched[0].objective.words
    if not found:
        return f"no rate was found at which {units.listed(none)} kept {objective}."
    unit = units.fitting(units.RATES, (k.sustained for k in found if k.sustained))
    parts = []
    for knee in found:
        assert knee.sustained is not None
        least = "at least " if knee.at_least else ""
        guess = " (not confirmed)" if knee.is_open else ""
        parts.append(f"{knee.label} {least}{unit.figure(knee.sustained)}{guess}")
    text = f"the highest sustained rate with {objective}: {units.listed(parts)} {unit.name}"
    return f"{text}; {units.listed(none)} kept it at none." if none else f"{text}."


def _together(family: Family, metric: Metric) -> str | None:
    """The family over its levels at once, where the most of them alone tell nothing."""
    if not _is_told_together(family, metric):
        return None
    found = family.together[metric.key]
    unshown = [pair.a for pair in found.against if pair.verdict in UNDECIDED]
    clauses = [_shown(pair) for pair in found.against if pair.verdict not in UNDECIDED]
    clauses += [f"for {units.listed(unshown)} no difference is shown"] if unshown else []
    total = len(family.groups)
    levels = f"{found.levels} of {total}"
    if found.levels == total:
        levels = "both" if total == 2 else f"all {total}"
    together = f"over {levels} levels together ({'; '.join(clauses)})"
    return f"{_best_is(metric)} with {found.best} {together}."


def _shown(pair: Pair) -> str:
    """`gorilla 2.3 times as much, 2.1 to 2.4`; where more is better, `2.3 times gorilla, …`."""
    assert pair.comparison is not None
    is_more = pair.metric.higher_is_better
    found = pair.comparison.inverse if is_more else pair.comparison
    ratio = f"{units.significant(found.ratio)} times"
    said = f"{ratio} {pair.a}" if is_more else f"{pair.a} {ratio} as much"
    if found.low is None or found.high is None:
        return said
    return f"{said}, {units.significant(found.low)} to {units.significant(found.high)}"


def _told(family: Family, metric: Metric, baselines: Sequence[str]) -> str | None:
    """The family in one metric."""
    if len(family.labels) == 1:
        return _alone(family, metric)
    if family.is_cases:
        return _cases(family, metric)
    if against := _baseline(family, baselines):
        return _against(family, metric, against)
    return _best(family, metric)


def _best(family: Family, metric: Metric) -> str | None:
    """Who is best where, and how many times the others'."""
    where: dict[str, list[Group]] = {}
    shared: list[Group] = []
    for group in family.groups:
        leaders = _leaders(group, metric)
        if len(leaders) == 1 and _is_told(group, metric):
            where.setdefault(leaders[0], []).append(group)
        elif _is_told(group, metric):
            shared.append(group)
    clauses = []
    for label, groups in where.items():
        others = [_multiples(family, metric, other, label, groups) for other in family.labels]
        listed = "; ".join(text for text in others if text)
        clauses.append(f"with {label} {_where(family, groups)} ({listed})")
    said = [f"{_best_is(metric)} {', '.join(clauses)}"] if clauses else []
    if shared:
        names = units.listed(dict.fromkeys(x for g in shared for x in _leaders(g, metric)))
        what = QUANTITIES.get(metric.key, metric.title)
        said.append(f"the first place in {what} is shared {_where(family, shared)} by {names}")
    return f"{'; '.join(said)}." if said else None


def _against(family: Family, metric: Metric, label: str) -> str | None:
    """Everybody as multiples of the baseline."""
    groups = [group for group in family.groups if _is_told(group, metric)]
    others = [_of_base(family, metric, other, label, groups) for other in family.labels]
    clauses = [text for text in others if text]
    if not groups or not clauses:
        return None
    what = QUANTITIES.get(metric.key, metric.title)
    return f"{what} {_where(family, groups)} as multiples of {label}'s: {'; '.join(clauses)}."


def _alone(family: Family, metric: Metric) -> str | None:
    """The range over the levels of who is compared with nobody."""
    known = [m for g in family.groups for s in g.scenarios if (m := s.median(metric)) is not None]
    if not known:
        return None
    unit = units.fitting(metric.units, known)
    what = QUANTITIES.get(metric.key, f"{metric.title} of the response time")
    span = f"{unit.figure(min(known))} to {unit.figure(max(known))} {unit.name}"
    return f"{what} of {family.labels[0]}: {span} over {len(family.groups)} levels."


def _cases(family: Family, metric: Metric) -> str | None:
    """In how many cases each is the best alone."""
    count = dict.fromkeys(family.labels, 0)
    undecided = 0
    for group in family.groups:
        leaders = _leaders(group, metric)
        if len(leaders) == 1 and _is_told(group, metric):
            count[leaders[0]] += 1
        else:
            undecided += 1
    winners = sorted((item for item in count.items() if item[1]), key=lambda item: -item[1])
    if not winners:
        return None
    (first, n), *rest = winners
    total = len(family.groups)
    if n == total:
        return f"{_best_is(metric)} with {first} {family.every}."
    text = f"{_best_is(metric)} with {first} in {n} of {units.plural(total, 'case')}"
    text += "".join(f", with {label} in {m}" for label, m in rest)
    return f"{text}; in {undecided} nobody is alone at the top." if undecided else f"{text}."


def _multiples(
    family: Family, metric: Metric, label: str, base: str, groups: Sequence[Group]
) -> str | None:
    """The label's figure over those levels beside the base's, None for the base itself.

    `gorilla 2.3 to 2.4 times as much`; where more is better, `2.1 to 2.4 times gorilla`.
    """
    if label == base:
        return None
    ratios, unshown = [], []
    for group in groups:
        pair = _pair(family, group, metric, label, base)
        if pair is None or pair.comparison is None:
            continue
        ratio = pair.comparison.ratio
        ratios.append(1 / ratio if metric.higher_is_better else ratio)
        if pair.verdict in UNDECIDED:
            unshown.append(group)
    if not ratios:
        return None
    if len(unshown) == len(ratios):
        return f"for {label} no difference is shown"
    low, high = units.significant(min(ratios)), units.significant(max(ratios))
    span = low if low == high else f"{low} to {high}"
    aside = f", with no difference shown {_where(family, unshown)}" if unshown else ""
    if metric.higher_is_better:
        return f"{span} times {label}{aside}"
    return f"{label} {span} times as much{aside}"


def _of_base(
    family: Family, metric: Metric, label: str, base: str, groups: Sequence[Group]
) -> str | None:
    """`gorilla 2.3 to 2.9`: how many times the base's the label's figure is."""
    found = [_pair(family, group, metric, label, base) for group in groups]
    ratios = [pair.comparison.ratio for pair in found if pair and pair.comparison]
    if label == base or not ratios:
        return None
    low, high = units.significant(min(ratios)), units.significant(max(ratios))
    return f"{label} {low if low == high else f'{low} to {high}'}"


def _pair(family: Family, group: Group, metric: Metric, label: str, base: str) -> Pair | None:
    one, other = family.of(label, group), family.of(base, group)
    if one is None or other is None:
        return None
    pairs = group.contest.against(other.name, metric)
    return next((pair for pair in pairs if pair.a == one.name), None)


def _leaders(group: Group, metric: Metric) -> list[str]:
    """The labels that nobody is shown to beat."""
    pairs = group.contest.pairs.get(metric.key, ())
    beaten = {pair.a if pair.winner == pair.b else pair.b for pair in pairs if pair.winner}
    known = [s for s in group.scenarios if metric.key in s.estimates]
    return [group.called[s.name] for s in known if s.name not in beaten]


def _is_told_together(family: Family, metric: Metric) -> bool:
    return metric.key in family.together and not _is_mostly_told(family, metric)


def _is_mostly_told(family: Family, metric: Metric) -> bool:
    """Whether half of the levels or more show who is better, or who are equal."""
    return 2 * sum(_is_told(group, metric) for group in family.groups) >= len(family.groups)


def _is_told(group: Group, metric: Metric) -> bool:
    return any(pair.verdict not in UNDECIDED for pair in group.contest.pairs.get(metric.key, ()))


def _baseline(family: Family, baselines: Sequence[str]) -> str | None:
    def named(group: Group) -> ScenarioResult | None:
        return next((s for s in group.scenarios if s.name in baselines), None)

    return next((g.called[s.name] for g in family.groups if (s := named(g))), None)


def _where(family: Family, groups: Sequence[Group]) -> str:
    if len(groups) == len(family.groups):
        return family.every
    if family.is_cases:
        return f"in {units.plural(len(groups), 'case')}"
    return f"at {family.levels(groups)}"


def bounded(metric: Metric) -> str:
    """How a figure is called of which the generator was the limit."""
    return "at least" if metric.higher_is_better else "at most"


def _best_is(metric: Metric) -> str:
    return BEST_IS.get(metric.key, f"the {metric.title} of the response time is least")
