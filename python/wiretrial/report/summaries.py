"""A family of groups in one or two sentences, however many levels it has; knees likewise.

Knows families, comparisons and knees; must not know how they are drawn. A level is told apart only
where the answer there is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from wiretrial.report import case_tables, metrics, units
from wiretrial.report.contest import Pair
from wiretrial.report.families import Family, Group
from wiretrial.report.knees import Knee
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.stats import bounds
from wiretrial.stats.bounds import Bound
from wiretrial.words import Noun

BEST_IS = {
    metrics.THROUGHPUT.key: "throughput is highest",
    metrics.ELAPSED.key: "the time is shortest",
    metrics.SERVER.key: "the server's CPU per {message} is least",
    metrics.WALL.key: "the round trip is shortest",
    metrics.CLIENT.key: "the client's CPU per round trip is least",
    metrics.CONNECT_RATE.key: "connections are opened fastest",
    metrics.USER_MEMORY.key: "the server's memory per connection is least",
    metrics.BANDWIDTH.key: "most bytes per second are echoed",
}
MOST_NAMED = 8
"""More names are no sentence."""
NAMED = 5
"""Of more, so many are named from the best on, and the last."""
MOST_CASES = 3
"""Of more cases that somebody lacks, only the number is said."""
MOST_SETS = 2
"""Of more sets of servers that the generator limited, no sentence each."""
UNDECIDED = ("no difference shown", "invalid")


def untold(family: Family) -> list[str]:
    """What the data cannot tell, at which levels."""
    metric = family.metric
    what = quantity(metric, family.what)
    labels = family.labels
    names = units.listed(labels) if len(labels) <= MOST_NAMED else f"any of the {len(labels)}"
    few: list[Group] = []
    short: list[Group] = []
    bound: dict[tuple[str, ...], list[Group]] = {}
    same: list[Group] = []
    for group in family.groups:
        verdicts = {pair.verdict for pair in group.contest.pairs.get(metric.key, ())}
        limited = tuple(group.called[s.name] for s in group.scenarios if s.at_least)
        if limited and "invalid" in verdicts and metric.bound != "exact":
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
        said.append(
            f"{_where(family, short)} too few {family.what.many} came to tell a {metric.title}."
        )
    if len(bound) > (0 if family.is_cases else MOST_SETS):
        # A sentence each would be a list of levels, which the table is already.
        anybody = units.listed(dict.fromkeys(label for limited in bound for label in limited))
        groups = [group for groups in bound.values() for group in groups]
        said.append(
            f"{_where(family, groups)} the {what} of {anybody} is not ranked where it is "
            f"{bound_words(metric)}: the load generator saturated first."
        )
        bound = {}
    for limited, groups in bound.items():
        said.append(
            f"{_where(family, groups)} the {what} of {units.listed(limited)} is not ranked: the "
            f"load generator saturated first, so it is {bound_words(metric)}."
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


def paragraph(family: Family, baselines: Sequence[str]) -> list[str]:
    """A family of several levels, a sentence each: what is told, and what is not.

    What is not comes first where it is the most, and where the generator was the limit, unless the
    server's CPU per message tells then what the ranked figure cannot.
    """
    metric = family.metric
    ranked, beside = _told_of(family, metric, baselines), _beside(family, baselines)
    is_bound = family.is_bound(metric)
    if is_bound and metrics.beside(metric) is metrics.SERVER:
        parts = [beside, *untold(family), ranked]
    elif not is_bound and (_is_mostly_told(family, metric) or _is_told_together(family, metric)):
        parts = [ranked, beside, *untold(family)]
    else:
        parts = [*untold(family), ranked, beside]
    return [part for part in parts if part]


def of_cases(family: Family, baselines: Sequence[str]) -> list[str]:
    """Cases, a sentence each: who is never far from the best comes first.

    Who stalls, and what is waiting, stand between time and CPU.
    """
    parts = [
        case_tables.nearest_sentence(family),
        _told_of(family, family.metric, baselines),
        case_tables.stall_sentence(family),
        case_tables.floor_sentence(family),
        _beside(family, baselines),
        *untold(family),
    ]
    return [part for part in parts if part]


def few(clauses: Sequence[str]) -> list[str]:
    """Clauses from the best on, those between the first and the last counted if they are many."""
    if len(clauses) <= MOST_NAMED:
        return list(clauses)
    between = len(clauses) - NAMED - 1
    return [*clauses[:NAMED], f"{between} more, and last {clauses[-1]}"]


def undecided(names: Sequence[str]) -> list[str]:
    """Those of whom no difference is shown, in one clause."""
    if len(names) > MOST_NAMED:
        return [f"for {len(names)} no difference is shown"]
    return [f"for {units.listed(names)} no difference is shown"] if names else []


def knees(searched: Sequence[Knee]) -> str:
    """How high a rate each sustains, the highest first."""
    ordered = sorted(searched, key=lambda knee: knee.sustained or 0.0, reverse=True)
    found = [knee for knee in ordered if knee.sustained is not None]
    none = [knee.label for knee in ordered if knee.sustained is None]
    objective = searched[0].objective.words
    if not found:
        return f"no rate was found at which {units.listed(none)} kept {objective}."
    unit = units.fitting(units.rates(searched[0].what), (k.sustained for k in found if k.sustained))
    parts = []
    for knee in found:
        assert knee.sustained is not None
        least = "at least " if knee.at_least else ""
        guess = " (not confirmed)" if knee.is_open else ""
        parts.append(f"{knee.label} {least}{unit.figure(knee.sustained)}{guess}")
    text = f"the highest sustained rate with {objective}: {units.listed(parts)} {unit.name}"
    return f"{text}; {units.listed(none)} kept it at none." if none else f"{text}."


def _told_of(family: Family, metric: Metric, baselines: Sequence[str]) -> str | None:
    return _together(family, metric) or _told(family, metric, baselines)


def _beside(family: Family, baselines: Sequence[str]) -> str | None:
    return _told_of(family, metrics.beside(family.metric), baselines)


def _together(family: Family, metric: Metric) -> str | None:
    """The family over its levels at once, where the most of them alone tell nothing."""
    if not _is_told_together(family, metric):
        return None
    found = family.together[metric.key]
    pairs = sorted(found.against, key=_worse)
    shown = few([_shown(pair) for pair in pairs if pair.verdict not in UNDECIDED])
    clauses = [*shown, *undecided([pair.a for pair in pairs if pair.verdict in UNDECIDED])]
    total = len(family.groups)
    levels = units.every(total) if found.levels == total else f"{found.levels} of {total}"
    together = f"over {levels} levels together ({'; '.join(clauses)})"
    return f"{_best_is(metric, family.what)} with {found.best} {together}."


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


def _worse(pair: Pair) -> float:
    """How far `a` is behind `b`: above 1 where it is worse."""
    assert pair.comparison is not None
    ratio = pair.comparison.ratio
    return 1 / ratio if pair.metric.higher_is_better else ratio


def _told(family: Family, metric: Metric, baselines: Sequence[str]) -> str | None:
    """The family in one metric."""
    if len(family.labels) == 1:
        return _alone(family, metric)
    if family.is_cases:
        return _cases(family, metric)
    if against := baseline(family, baselines):
        return _against(family, metric, against)
    return _best(family, metric)


def _best(family: Family, metric: Metric) -> str | None:
    """Who is best where, and how many times the others'."""
    where: dict[str, list[Group]] = {}
    shared: dict[tuple[str, ...], list[Group]] = {}
    for group in family.groups:
        leading = leaders(group, metric)
        if not is_told(group, metric) or spared(group, metric).intersection(leading):
            # A bound below somebody's figure may be the best, or not: no first place is told.
            continue
        if len(leading) == 1:
            where.setdefault(leading[0], []).append(group)
        else:
            shared.setdefault(tuple(leading), []).append(group)
    clauses = []
    for label, groups in where.items():
        listed = "; ".join(_others(family, metric, label, groups))
        clauses.append(f"with {label} {_where(family, groups)} ({listed})")
    said = [f"{_best_is(metric, family.what)} {', '.join(clauses)}"] if clauses else []
    if shared:
        what = quantity(metric, family.what, metric.title)
        places = (f"{_where(family, at)} by {units.listed(names)}" for names, at in shared.items())
        said.append(f"the first place in {what} is shared {'; '.join(places)}")
    return f"{'; '.join(said)}." if said else None


def _against(family: Family, metric: Metric, label: str) -> str | None:
    """Everybody as multiples of the baseline, where that is no bound itself; the best first."""
    groups = [
        group
        for group in family.groups
        if is_told(group, metric) and not _is_bound(family.of(label, group), metric)
    ]
    found = _against_base(family, metric, label, groups)
    if not found:
        return None
    clauses = [
        f"{other} {_span([_ratio(pair) for _, pair in pairs])}{_lacking(family, groups, pairs)}"
        for other, pairs in found
    ]
    what = quantity(metric, family.what, metric.title)
    listed = "; ".join(few(clauses))
    return f"{what} {_where(family, groups)} as multiples of {label}'s: {listed}."


def _alone(family: Family, metric: Metric) -> str | None:
    """The range over the levels of who is compared with nobody."""
    medians = {
        family.groups.index(g): m
        for g in family.groups
        for s in g.scenarios
        if (m := s.median(metric)) is not None
    }
    if not medians:
        return None
    known = [*medians.values()]
    lacking = [g for place, g in enumerate(family.groups) if place not in medians]
    unit = metric.unit(known, family.what)
    what = quantity(metric, family.what)
    span = f"{unit.figure(min(known))} to {unit.figure(max(known))} {unit.name}"
    over = f"over {len(known)} levels"
    if lacking:
        over += f" of {len(family.groups)}, without a figure {_named(family, lacking)}"
    return f"{what} of {family.labels[0]}: {span} {over}."


def _cases(family: Family, metric: Metric) -> str | None:
    """In how many cases each is the best alone."""
    count = dict.fromkeys(family.labels, 0)
    undecided = 0
    for group in family.groups:
        leading = leaders(group, metric)
        if len(leading) == 1 and is_told(group, metric):
            count[leading[0]] += 1
        else:
            undecided += 1
    winners = sorted((item for item in count.items() if item[1]), key=lambda item: -item[1])
    if not winners:
        return None
    (first, n), *rest = winners
    total = len(family.groups)
    if n == total:
        return f"{_best_is(metric, family.what)} with {first} {family.every}."
    text = f"{_best_is(metric, family.what)} with {first} in {n} of {units.plural(total, 'case')}"
    text += "".join(f", with {label} in {m}" for label, m in rest)
    return f"{text}; {unled(undecided)}." if undecided else f"{text}."


def _others(family: Family, metric: Metric, base: str, groups: Sequence[Group]) -> list[str]:
    """Everybody's figures over those levels beside the base's, the best first.

    `gorilla 2.3 to 2.4 times as much`; where more is better, `2.1 to 2.4 times gorilla`.
    """
    shown, unshown = [], []
    for label, pairs in _against_base(family, metric, base, groups):
        same = [group for group, pair in pairs if pair.verdict == "no difference shown"]
        bound = [group for group, pair in pairs if pair.verdict == "invalid"]
        if len(same) + len(bound) == len(pairs):
            unshown.append(label)
            continue
        aside = f", with no difference shown {_where(family, same)}" if same else ""
        aside += f", not told {_where(family, bound)} by a bound" if bound else ""
        # What is worse: the other way round where more is better.
        ratios = [_ratio(pair) for _, pair in pairs if pair.verdict != "invalid"]
        span = _span([_inverse(one) if metric.higher_is_better else one for one in ratios])
        more = f"{span} times {label}" if metric.higher_is_better else ""
        lacking = _lacking(family, groups, pairs)
        shown.append(f"{more or f'{label} {span} times as much'}{aside}{lacking}")
    return [*few(shown), *undecided(unshown)]


def _against_base(
    family: Family, metric: Metric, base: str, groups: Sequence[Group]
) -> list[tuple[str, list[tuple[Group, Pair]]]]:
    """Each other label with its comparisons to the base over those levels, the best first."""
    found = []
    for label in family.labels:
        pairs = [(group, pair_of(family, group, metric, label, base)) for group in groups]
        known = [(group, pair) for group, pair in pairs if pair]
        if label != base and known:
            found.append((label, known))
    return sorted(found, key=lambda one: fmean(_worse(pair) for _, pair in one[1]))


def _ratio(pair: Pair) -> tuple[float, Bound]:
    assert pair.comparison is not None
    return pair.comparison.ratio, pair.comparison.bound


def _inverse(found: tuple[float, Bound]) -> tuple[float, Bound]:
    return 1 / found[0], bounds.inverse(found[1])


def _span(ratios: Sequence[tuple[float, Bound]]) -> str:
    """`2.3 to 2.9`, or one of them where both are the same in words; `at least` where one is so.

    Where some are bounds to one side and some to the other, the range is open on both.
    """
    low, high = (units.significant(of(ratio for ratio, _ in ratios)) for of in (min, max))
    kinds = {bound for _, bound in ratios} - {"exact"}
    text = low if low == high else f"{low} to {high}"
    if len(kinds) > 1 or "unknown" in kinds:
        return f"not told by bounds ({text})"
    return f"{kinds.pop()} {text}" if kinds else text


def _lacking(family: Family, groups: Sequence[Group], pairs: Sequence[tuple[Group, Pair]]) -> str:
    """Where of those levels there is no figure: a range must not speak for them."""
    known = [group for group, _ in pairs]
    lacking = [group for group in groups if not any(group is one for one in known)]
    return f", without a figure {_named(family, lacking)}" if lacking else ""


def _named(family: Family, groups: Sequence[Group]) -> str:
    """Levels by name; of many cases their number."""
    if family.is_cases and len(groups) > MOST_CASES:
        return f"in {units.plural(len(groups), 'case')}"
    named = family.levels(groups)
    return f"in {named}" if family.is_cases else f"at {named}"


def _is_bound(scenario: ScenarioResult | None, metric: Metric) -> bool:
    """Whether the figure is a bound, because the generator was the limit."""
    return scenario is not None and bool(scenario.bound(metric))


def pair_of(family: Family, group: Group, metric: Metric, label: str, base: str) -> Pair | None:
    """The two as they compare there; None where they do not."""
    one, other = family.of(label, group), family.of(base, group)
    if one is None or other is None:
        return None
    pairs = group.contest.against(other.name, metric)
    return next((pair for pair in pairs if pair.a == one.name and pair.comparison), None)


def leaders(group: Group, metric: Metric) -> list[str]:
    """The labels that nobody is shown to beat."""
    pairs = group.contest.pairs.get(metric.key, ())
    beaten = {pair.a if pair.winner == pair.b else pair.b for pair in pairs if pair.winner}
    known = [s for s in group.scenarios if metric.key in s.estimates]
    return [group.called[s.name] for s in known if s.name not in beaten]


def spared(group: Group, metric: Metric) -> set[str]:
    """The labels that would be shown to be worse if their figures were more than bounds."""
    pairs = group.contest.pairs.get(metric.key, ())
    return {group.called[pair.spared] for pair in pairs if pair.spared}


def _is_told_together(family: Family, metric: Metric) -> bool:
    return metric.key in family.together and not _is_mostly_told(family, metric)


def _is_mostly_told(family: Family, metric: Metric) -> bool:
    """Whether half of the levels or more show who is better, or who are equal."""
    return 2 * sum(is_told(group, metric) for group in family.groups) >= len(family.groups)


def is_told(group: Group, metric: Metric) -> bool:
    """Whether some pair of the group shows who is better, or that both are equal."""
    return any(pair.verdict not in UNDECIDED for pair in group.contest.pairs.get(metric.key, ()))


def baseline(family: Family, baselines: Sequence[str]) -> str | None:
    """The label that the study compares the others with; None where it names none."""

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


def unled(count: int) -> str:
    """So many cases, levels or workloads without one leader."""
    return f"{count} {'has' if count == 1 else 'have'} no single winner"


def bound_words(metric: Metric) -> str:
    """What such a figure is."""
    return "a lower bound" if metric.higher_is_better else "an upper bound"


def quantity(metric: Metric, what: Noun, otherwise: str = "") -> str:
    """The metric within a sentence. `otherwise`: how a quantile of a time is called."""
    return what.in_text(metric.called or otherwise or f"{metric.title} of the response time")


def _best_is(metric: Metric, what: Noun) -> str:
    told = BEST_IS.get(metric.key, f"the {metric.title} of the response time is least")
    return what.in_text(told)
