"""What a family shows, section by section: its ranking, its times, its cost.

Knows which picture suits which family: lines along a factor, a table of cases, or a ranking each.
"""

from __future__ import annotations

from markupsafe import Markup

from wiretrial.report import markup, metrics, units
from wiretrial.report.canvas import NARROW, WIDE, Frame
from wiretrial.report.families import Family, Group
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.views import cases, clients, cost, levels, pairs, percentiles, ranking
from wiretrial.stats import bounds

SMALL = Frame(NARROW)
FEW_GROUPS = 2
MOST_BARS = 12
LINES = (metrics.SERVER, metrics.GENERATOR, metrics.USER_MEMORY, metrics.KERNEL_MEMORY)
OF_A_RATE = (metrics.IDLE,)
"""What shows how much is left, where the rate is given from outside."""
BYTES = (metrics.APPLICATION_BYTES, metrics.TRANSPORT_BYTES, metrics.WIRE_BYTES)
"""Drawn where they differ: else the lines would lie on each other."""
DIFFERENT = 1.01


def results(model: ReportModel, family: Family) -> Markup:
    """The ranked metric: one section, or one per group where few stand side by side."""
    if family.metric is metrics.WALL:
        return clients.results(model, family)
    strips = [strip for strip in family.strips if levels.has(strip, family.metric)]
    title = family.heading if family.is_cases else f"{_head(family.groups[0])}: {family.title}"
    if strips:
        pictures = [
            part
            for strip in strips
            for part in (
                markup.heading(strip.title) if len(strips) > 1 else markup.NOTHING,
                markup.both(*(levels.picture(strip, family.metric, Frame(w)) for w in _WIDTHS)),
            )
        ]
        table = markup.fold("Figures", levels.table(family, family.metric))
        pictures += _against_the_maximum(family)
        how = _how(family, "Point: median over trials. Bar: 95 % interval. Faint dots: trials.")
        return markup.section(title, *pictures, how, table, *_folded(family))
    if family.is_cases:
        return markup.section(title, cases.tables(family, model.absent), *_folded(family))
    if len(family.groups) > FEW_GROUPS:
        how = _how(family, "Dot: median over trials. Line: 95 % interval. Small dots: trials.")
        table = markup.fold("Figures", cases.levels(family))
        return markup.section(title, _rankings(family), how, table, _pairs(family))
    return markup.joined(_one(model, group) for group in family.groups)


def times(model: ReportModel, family: Family) -> Markup:
    """Response or service times: along the factor, else percentile plots."""
    groups = [group for group in family.groups if any(s.curve for s in group.scenarios)]
    if not groups or family.is_cases:
        return markup.NOTHING
    name = "outside the verdict" if family.is_outside else family.title
    title = percentiles.quantity(groups[0])
    lines = [
        (f"{metric.title}{f', {strip.title}' if len(family.strips) > 1 else ''}", "", picture)
        for strip in family.strips
        for metric in (metrics.P50, metrics.P99)
        if levels.has(strip, metric)
        for picture in [levels.picture(strip, metric, SMALL)]
    ]
    if lines or len(groups) > FEW_GROUPS:
        plots = markup.panels(
            (family.level(group), "", percentiles.picture(model, group, SMALL)) for group in groups
        )
        unit = percentiles.unit_of(model)
        folded = markup.fold(f"By percentile, {unit.name}", plots)
        tables = [percentiles.table(model, g, family.level(g)) for g in groups]
        return markup.joined(
            [
                markup.heading(f"{title}: {name}"),
                markup.panels(lines),
                folded,
                markup.fold("Figures", *tables),
            ]
        )
    return markup.joined(_percentiles(model, family, group) for group in groups)


def costs(model: ReportModel) -> Markup:
    """CPU, bytes and memory: lines for the families that have a factor, bars for the others."""
    parts: list[Markup] = []
    charted = [family for family in model.families if family.strips and not family.is_outside]
    for family in charted:
        panels = markup.panels(
            (
                metric.title,
                strip.title if len(family.strips) > 1 else "",
                levels.picture(strip, metric, SMALL),
            )
            for metric in _lines(family)
            for strip in family.strips
            if levels.has(strip, metric)
        )
        if panels:
            parts += [markup.heading(family.title), panels]
    rest = [group for f in model.families if f not in charted for group in f.groups]
    if bars := markup.panels((p.title, p.note, cost.picture(rest, p)) for p in cost.panels(rest)):
        if parts:
            parts.append(markup.heading(units.listed(f.title for f in _uncharted(model, charted))))
        is_long = sum(len(group.scenarios) for group in rest) > MOST_BARS
        parts.append(markup.fold("Scenario by scenario", bars) if is_long else bars)
    parts += [markup.key(text) for text in cost.constants(model)]
    figures = "Figures" if model.is_run else "Figures, with 95 % intervals"
    table = markup.fold(figures, cost.table(model))
    return markup.section("Cost", *parts, table)


def _against_the_maximum(family: Family) -> list[Markup]:
    """Throughput where the rate is given from outside: what is delivered of what was offered."""
    strips = [strip for strip in family.strips if levels.has(strip, metrics.THROUGHPUT)]
    if family.metric is metrics.THROUGHPUT or not _has_rate(family):
        return []
    return [
        part
        for strip in strips
        for part in (
            markup.heading(f"Throughput against the theoretical maximum: {strip.title}"),
            markup.both(*(levels.picture(strip, metrics.THROUGHPUT, Frame(w)) for w in _WIDTHS)),
        )
    ]


def _lines(family: Family) -> tuple[Metric, ...]:
    """Which figures are drawn along the family's factor."""
    differing = tuple(
        metric for metric in BYTES if any(_differs(group, metric) for group in family.groups)
    )
    return (*LINES, *(OF_A_RATE if _has_rate(family) else ()), *differing)


def _has_rate(family: Family) -> bool:
    return all(scenario.offered for group in family.groups for scenario in group.scenarios)


def _differs(group: Group, metric: Metric) -> bool:
    known = [value for scenario in group.scenarios if (value := scenario.median(metric))]
    return bool(known) and max(known) > DIFFERENT * min(known)


_WIDTHS = (WIDE, NARROW)


def _uncharted(model: ReportModel, charted: list[Family]) -> list[Family]:
    return [family for family in model.families if family not in charted]


def _one(model: ReportModel, group: Group) -> Markup:
    """One group's ranking, the figures and the pairs behind it folded."""
    metric = group.contest.metric
    title = f"{_head(group)}: {group.title}" if len(model.groups) > 1 else _head(group)
    parts: list[Markup] = []
    if group.is_outside:
        title = f"{_head(group)}: outside the verdict"
        parts.append(
            Markup(
                '<p class="muted">Measured in the same blocks and the same way, for orientation; '
                "compared with nothing, outside the verdict.</p>"
            )
        )
    if note := model.group_notes.get(group.title):
        parts.append(Markup("<p>{}</p>").format(note))
    if not any(metric.key in scenario.estimates for scenario in group.scenarios):
        parts.append(Markup("<p>No usable trial.</p>"))
    elif metric is metrics.SERVER:
        beside = [m for m in (metric, metrics.P99) if _has(group, m)]
        parts.append(markup.panels((m.title, "", ranking.picture(group, SMALL, m)) for m in beside))
        parts.append(_key(group))
    else:
        parts.append(markup.both(*(ranking.picture(group, Frame(w)) for w in _WIDTHS)))
        parts.append(_key(group))
    parts.append(markup.fold("Figures", ranking.table(group)))
    parts.append(markup.fold("Pair by pair", pairs.table(group)))
    return markup.section(title, *parts)


def _head(group: Group) -> str:
    metric, rate = group.contest.metric, group.scenarios[0].levels.get("rate")
    if metric is metrics.SERVER and isinstance(rate, int | float):
        return f"Server CPU at {units.trimmed(rate)} messages/s"
    return metric.title


def _folded(family: Family) -> tuple[Markup, Markup]:
    where = "in each case" if family.is_cases else "at each level"
    return (markup.fold(f"Ranking {where}", _rankings(family)), _pairs(family))


def _rankings(family: Family) -> Markup:
    metric = family.metric
    return markup.panels(
        (family.level(group), "", ranking.picture(group, SMALL))
        for group in family.groups
        if _has(group, metric)
    )


def _pairs(family: Family) -> Markup:
    return markup.fold(
        "Pair by pair",
        *(
            part
            for group in family.groups
            if (table := pairs.table(group))
            for part in (markup.heading(family.level(group)), table)
        ),
    )


def _percentiles(model: ReportModel, family: Family, group: Group) -> Markup:
    wide, narrow = (percentiles.picture(model, group, Frame(w)) for w in _WIDTHS)
    name = "outside the verdict" if family.is_outside else group.title
    title = (
        f"{percentiles.quantity(group)}, {percentiles.unit_of(model).name}, log scale"
        f"{f': {name}' if len(model.groups) > 1 else ''}"
    )
    table = markup.fold("Figures", percentiles.table(model, group))
    return markup.joined([markup.heading(title), markup.both(wide, narrow), table])


def _has(group: Group, metric: Metric) -> bool:
    return any(metric.key in scenario.estimates for scenario in group.scenarios)


def _how(family: Family, text: str) -> Markup:
    scenarios = [s for group in family.groups for s in group.scenarios]
    if any(row.is_marked for s in scenarios for row in s.trials):
        text += " Hollow: a marked trial."
    return markup.key(text)


def _key(group: Group) -> Markup:
    """How to read the picture, in one line."""
    text = "Dot: median over trials. Line: 95 % interval. Small dots: trials."
    if any(row.is_marked for s in group.scenarios for row in s.trials):
        text += " Hollow: a marked trial."
    if group.contest.ranking.brackets:
        text += " A bar at the left joins places between which no difference is shown."
    if any(ranking.is_bound(s, group.contest.metric) for s in group.scenarios):
        sign = bounds.SIGNS[metrics.BOUNDS[group.contest.metric.key]].strip()
        text += f" {sign}: the load generator saturated first in a trial; the server may do better."
    if len(group.contest.ranking.ranks) < len(group.contest.ranking.order):
        text += " –: below others by a bound alone, so that its place cannot be told."
    return markup.key(text)
