"""Scenarios against each other: places, levels, pairs, percentiles, costs.

Knows groups and families; must not know what stands around a table.
"""

from __future__ import annotations

from dataclasses import replace

from wiretrial.report import figure_words, metrics, units
from wiretrial.report.blocks import NOTHING, Cell, Column, Table, words
from wiretrial.report.families import Family, Group, unit_of
from wiretrial.report.metrics import Metric
from wiretrial.report.model import ReportModel
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.tables import cells, limits

BESIDE = (
    *(metrics.SERVER, metrics.DATABASE, metrics.BACKEND, metrics.MEMORY),
    *(metrics.P50, metrics.P99, metrics.REACH_P50, metrics.FAILED, metrics.GENERATOR),
)

MOST_PAIRS = 300
"""A table of more pairs has the declared ones alone: nobody reads 703 of 38 servers."""
MOST_COSTS = limits.MOST_WITH_EVIDENCE
"""Of more scenarios no table has all costs: rankings show what ranks them, and what stands beside
it; the table of trials has the rest."""


def ranking(group: Group) -> Table:
    """A row per scenario, best first: the figure that ranks them, then what stands beside it."""
    ranked = group.contest.metric
    shown = (ranked, *_beside(group, ranked))
    fitted = {metric.key: unit_of((group,), metric) for metric in shown}
    marked = [sum(row.is_marked for row in scenario.trials) for scenario in group.ranked]
    columns = [Column("Place"), *words("Scenario")]
    columns += [
        cells.column(metric, fitted[metric.key], group.what, is_spare=metric is not ranked)
        for metric in shown
    ]
    columns.append(Column("Trials", is_spare=True))
    rows = []
    for scenario in group.ranked:
        place = str(group.contest.ranking.ranks.get(scenario.name, NOTHING))
        figures = (cells.of(scenario, metric, fitted[metric.key]) for metric in shown)
        trials = _marked(Cell(str(scenario.usable)), scenario)
        rows.append((Cell(place), cells.named(group, scenario), *figures, trials))
    if any(marked):
        columns.append(Column("Marked"))
        told = [Cell(f"{n} of {len(s.trials)}" if n else NOTHING) for s, n in _with(group, marked)]
        rows = [(*row, cell) for row, cell in zip(rows, told, strict=True)]
    return Table(tuple(columns), tuple(rows), names=2)


def _marked(cell: Cell, scenario: ScenarioResult | None) -> Cell:
    """With the number of trials that never settled."""
    if scenario is None or not scenario.drifting:
        return cell
    return replace(cell, aside=(*cell.aside, f"{scenario.drifting} drifting"))


def _with(group: Group, marked: list[int]) -> list[tuple[ScenarioResult, int]]:
    return list(zip(group.ranked, marked, strict=True))


def _beside(group: Group, ranked: Metric) -> list[Metric]:
    known = {key for scenario in group.scenarios for key in scenario.estimates}
    if ranked is metrics.CONNECT_RATE:
        return [metric for metric in metrics.HELD if metric is not ranked]
    return [metric for metric in BESIDE if metric is not ranked and metric.key in known]


def grid(family: Family, metric: Metric | None = None) -> Table:
    """Levels and labels crossed, the longer of both downwards; the best of each level is marked."""
    metric = metric or family.metric
    unit = unit_of(family.groups, metric)
    levels = tuple(Cell(family.level(group)) for group in family.groups)
    labels = tuple(Cell(label, colour=cells.colour_of(family, label)) for label in family.labels)
    rows = []
    for label in family.labels:
        row = []
        for group in family.groups:
            scenario = family.of(label, group)
            mark = cells.mark_in(group, scenario) if metric is family.metric else ""
            row.append(_marked(cells.of(scenario, metric, unit, mark=mark), scenario))
        rows.append(tuple(row))
    across, down = levels, labels
    if len(labels) <= len(levels):
        across, down, rows = labels, levels, list(zip(*rows, strict=True))
    corner = cells.column(metric, unit, family.what).title
    heads = (Column(cell.text.replace(", ", "\n")) for cell in across)
    return Table(
        (*words(corner), *heads),
        tuple((name, *row) for name, row in zip(down, rows, strict=True)),
    )


def pairs(group: Group) -> Table | None:
    """A row per pair: its ratio in the ranked metric, and in what stands beside it."""
    shown = [
        metric
        for metric in (group.contest.metric, metrics.beside(group.contest.metric))
        if group.contest.pairs.get(metric.key)
    ]
    if not shown:
        return None
    called = group.called
    known = [
        [replace(one, a=called.get(one.a, one.a), b=called.get(one.b, one.b)) for one in pair]
        for pair in zip(*(group.contest.pairs[metric.key] for metric in shown), strict=True)
    ]
    declared = [pair for pair in known if pair[0].is_declared]
    if len(known) > MOST_PAIRS and declared:
        known = declared
    is_mixed = len({pair[0].is_declared for pair in known}) > 1
    columns = [*words("Pair", "Declared")] if is_mixed else [*words("Pair")]
    for metric in shown:
        columns += [Column(f"{metric.title} ratio"), *words("Verdict")]
    rows = []
    for pair in known:
        row = [Cell(f"{pair[0].a} / {pair[0].b}")]
        row += [Cell("yes" if pair[0].is_declared else "exploratory")] if is_mixed else []
        for one in pair:
            row += [Cell(figure_words.ratio_text(one)), Cell(figure_words.verdict_text(one))]
        rows.append(tuple(row))
    return Table(tuple(columns), tuple(rows))


def quantiles(group: Group, unit: units.Unit, what: str) -> Table:
    """A row per scenario, a column per quantile of the time that messages took."""
    heads = (Column(metric.title) for metric in metrics.WAITING)
    rows = tuple(
        (
            cells.named(group, scenario),
            *(
                Cell(NOTHING if value is None else unit.figure(value), value=value)
                for metric in metrics.WAITING
                for value in [scenario.median(metric)]
            ),
        )
        for scenario in group.ranked
    )
    return Table((*words(f"{what}, {unit.name}"), *heads), rows)


def costs(model: ReportModel) -> Table | None:
    """All cost figures with their intervals, a row per scenario; None where they are too many."""
    if len(model.scenarios) > MOST_COSTS:
        return None
    known = {key for scenario in model.scenarios for key in scenario.estimates}
    what = model.groups[0].what
    shown = [metric for metric in metrics.COSTS if metric.key in known]
    fitted = {metric.key: unit_of(model.groups, metric) for metric in shown}
    rows = tuple(
        (
            Cell(scenario.name, colour=scenario.colour),
            *(cells.of(scenario, metric, fitted[metric.key]) for metric in shown),
        )
        for group in model.groups
        for scenario in group.ranked
    )
    heads = (cells.column(metric, fitted[metric.key], what) for metric in shown)
    return Table((*words("Scenario"), *heads), rows)
