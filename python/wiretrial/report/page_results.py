"""The report's middle: what is ranked, how long messages took, what they cost.

Knows families, and which picture and table shows one; must not know how either is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from wiretrial.report import case_tables, figure_words, metrics, page_load, units
from wiretrial.report import clients as libraries
from wiretrial.report.blocks import (
    SIGNS,
    Block,
    Drawing,
    Panel,
    Panels,
    Section,
    Text,
    fold,
    heading,
    key,
)
from wiretrial.report.canvas import NARROW, Frame
from wiretrial.report.families import Family, Group
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.tables import cases, clients, rankings
from wiretrial.report.views import clients as client_views
from wiretrial.report.views import cost, levels, percentiles, ranking
from wiretrial.stats import bounds

SMALL = Frame(NARROW)
DOTS = "Dot: median over trials. Line: {interval}. Small dots: trials."
LEVELS = "Point: median over trials. Bar: {interval}. Faint dots: trials."
MARKS = key(
    f"{SIGNS['best']} best, {SIGNS['worst']} worst of its case: several where no difference between"
    " them is shown, none where none is shown at all."
)
FEWEST_FOR_PLACES = 10
"""Trials of a scenario, over all occasions: on fewer its place is provisional."""
FEW_GROUPS = 2
MOST_BARS = 12
LINES = (metrics.SERVER, metrics.GENERATOR, metrics.USER_MEMORY, metrics.KERNEL_MEMORY)
BYTES = (metrics.APPLICATION_BYTES, metrics.TRANSPORT_BYTES, metrics.WIRE_BYTES)
"""Drawn where they differ: else the lines would lie on each other."""
DIFFERENT = 1.01


def of_family(model: ReportModel, family: Family) -> Iterator[Section]:
    """The ranked metric: one section, or one per group where few stand side by side."""
    if family.metric is metrics.WALL:
        yield from _round_trips(model, family)
        return
    notes = [Text(note) for g in family.groups if (note := model.group_notes.get(g.title))]
    strips = [strip for strip in family.strips if levels.has(strip, family.metric)]
    title = family.heading if family.is_cases else f"{_head(*family.groups)}: {family.title}"
    if strips:
        drawn: list[Block] = []
        for index, strip in enumerate(strips):
            drawn += [heading(strip.title)] if len(strips) > 1 else []
            drawing = Drawing(partial(levels.picture, strip, family.metric))
            if index == len(strips) - 1:
                how = _how(family, LEVELS)
                drawing = replace(drawing, table=rankings.grid(family), key=how)
            drawn.append(drawing)
        yield Section(title, (*notes, *drawn, MARKS, *_failed(family), *_folded(family)))
    elif family.is_cases:
        found = case_tables.tables(family, model.absent)
        told: list[Block] = []
        for one in found:
            told += [heading(one.title)] if one.title else []
            told.append(cases.table(one))
        yield Section(title, (*notes, *told, cases.how_to_read(found), *_folded(family)))
    elif len(family.groups) > FEW_GROUPS:
        shown = Panels(_rankings(family), rankings.grid(family), _how(family, DOTS))
        yield Section(title, (*notes, shown, MARKS, *_failed(family), *_pairs(family)))
    else:
        yield from (_one(model, group) for group in family.groups)


def side_by_side(model: ReportModel) -> Iterator[Section]:
    """Every client library beside every other: the first thing to see."""
    found = libraries.tables(model)
    if not found:
        return
    # The first of them has every library.
    whole, *parts = found
    apart = (block for one in parts for block in fold(one.title, clients.side_by_side(one)))
    read = clients.how_to_read(model, whole)
    yield Section("Libraries side by side", (clients.side_by_side(whole), read, *apart))


def times(model: ReportModel, inside_first: Sequence[Family]) -> Section:
    """Response or service times of all families."""
    found = [block for family in inside_first for block in _times(model, family)]
    if found:
        text = "By percentile. The line ends where fewer than ten messages lie beyond."
        if not model.is_run:
            text = (
                "By percentile: the line is the median over trials, the band their range; it ends"
                " where fewer than ten messages of a trial lie beyond."
            )
        found.append(key(text))
    title = "The full distribution of round trips"
    if not all(scenario.is_driven for scenario in model.scenarios):
        kinds = {scenario.from_due for scenario in model.scenarios}
        title = {True: "Response time", False: "Service time"}[max(kinds, default=False)]
        title = title if len(kinds) < 2 else "Service and response time"
    return Section(title, tuple(found), is_detail=True)


def costs(model: ReportModel) -> Section:
    """CPU, bytes and memory: lines for the families that have a factor, bars for the others."""
    found: list[Block] = []
    charted = [family for family in model.families if family.strips and not family.is_outside]
    for family in charted:
        panels = tuple(
            Panel(
                metric.title,
                partial(levels.picture, strip, metric, SMALL),
                strip.title if len(family.strips) > 1 else "",
            )
            for metric in _lines(family)
            for strip in family.strips
            if levels.has(strip, metric)
        )
        found += [heading(family.title), Panels(panels)] if panels else []
    rest = [group for family in model.families if family not in charted for group in family.groups]
    bars = tuple(
        Panel(one.title, partial(cost.picture, rest, one), one.note) for one in cost.panels(rest)
    )
    if bars:
        uncharted = [family.title for family in model.families if family not in charted]
        found += [heading(units.listed(uncharted))] if found else []
        is_long = sum(len(group.scenarios) for group in rest) > MOST_BARS
        found += fold("Scenario by scenario", Panels(bars)) if is_long else [Panels(bars)]
    found += [key(text) for text in cost.constants(model)]
    figures = "Figures" if model.is_run else "Figures, with intervals"
    return Section("Cost", (*found, *fold(figures, rankings.costs(model))), is_detail=True)


def _round_trips(model: ReportModel, family: Family) -> Iterator[Section]:
    """A picture and a ranking for each group of client libraries."""
    found: list[Block] = []
    for group in family.groups:
        if not any(scenario.median(metrics.WALL) for scenario in group.scenarios):
            continue
        found += [heading(family.level(group))] if len(family.groups) > 1 else []
        found.append(Drawing(partial(client_views.picture, group)))
        found += fold("Figures and places", clients.round_trips(model, group))
        found += fold("Pair by pair", rankings.pairs(group))
    if found:
        scenarios = [scenario for group in family.groups for scenario in group.scenarios]
        found.append(key(client_views.KEY.format(interval=_interval(scenarios, metrics.WALL))))
        yield Section(f"Round trip and CPU: {family.title}", tuple(found), is_detail=True)


def _one(model: ReportModel, group: Group) -> Section:
    """One group's ranking, the pairs behind it folded."""
    metric = group.contest.metric
    title = f"{_head(group)}: {group.title}" if len(model.groups) > 1 else _head(group)
    found: list[Block] = []
    if group.is_outside:
        title = f"{_head(group)}: for orientation, not compared"
        found.append(key("Measured in the same blocks and the same way."))
    if note := model.group_notes.get(group.title):
        found.append(Text(note))
    table = rankings.ranking(group)
    if not any(metric.key in scenario.estimates for scenario in group.scenarios):
        found += [Text("No usable trial."), table]
    elif metric is metrics.SERVER:
        beside = [m for m in (metric, metrics.P99) if _has(group, m)]
        panels = (Panel(m.title, partial(ranking.picture, group, SMALL, m)) for m in beside)
        found.append(Panels(tuple(panels), table, _key(group)))
    else:
        found.append(Drawing(partial(ranking.picture, group), table, _key(group)))
    found += [key(text)] if (text := _provisional(group)) else []
    return Section(title, (*found, *fold("Pair by pair", rankings.pairs(group))))


def _head(*groups: Group) -> str:
    """What ranks the groups of one family; a CPU figure names its load."""
    first = groups[0]
    metric, rate = first.contest.metric, first.scenarios[0].levels.get("rate")
    if metric is not metrics.SERVER:
        return metric.title
    if isinstance(rate, int | float):
        return f"Server CPU at {units.trimmed(rate)} {first.scenarios[0].due.many}/s"
    published = {scenario.published for group in groups for scenario in group.scenarios}
    one = published.pop() if len(published) == 1 else None
    return metric.title if one is None else f"Server CPU at {units.trimmed(one)} events/s"


def _failed(family: Family) -> tuple[Block, ...]:
    """How many messages failed, where trials in which some did have figures all the same."""
    if not any(_has(group, metrics.FAILED) for group in family.groups):
        return ()
    title = "Failed, or without a reply when the load ended"
    return (heading(title), rankings.grid(family, metrics.FAILED))


def _folded(family: Family) -> tuple[Block, ...]:
    where = "in each case" if family.is_cases else "at each level"
    panels = _rankings(family)
    shown = fold(f"Ranking {where}", Panels(panels)) if panels else ()
    return (*shown, *_pairs(family))


def _rankings(family: Family) -> tuple[Panel, ...]:
    return tuple(
        Panel(family.level(group), partial(ranking.picture, group, SMALL))
        for group in family.groups
        if _has(group, family.metric)
    )


def _pairs(family: Family) -> tuple[Block, ...]:
    told = (
        block
        for group in family.groups
        if (table := rankings.pairs(group))
        for block in (heading(family.level(group)), table)
    )
    return fold("Pair by pair", *told)


def _times(model: ReportModel, family: Family) -> Iterator[Block]:
    """Along the factor, else percentile plots."""
    groups = [group for group in family.groups if any(s.curve for s in group.scenarios)]
    if not groups or family.is_cases:
        return
    what, unit = percentiles.quantity(groups[0]), percentiles.unit_of(model)
    lines = tuple(
        Panel(
            f"{metric.title}{f', {strip.title}' if len(family.strips) > 1 else ''}",
            partial(levels.picture, strip, metric, SMALL),
        )
        for strip in family.strips
        for metric in (metrics.P50, metrics.P99)
        if levels.has(strip, metric)
    )
    if not lines and len(groups) <= FEW_GROUPS:
        yield from (block for group in groups for block in _percentiles(model, family, group, unit))
        return
    yield heading(f"{what}: {_name(family)}")
    if lines and not page_load.is_given(family):
        yield Panels(lines)
    plots = (
        Panel(family.level(group), partial(percentiles.picture, model, group, SMALL))
        for group in groups
    )
    yield from fold(f"By percentile, {unit.name}", Panels(tuple(plots)))
    yield from fold(
        "Figures", *(rankings.quantiles(group, unit, family.level(group)) for group in groups)
    )


def _percentiles(
    model: ReportModel, family: Family, group: Group, unit: units.Unit
) -> Iterator[Block]:
    name = _name(family) if family.is_outside else group.title
    what = percentiles.quantity(group)
    yield heading(f"{what}, {unit.name}, log scale{f': {name}' if len(model.groups) > 1 else ''}")
    table = rankings.quantiles(group, unit, what)
    yield Drawing(partial(percentiles.picture, model, group), table)


def _name(family: Family) -> str:
    return "for orientation, not compared" if family.is_outside else family.title


def _lines(family: Family) -> tuple[Metric, ...]:
    """Which figures are drawn along the family's factor."""
    differing = tuple(
        metric for metric in BYTES if any(_differs(group, metric) for group in family.groups)
    )
    return (*LINES, *differing)


def _differs(group: Group, metric: Metric) -> bool:
    known = [value for scenario in group.scenarios if (value := scenario.median(metric))]
    return bool(known) and max(known) > DIFFERENT * min(known)


def _has(group: Group, metric: Metric) -> bool:
    return any(metric.key in scenario.estimates for scenario in group.scenarios)


def _how(family: Family, text: str) -> str:
    """How to read the pictures."""
    scenarios = [s for group in family.groups for s in group.scenarios]
    is_marked = any(row.is_marked for s in scenarios for row in s.trials)
    text = text.format(interval=_interval(scenarios, family.metric))
    return f"{text} Hollow: a marked trial." if is_marked else text


def _interval(scenarios: Sequence[ScenarioResult], metric: Metric) -> str:
    estimates = (scenario.estimates.get(metric.key) for scenario in scenarios)
    return figure_words.interval_name(one for one in estimates if one)


def _key(group: Group) -> str:
    """How to read the picture, in one line."""
    text = DOTS.format(interval=_interval(group.scenarios, group.contest.metric))
    if any(row.is_marked for s in group.scenarios for row in s.trials):
        text += " Hollow: a marked trial."
    if group.contest.ranking.brackets:
        text += " A bar at the left joins places between which no difference is shown."
    if any(scenario.bound(group.contest.metric) for scenario in group.scenarios):
        sign = bounds.SIGNS[group.contest.metric.bound].strip()
        text += f" {sign}: the load generator saturated first in a trial; the server may do better."
    if len(group.contest.ranking.ranks) < len(group.contest.ranking.order):
        text += " –: below others by a bound alone, so that its place cannot be told."
    return text


def _provisional(group: Group) -> str:
    """Of results that are kept over occasions: whose places rest on too few trials."""
    over = max((scenario.occasions for scenario in group.scenarios), default=0)
    placed = [s for s in group.ranked if s.name in group.contest.ranking.ranks]
    few = [s for s in placed if s.usable < FEWEST_FOR_PLACES]
    if over < 2 or not few:
        return ""
    what = "all" if len(few) == len(placed) else units.listed([s.label for s in few])
    return f"Provisional places, of fewer than {FEWEST_FOR_PLACES} trials: {what}."
