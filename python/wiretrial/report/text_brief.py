"""The last screen of a study: the answer, one table, the gravest warnings.

Knows lines and columns; must not know terminals: width and colour are given. What is said, and
what is left out, is `brief`'s.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wiretrial.report import blocks, brief, clients, metrics, text_blocks, units
from wiretrial.report.model import ReportModel
from wiretrial.report.tables import clients as client_tables
from wiretrial.report.tables import rankings, searches
from wiretrial.report.terminal import DEFAULT_WIDTH, ascii_only, labelled, new_table, rendered

NARROWEST = (20, 14)
"""No workload, and no label, is cut below these widths."""
INTERVAL = re.compile(r" \([^()]*\)")
GAP = 3
"""Blanks between columns."""


def render(model: ReportModel, *, width: int = DEFAULT_WIDTH, colour: bool = False) -> str:
    """At most five lines of answer, one table, at most five warnings."""
    return rendered(
        lambda console: _print(console, model), width=min(width, brief.WIDTH), colour=colour
    )


def _print(console: Console, model: ReportModel) -> None:
    for number, sentence in enumerate(brief.answer(model, console.width)):
        style = "bold" if not number else ""
        console.print(Text(ascii_only(sentence), style=style))
    table, more = _table(console, model)
    if table is not None:
        console.print()
        console.print(table)
        if more:
            console.print(Text(f"{units.plural(more, 'row')} more in the report", style="dim"))
    shown, more = brief.warnings(model)
    if shown:
        console.print()
    for warning in shown:
        labelled(console, "warning", warning, style="yellow")
    if more:
        labelled(console, "", f"{units.plural(more, 'warning')} more in the report")


def _table(console: Console, model: ReportModel) -> tuple[Table | None, int]:
    """The table that says most, and how many of its rows are left out."""
    inside = [family for family in model.families if not family.is_outside]
    if any(family.metric is metrics.WALL for family in inside):
        return _clients(console, clients.tables(model)[0])
    if found := brief.scenarios(model) or brief.safest(model) or brief.overview(model):
        return _plain(console, found), found.more
    if not inside and model.knees:
        return _first(console, searches.found(model.knees)), 0
    if not inside:
        return None, 0
    return _first(console, rankings.grid(inside[0])), 0


def _first(console: Console, table: blocks.Table) -> Table:
    """As much of the table as fits the width."""
    return text_blocks.table(console, table)[0]


def _clients(console: Console, table: clients.Table) -> tuple[Table, int]:
    """The libraries that cost least beside the bare socket."""
    rows = sorted(table.rows, key=_multiple)[: brief.MOST_ROWS]
    shown = client_tables.side_by_side(replace(table, rows=tuple(rows)))
    return _first(console, shown), len(table.rows) - len(rows)


def _multiple(row: clients.Row) -> float:
    """The mean multiple of the bare socket's CPU; the bare socket itself comes first."""
    ratios = [cell.client_ratio for cell in row.cells.values() if cell.client_ratio]
    return fmean(ratios) if ratios else 0.0


def _plain(console: Console, found: brief.Table) -> Table:
    """With intervals where they fit; else the figures whole, and long names cut."""
    texts = [[ascii_only(cell) for cell in row] for row in (found.heads, *found.rows)]
    if _needed(texts) > console.width:
        texts = [[INTERVAL.sub("", cell) for cell in row] for row in texts]
    table = new_table(*texts[0])
    over = max(_needed(texts) - console.width, 0)
    for index, column in enumerate(table.columns):
        if index and not _is_name(found, index):
            continue
        widest = max(len(row[index]) for row in texts)
        column.width = max(widest - over, min(widest, NARROWEST[bool(index)]))
        over -= widest - column.width
        if index:
            column.overflow, column.justify = "ellipsis", "left"
    for row in texts[1:]:
        table.add_row(*map(Text, row))
    return table


def _needed(texts: Sequence[Sequence[str]]) -> int:
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return sum(widths) + GAP * (len(widths) - 1)


def _is_name(found: brief.Table, column: int) -> bool:
    """Whether labels stand there, not figures."""
    return not any(row[column][:1].isdigit() for row in found.rows)
