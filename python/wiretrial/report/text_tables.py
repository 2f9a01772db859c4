"""A study's tables in a terminal: levels, searches, claims.

Knows rows and columns; must not know what stands around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wiretrial.report import adoption, metrics, sentences, units
from wiretrial.report import break_even as break_evens
from wiretrial.report import clients as clients_of
from wiretrial.report import held as held_tables
from wiretrial.report.case_tables import CaseTable, Cell, most_together, time_words
from wiretrial.report.claims import ClaimRow
from wiretrial.report.families import Family, Group, unit_of
from wiretrial.report.knees import Knee
from wiretrial.report.marks import CLAIM_MARKS, claim_ratio
from wiretrial.report.scenarios import ScenarioResult
from wiretrial.report.terminal import ascii_only, fits, new_table
from wiretrial.results.adoption import Adopted

Column = TypeVar("Column")

NARROW_HEAD = 9
"""Heads without intervals are wrapped here; a longer word stays whole."""
INTERVAL = re.compile(r" \([^()]* to [^()]*\)")


def levels(console: Console, family: Family) -> list[Table]:
    """A row per level and a column per label, or the other way round where that fits better.

    With intervals where the width allows. Where not even the medians fit, as many tables below each
    other as the width makes of the labels.
    """
    made = [_levels(family, family.labels, with_intervals=True)]
    if len(family.labels) > len(family.groups):
        made += [_by_label(family, with_intervals=wide) for wide in (True, False)]
    if fitting := next((one for one in made if fits(console, one)), None):
        return [fitting]
    return _below_each_other(
        console, family.labels, lambda some: _levels(family, some, with_intervals=False)
    )


def cases(console: Console, table: CaseTable) -> list[Table]:
    """A row per subject, a column per case; with as much beside the times as the width allows.

    Where not even the times fit, as many tables below each other as the width makes of the columns.
    """
    made = [_cases(table, with_intervals=True), _cases(table, with_intervals=False)]
    if fitting := next((one for one in made if fits(console, one)), None):
        return [fitting]
    return _below_each_other(
        console, range(len(table.columns)), lambda places: _part(table, places)
    )


def how_to_read(found: Sequence[CaseTable]) -> tuple[str, ...]:
    """What the marks in those tables say, a line each."""
    cells = [cell for table in found for cell in table.cells]
    lines = []
    if any(cell.is_best for cell in cells):
        lines.append("* best of its case, - worst: shown to differ from all without that mark")
    if any(table.has_floors for table in found):
        lines.append("in brackets: how far above the theoretical minimum (floor)")
    if (most := most_together(found)) > 1:
        lines.append(f"trials that mostly wait ran {most} at a time")
    if any(cell.is_single for cell in cells):
        lines.append("1: one trial, which shows no difference")
    if any(cell.is_bound for cell in cells):
        lines.append("<=: the generator was the limit in a trial; the server may be faster")
    if any(cell.stalls for cell in cells):
        lines.append("x stalled: the server stopped answering, and the trial was ended for that")
    return tuple(lines)


def clients(console: Console, table: clients_of.Table) -> Table:
    """A row per library; with the multiples of the bare socket where the width allows."""
    found = _clients(table, with_ratios=True)
    return found if fits(console, found) else _clients(table, with_ratios=False)


def knees(found: Sequence[Knee]) -> Table:
    """A row per search."""
    table = new_table("subject", "sustained\n/s", "confirmed", "refused at\n/s", "trials", "why")
    table.columns[-1].justify = "left"
    table.columns[-1].no_wrap = False
    for knee in sorted(found, key=lambda knee: knee.sustained or 0.0, reverse=True):
        table.add_row(
            knee.label,
            ascii_only(knee.figure),
            "yes" if knee.is_confirmed else "no",
            "-" if knee.refused is None else units.trimmed(knee.refused.offered),
            str(len(knee.steps)),
            knee.why,
        )
    return table


def adopted(console: Console, rows: Sequence[Adopted]) -> list[Table]:
    """A row per subject; as many tables below each other as the width makes of the columns."""
    texts = [[ascii_only(text).replace("–", "-") for text in row] for row in adoption.rows(rows)]
    columns = range(len(adoption.COLUMNS))
    return _below_each_other(console, columns, lambda shown: _adopted(texts, shown))


def held(console: Console, found: held_tables.Table) -> list[Table]:
    """A row per server, or per server and number of connections; intervals where they fit.

    Where not even the medians fit, as many tables below each other as the width makes of the
    columns.
    """
    columns = range(len(found.columns))
    whole = _held(found, columns, with_intervals=True)
    if fits(console, whole):
        return [whole]
    return _below_each_other(
        console, columns, lambda shown: _held(found, shown, with_intervals=False)
    )


def claims(rows: Sequence[ClaimRow]) -> Table:
    """A row per claim."""
    table = new_table("published", "there", "here", "verdict")
    table.columns[-1].justify = "left"
    table.columns[-1].no_wrap = False
    for row in rows:
        table.add_row(
            ascii_only(f"{row.text} ({row.claim.source})"),
            row.published,
            ascii_only(claim_ratio(row)),
            ascii_only(f"{CLAIM_MARKS[row.verdict]} {row.verdict}: {row.why}"),
        )
    return table


def break_even(place: break_evens.Place) -> Table:
    """A row per pair and quantity."""
    table = new_table(*break_evens.HEAD)
    table.columns[-1].justify = "left"
    for row in break_evens.rows(place):
        table.add_row(*(ascii_only(text) for text in row))
    return table


def _below_each_other(
    console: Console,
    columns: Sequence[Column],
    table_of: Callable[[Sequence[Column]], Table],
) -> list[Table]:
    """Tables of all these columns, each with as many as the width allows, and one at least."""
    tables = []
    left = columns
    while left:
        some = [table_of(left[:count]) for count in range(len(left), 0, -1)]
        table = next((one for one in some if fits(console, one)), some[-1])
        tables.append(table)
        left = left[len(table.columns) - 1 :]
    return tables


def _held(found: held_tables.Table, shown: Sequence[int], *, with_intervals: bool) -> Table:
    titles = [ascii_only(found.columns[index][0]) for index in shown]
    heads = [title[:1].lower() + title[1:] for title in titles]
    if with_intervals:
        heads = [head.replace(", ", "\n") for head in heads]
    else:
        heads = [_narrow(head.replace(",", "")) for head in heads]
    table = new_table("server", *heads)
    table.columns[0].no_wrap = True
    for name, *texts in found.rows:
        cells = [ascii_only(texts[index]).replace("–", "-") for index in shown]
        cells = cells if with_intervals else [INTERVAL.sub("", cell) for cell in cells]
        table.add_row(Text(name), *(Text(cell) for cell in cells))
    return table


def _narrow(head: str) -> str:
    return "\n".join(wrap(head, NARROW_HEAD, break_long_words=False))


def _adopted(texts: Sequence[Sequence[str]], shown: Sequence[int]) -> Table:
    heads = [adoption.COLUMNS[index][0].replace(" ", "\n", 1) for index in shown]
    table = new_table("subject", *heads)
    table.columns[0].no_wrap = True
    for name, *cells in texts:
        table.add_row(Text(name), *(Text(cells[index]) for index in shown))
    return table


def _part(table: CaseTable, places: Sequence[int]) -> Table:
    """Some of the columns, and the rows that have something there."""
    rows = [
        replace(row, cells=tuple(row.cells[place] for place in places))
        for row in table.rows
        if any(row.cells[place] for place in places)
    ]
    columns = tuple(table.columns[place] for place in places)
    return _cases(
        replace(table, columns=columns, rows=tuple(rows)), with_intervals=False, between="\n"
    )


def _cases(table: CaseTable, *, with_intervals: bool, between: str = " ") -> Table:
    made = new_table("", *("\n".join(column.head) for column in table.columns))
    made.columns[0].no_wrap = True
    for row in table.rows:
        shown = (_case(cell, with_intervals, between) for cell in row.cells)
        # Text: what stands in brackets would else be taken for markup.
        made.add_row(row.label, *(Text(ascii_only(text)) for text in shown))
    for missing in table.absent:
        made.add_row(missing.subject, "unavailable  ", *("" for _ in table.columns[1:]))
    if table.has_floors:
        floors = (column.floor_ns for column in table.columns)
        made.add_row("floor", *(time_words(ns) + "    " if ns else "-   " for ns in floors))
    return made


def _case(cell: Cell | None, with_interval: bool, between: str) -> str:
    if cell is None:
        return "-  "
    if cell.estimate is None:
        return "x stalled  " if cell.stalls else "invalid  "
    parts = [cell.time_words]
    unit = units.fitting(units.TIMES, (cell.estimate.median,))
    interval = sentences.interval_text(cell.estimate, unit) if with_interval else ""
    parts += [f"({interval} {unit.short})"] if interval else []
    above = f"[{cell.above_words}]" if cell.above_words else ""
    mark = "*" if cell.is_best else "-" if cell.is_worst else " "
    marks = f" {mark}{'1' if cell.is_single else ' '}"
    if between == " ":
        return " ".join([*parts, above]).rstrip() + marks
    return f"{' '.join(parts)}{marks}{between}{above}{'   ' if above else ''}"


def _clients(table: clients_of.Table, *, with_ratios: bool) -> Table:
    heads = (f"{protocol}\nus, CPU us" for protocol in table.protocols)
    found = new_table("library", *heads)
    for row in table.rows:
        cells = (row.cells.get(protocol) for protocol in table.protocols)
        found.add_row(row.name, *(_client(cell, with_ratios) for cell in cells))
    return found


def _client(cell: clients_of.Cell | None, with_ratios: bool) -> str:
    if cell is None:
        return "-"
    parts = []
    for metric, ratio in (
        (metrics.WALL, cell.wall_ratio),
        (metrics.CLIENT, cell.client_ratio),
    ):
        value = cell.scenario.median(metric)
        figure = "-" if value is None else units.MICROSECONDS.figure(value)
        times = f" (x{units.significant(ratio, 2)})" if ratio and with_ratios else ""
        parts.append(f"{figure}{times}")
    return ", ".join(parts)


def _levels(family: Family, labels: Sequence[str], *, with_intervals: bool) -> Table:
    unit, corner = _unit(family)
    table = new_table(corner, *labels)
    table.columns[0].no_wrap = True
    for group in family.groups:
        cells = (_cell(family.of(label, group), group, unit, with_intervals) for label in labels)
        table.add_row(family.level(group), *cells)
    return table


def _by_label(family: Family, *, with_intervals: bool) -> Table:
    unit, corner = _unit(family)
    table = new_table(corner, *(family.level(group).replace(", ", "\n") for group in family.groups))
    table.columns[0].no_wrap = True
    for label in family.labels:
        cells = (
            _cell(family.of(label, group), group, unit, with_intervals) for group in family.groups
        )
        table.add_row(label, *cells)
    return table


def _unit(family: Family) -> tuple[units.Unit, str]:
    """What the figures are in, and how the corner says so."""
    metric = family.metric
    unit = unit_of(family.groups, metric)
    per = "/message" if metric in metrics.PER_MESSAGE else ""
    return unit, f"{ascii_only(unit.short)}{per}"


def _cell(
    scenario: ScenarioResult | None, group: Group, unit: units.Unit, with_interval: bool
) -> str:
    metric = group.contest.metric
    estimate = None if scenario is None else scenario.estimates.get(metric.key)
    if scenario is None or estimate is None:
        return "-"
    best, _ = group.contest.extremes
    bound = ascii_only(scenario.bound(metric))
    interval = sentences.interval_text(estimate, unit) if with_interval else ""
    figure = f"{bound}{unit.figure(estimate.median)}{f' ({interval})' if interval else ''}"
    return f"{figure} {'*' if scenario.name in best else ' '}"
