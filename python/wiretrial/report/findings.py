"""What a study found, as data: who leads, by how much, where, and what cannot be told.

Knows a report's groups, families, searches and A/A pairs; must not know how a finding is put into
words (`phrases`). The most important comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from wiretrial.report import case_tables, leading, metrics, route_findings
from wiretrial.report.break_even import Place
from wiretrial.report.contest import Pair, Pooled
from wiretrial.report.families import Family, Group
from wiretrial.report.finding import Finding, Kind, Multiple, Part
from wiretrial.report.knees import Knee, Step
from wiretrial.report.metrics import Metric
from wiretrial.report.scenarios import ScenarioResult, TrialRow
from wiretrial.stats.bounds import Bound
from wiretrial.stats.summary import Estimate
from wiretrial.words import Noun

TOLD: tuple[Kind, ...] = ("best", "shared", "untold", "multiples")
"""What is worth a sentence beside a more important one."""
PLACES = {"the knee": "at the knee", "above the knee": "just above it"}


def of_report(
    families: Sequence[Family],
    searched: Sequence[Knee],
    *,
    baselines: Sequence[str],
    places: Sequence[Place],
    twins: Sequence[Pair],
    what: Noun,
) -> tuple[Finding, ...]:
    """All that was found: break-even, cases, workloads, searches, bottleneck, A/A pairs."""
    counted = [family for family in families if not family.is_outside]
    titles = dict.fromkeys(knee.group for knee in searched)
    several = len(counted) + len(titles) > 1
    # Who asks for HTTP or a socket asks this first; one place of several is enough.
    found = [finding for place in places[:1] for finding in _break_even(place)]
    for family in sorted(counted, key=_rank):
        where = family.title if several else ""
        found += of_family(family, baselines, where)
        found += route_findings.of_family(family, baselines, where)
    for title in titles:
        knees = tuple(knee for knee in searched if knee.group == title)
        found.append(Finding("knees", title if several else "", knees=knees))
    found.append(_bottleneck(families, searched))
    found += (Finding("twins", leaders=(pair.b,), pair=pair) for pair in twins)
    return tuple(replace(finding, what=what) for finding in found)


def by_workload(families: Sequence[Family], what: Noun) -> tuple[Finding, ...]:
    """Who leads each workload, whatever the study compares it with."""
    counted = [family for family in families if not family.is_outside]
    return tuple(
        replace(finding, what=what)
        for family in counted
        for finding in of_family(family, (), family.title if len(counted) > 1 else "")
        if not finding.is_beside
    )


def of_family(family: Family, baselines: Sequence[str], where: str = "") -> Iterator[Finding]:
    """One workload: the metric that tells most first, what stands beside it after."""
    if family.metric is metrics.WALL:
        yield from _driven(family, baselines, where)
        return
    if family.is_cases:
        yield from _cases(family, where)
        return
    base = leading.baseline(family, baselines)
    first, second = (_of_metric(family, one, base, where) for one in _metrics(family))
    yield _at_its_load(first, family)
    yield from _beside(_at_its_load(second, family), family.metric)


def of_group(group: Group, metric: Metric, where: str = "") -> Finding:
    """What one level shows in one metric. With `where`, labels leave out what that says."""
    short = leading.short_names(group, 2 if where else 1)
    leaders = leading.leaders(group, metric)
    if not leaders:
        return _untold(group, metric, where, short)
    first, names = leaders[0], tuple(short[s.name] for s in leaders)
    shown = Finding("best", where, metric, names, first.estimates[metric.key])
    shown = replace(shown, bound=first.bound_of(metric))
    if len(group.scenarios) == 1:
        return replace(shown, kind="alone")
    behind = {
        pair.a: _worse(pair, short[pair.a])
        for pair in group.contest.against(first.name, metric)
        if pair.winner == first.name
    }
    others = tuple(sorted(behind.values(), key=attrgetter("ratio")))
    if limited := leading.limited(group, metric):
        bounded = tuple(short[s.name] for s in limited)
        return replace(shown, kind="bound", leaders=bounded, base=names[0], others=others)
    if not leading.is_told(group, metric):
        return _untold(group, metric, where, short)
    known = (s.name for s in group.scenarios if metric.key in s.estimates)
    unshown = [name for name in known if name not in behind and short[name] not in names]
    against = group.contest.against(first.name, metric)
    return replace(
        shown,
        kind="best" if len(leaders) == 1 else "shared",
        others=others,
        unshown=tuple(short[name] for name in unshown),
        resolution=leading.resolution(pair for pair in against if pair.a in unshown),
    )


def _untold(group: Group, metric: Metric, where: str, short: Mapping[str, str]) -> Finding:
    overloaded = leading.overloaded(group, metric)
    known = [s for s in group.scenarios if metric.key in s.estimates]
    kind = leading.why_untold(group, metric)
    shown = {"overloaded": overloaded, "untold": known}.get(kind, group.scenarios)
    smallest = _resolution((group,), metric)
    names = tuple(short[s.name] for s in shown)
    return Finding(kind, where, metric, names, resolution=smallest if kind == "untold" else None)


def _rank(family: Family) -> tuple[bool, bool]:
    """Cases first, then what a message costs at one rate, then at each one's own."""
    return not family.is_cases, family.metric is not metrics.SERVER


def _at_its_load(finding: Finding, family: Family) -> Finding:
    """A CPU figure names its load: in a closed loop each server has a rate of its own."""
    scenarios = [scenario for group in family.groups for scenario in group.scenarios]
    is_given = any(one.is_open_loop or one.published is not None for one in scenarios)
    is_one_rate = len(scenarios) == 1 or is_given
    if finding.metric is not metrics.SERVER or is_one_rate:
        return finding
    return replace(finding, is_closed_loop=True)


def _metrics(family: Family) -> tuple[Metric, Metric]:
    """What it is ranked by and what stands beside; the other way round where bounds tell less."""
    ranked, beside = family.metric, metrics.beside(family.metric)
    scenarios = (scenario for group in family.groups for scenario in group.scenarios)
    is_known = any(beside.key in scenario.estimates for scenario in scenarios)
    if beside is metrics.SERVER and family.is_bound(ranked) and is_known:
        return beside, ranked
    return ranked, beside


def _beside(finding: Finding, ranked: Metric) -> Iterator[Finding]:
    """The finding as one of less weight; nothing where it would only repeat what is lacking."""
    kinds = {part.kind for part in finding.parts} if finding.kind == "counted" else {finding.kind}
    is_range = finding.kind == "alone" and finding.figure is not None
    if finding.metric is ranked or is_range or kinds.intersection(TOLD):
        yield replace(finding, is_beside=True)


def _of_metric(family: Family, metric: Metric, base: str | None, where: str) -> Finding:
    if base and (found := _against_base(family, metric, base, where)):
        return found
    if len(family.groups) == 1:
        return of_group(family.groups[0], metric, where)
    return _over_levels(family, metric, where)


def _over_levels(family: Family, metric: Metric, where: str) -> Finding:
    """Who leads over all levels together; else at how many of them."""
    levels = len(family.groups)
    parts = _parts(family, metric)
    if pooled := family.together.get(metric.key):
        behind = (_behind(pair, pooled) for pair in pooled.against if pair.winner == pooled.best)
        tied = tuple(pair.a for pair in pooled.against if pair.winner is None)
        return Finding(
            *("shared" if tied else "best", where, metric, (pooled.best, *tied)),
            others=tuple(sorted(behind, key=attrgetter("ratio"))),
            parts=tuple(part for part in parts if part.kind == "untold"),
            levels=levels,
            told=_fewer(pooled.levels, levels),
        )
    if len(family.labels) == 1:
        span = _span(family, metric)
        told = _fewer(span.trials if span else 0, levels)
        found = Finding("alone", where, metric, family.labels, span, levels=levels, told=told)
        return replace(found, bound=metric.bound) if family.is_bound(metric) else found
    if len(parts) == 1 and parts[0].kind != "best":
        labels, kind = parts[0].labels or family.labels, parts[0].kind
        resolution = parts[0].resolution
        return Finding(kind, where, metric, labels, levels=levels, resolution=resolution)
    return Finding("counted", where, metric, parts=parts, levels=levels)


def _parts(family: Family, metric: Metric, groups: Sequence[Group] = ()) -> tuple[Part, ...]:
    """What the levels show one by one: what most of them show comes first."""
    places: dict[tuple[Kind, tuple[str, ...]], list[Group]] = {}
    limited: dict[Kind, dict[str, None]] = {}
    for group in groups or family.groups:
        found = of_group(group, metric)
        is_led = found.kind in ("best", "shared", "alone")
        places.setdefault((found.kind, found.leaders if is_led else ()), []).append(group)
        if found.kind in ("bound", "overloaded"):
            # A sentence for each set of them would be a list of levels, as the table is already.
            limited.setdefault(found.kind, {}).update(dict.fromkeys(found.leaders))
    total = Counter({kind: 0 for kind, _ in places})
    for (kind, _), at in places.items():
        total[kind] += len(at)
    return tuple(
        Part(
            *(kind, len(at), labels or tuple(limited.get(kind, ())), _at(family, at)),
            resolution=_resolution(at, metric) if kind == "untold" else None,
        )
        for (kind, labels), at in sorted(
            places.items(), key=lambda one: (-total[one[0][0]], one[0][0], -len(one[1]))
        )
    )


def _resolution(groups: Sequence[Group], metric: Metric) -> float | None:
    every = (pair for group in groups for pair in group.contest.pairs.get(metric.key, ()))
    return leading.resolution(every)


def _at(family: Family, groups: Sequence[Group]) -> str:
    """The levels by name; nothing where they are all, and of cases, whose names are long."""
    is_all = len(groups) == len(family.groups)
    return "" if family.is_cases or is_all else family.levels(groups)


def _span(family: Family, metric: Metric) -> Estimate | None:
    """The least and the greatest median over the levels, in the place of an interval."""
    known = (s.median(metric) for group in family.groups for s in group.scenarios)
    medians = sorted(value for value in known if value is not None)
    if not medians:
        return None
    middle = medians[len(medians) // 2]
    return Estimate(middle, medians[0], medians[-1], trials=len(medians), rule="none")


def _against_base(family: Family, metric: Metric, base: str, where: str) -> Finding | None:
    """Level by level, or over all of them at once where the study declared that."""
    pooled = family.together.get(metric.key)
    if pooled is None:
        return _multiples(family, metric, base, where)
    shown = [pair for pair in pooled.against if pair.verdict not in leading.UNDECIDED]
    others = [_over_all(pair, pooled) for pair in shown]
    hidden = [pair for pair in pooled.against if pair not in shown]
    found = Finding(
        *("multiples", where, metric),
        base=base,
        others=tuple(sorted(others, key=attrgetter("ratio"), reverse=metric.higher_is_better)),
        unshown=tuple(pair.a for pair in hidden),
        levels=len(family.groups),
        told=_fewer(pooled.levels, len(family.groups)),
        is_together=True,
        resolution=leading.resolution(hidden),
    )
    return found if others else None


def _over_all(pair: Pair, pooled: Pooled) -> Multiple:
    """One ratio, or the range where the levels are shown to differ."""
    assert pair.comparison is not None
    found = Multiple.of(pair.a, pair.comparison)
    if pair.a not in pooled.ranges:
        return found
    low, high = pooled.ranges[pair.a]
    return replace(found, low=low, high=high, is_range=True)


def _multiples(family: Family, metric: Metric, base: str, where: str) -> Finding | None:
    """The others as multiples of the baseline; over several levels the range of the ratios.

    Nobody is a multiple of a bound: levels at which the baseline's figure is one are left out. None
    where nobody is shown to differ from it, or to equal it, at any of the others.
    """
    called = _called(family, where)
    owns = {group.title: family.of(base, group) for group in family.groups}
    bounded = [g for g in family.groups if (own := owns[g.title]) and own.bound(metric)]
    usable = [g for g in family.groups if g not in bounded]
    groups = [group for group in usable if leading.is_told(group, metric)]
    others, unshown, lacking = [], [], []
    hidden: list[Pair] = []
    for label in family.labels:
        known = (leading.pair_of(family, group, metric, label, base) for group in groups)
        pairs = [pair for pair in known if pair]
        if label == base or not pairs:
            continue
        if all(pair.verdict in leading.UNDECIDED for pair in pairs):
            unshown.append(called[label])
            hidden += pairs
            continue
        others.append(_range(called[label], pairs))
        lacking += [(called[label], len(pairs))] if len(pairs) < len(groups) else []
    if not others:
        return None
    left = [group for group in usable if group not in groups]
    parts = [Part("bound", len(bounded), (called[base],), _at(family, bounded))] if bounded else []
    parts += _parts(family, metric, left) if left else ()
    single = owns[family.groups[0].title] if len(family.groups) == 1 else None
    return Finding(
        *("multiples", where, metric),
        figure=single.estimates.get(metric.key) if single else None,
        base=called[base],
        others=tuple(sorted(others, key=attrgetter("ratio"), reverse=metric.higher_is_better)),
        unshown=tuple(unshown),
        resolution=leading.resolution(hidden),
        parts=tuple(parts),
        levels=len(family.groups),
        told=_fewer(len(groups), len(family.groups)),
        lacking=tuple(lacking),
    )


def _called(family: Family, where: str) -> Mapping[str, str]:
    """The labels; of a single level with `where` without what that says."""
    if len(family.groups) > 1:
        return {label: label for label in family.labels}
    (group,) = family.groups
    short = leading.short_names(group, 2 if where else 1)
    return {group.called[name]: told for name, told in short.items()}


def _range(label: str, pairs: Sequence[Pair]) -> Multiple:
    compared = [pair.comparison for pair in pairs if pair.comparison]
    if len(compared) == 1:
        return Multiple.of(label, compared[0])
    ratios = sorted(one.ratio for one in compared)
    kinds = {one.bound for one in compared} - {"exact"}
    bound: Bound = "exact" if not kinds else kinds.pop() if len(kinds) == 1 else "unknown"
    return Multiple(label, ratios[len(ratios) // 2], ratios[0], ratios[-1], bound)


def _cases(family: Family, where: str) -> Iterator[Finding]:
    """Who is never far from the best, who is best in how many, who stalls, what only waits."""
    near = safest(_times_by_case(family), family.metric, where)
    found = [near] if near else []
    found.append(replace(_of_metric(family, family.metric, None, where), is_beside=bool(near)))
    cells = [cell for table in case_tables.tables(family) for cell in table.cells]
    stalled = Counter(cell.scenario.label for cell in cells if cell.stalls)
    if stalled:
        parts = tuple(Part("stalls", n, (label,)) for label, n in stalled.items())
        found.append(Finding("stalls", where, family.metric, parts=parts, is_beside=True))
    above = [(cell.above, cell.scenario.label) for cell in cells if cell.above is not None]
    if above:
        furthest, label = max(above, key=lambda one: one[0])
        on_it = sum(cell.is_on_floor for cell in cells)
        others = (Multiple(label, 1 + furthest),) if on_it < len(above) else ()
        floors = Finding("floors", where, family.metric, others=others, is_beside=True)
        found.append(replace(floors, levels=len(above), told=on_it))
    found += _beside(_of_metric(family, metrics.SERVER, None, where), family.metric)
    yield from (replace(finding, is_cases=True) for finding in found)


def safest(
    cases: Mapping[str, Mapping[str, Estimate]], metric: Metric, where: str = ""
) -> Finding | None:
    """Who is never far from the best. `cases`: by name, the times of each label that ended.

    A case whose best time is only a bound is left out, because it may be any number of times as
    short. None where fewer than two cases, or labels with a time in each, are left, and where one
    is the best in each case, which is said otherwise.
    """
    told = {name: case for name, case in cases.items() if not _is_unbounded(case)}
    has = Counter(label for case in told.values() for label in case)
    labels = [label for label, n in has.items() if n == len(told)]
    if len(told) < 2 or len(labels) < 2:
        return None
    best = {name: min(found.median for found in case.values()) for name, case in told.items()}
    others = [
        Multiple(label, max(case[label].median / best[name] for name, case in told.items()))
        for label in labels
    ]
    first, *rest = sorted(others, key=attrgetter("ratio"))
    if first.ratio == 1:
        return None
    unbounded = tuple(name for name in cases if name not in told)
    return Finding(
        *("safest", where, metric, (first.label,)),
        others=(first, *rest),
        parts=(Part("bound", len(unbounded), unbounded),) if unbounded else (),
        levels=len(cases),
        told=_fewer(len(told), len(cases)),
        lacking=tuple((label, n) for label, n in has.items() if n < len(told)),
        is_cases=True,
    )


def _is_unbounded(case: Mapping[str, Estimate]) -> bool:
    """Whether the best time of a case is only a bound."""
    best = min(case.values(), key=lambda found: found.median, default=None)
    return best is not None and best.bound != "exact"


def _times_by_case(family: Family) -> dict[str, dict[str, Estimate]]:
    cases: dict[str, dict[str, Estimate]] = {}
    for group in family.groups:
        known = (
            (group.called[s.name], s.estimates.get(family.metric.key)) for s in group.scenarios
        )
        cases[family.level(group)] = {label: found for label, found in known if found}
    return cases


def _driven(family: Family, baselines: Sequence[str], where: str) -> Iterator[Finding]:
    """Client libraries, per way to connect: least CPU and shortest round trip by the baseline."""
    for group in family.groups:
        level = family.level(group) if len(family.groups) > 1 else ""
        place = ", ".join(filter(None, (where, level)))
        base = leading.base_of(group, baselines)
        if base is None or metrics.CLIENT.key not in base.estimates or len(group.scenarios) == 1:
            yield of_group(group, metrics.WALL, place)
            yield from _beside(of_group(group, metrics.CLIENT, place), metrics.WALL)
            continue
        yield _nearest(group, base, metrics.CLIENT, place)
        if metrics.WALL.key in base.estimates:
            yield replace(_nearest(group, base, metrics.WALL, place), is_beside=True)


def _nearest(group: Group, base: ScenarioResult, metric: Metric, where: str) -> Finding:
    compared = group.contest.against(base.name, metric)
    known = {pair.a: pair.comparison for pair in compared if pair.comparison}
    multiples = (Multiple.of(group.called[name], found) for name, found in known.items())
    # How near one is of which there is a single trial, as in a run that was stopped, is not known.
    leaders = sorted(
        (s for s in leading.leaders(group, metric, without=base) if s.name in known),
        key=lambda s: known[s.name].ratio,
    )
    return Finding(
        *("nearest", where, metric, tuple(group.called[s.name] for s in leaders)),
        figure=base.estimates[metric.key],
        base=group.called[base.name],
        others=tuple(sorted(multiples, key=attrgetter("ratio"))),
    )


def _break_even(place: Place) -> Iterator[Finding]:
    """One for each socket beside each way of HTTP."""
    pairs = groupby(place.crossings, key=lambda one: (one.socket.label, one.http.label))
    for number, (_, crossings) in enumerate(pairs):
        found = Finding("break-even", place.title, crossings=tuple(crossings))
        yield replace(found, is_beside=number > 0)


def _bottleneck(families: Sequence[Family], searched: Sequence[Knee]) -> Finding:
    """What limited how many trials; of searches alone at the knee and just above it."""
    scenarios = [s for family in families for group in family.groups for s in group.scenarios]
    rows = [row for scenario in scenarios for row in scenario.trials]
    if not rows:
        ends: dict[str, list[Step]] = {}
        for knee in searched:
            for name, steps in knee.ends:
                ends.setdefault(PLACES[name], []).extend(steps)
        return Finding(
            "bottleneck", parts=tuple(p for at, s in ends.items() for p in _limits(s, at))
        )
    return Finding(
        "bottleneck",
        metric=metrics.WALL if all(scenario.is_driven for scenario in scenarios) else None,
        parts=tuple(_limits(rows)),
        levels=len(rows),
        marked=sum(row.is_marked for row in rows),
        drifting=sum(row.drifts for row in rows),
    )


def _limits(rows: Sequence[TrialRow | Step], at: str = "") -> Iterator[Part]:
    for who, n in Counter(row.bottleneck for row in rows).most_common():
        yield Part("bottleneck", n, (who,), at)


def _worse(pair: Pair, label: str) -> Multiple:
    assert pair.comparison is not None
    found = Multiple.of(label, pair.comparison)
    return found.inverse if pair.metric.higher_is_better else found


def _behind(pair: Pair, pooled: Pooled) -> Multiple:
    """Over all levels: one ratio, or the range where they are shown to differ."""
    found = _over_all(pair, pooled)
    return found.inverse if pair.metric.higher_is_better else found


def _fewer(told: int, levels: int) -> int | None:
    """None where it is all of them."""
    return told if told < levels else None
