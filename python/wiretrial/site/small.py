"""The small picture of a result on the first page: the best few of its first table of figures.

Knows tables and how a picture is laid out; must not know where the tables come from, so that a
study of which figures alone are kept has the same picture as one with all of its trials.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wiretrial.report import metrics, palette, units
from wiretrial.report.blocks import NO_FIGURE, Cell, Section, Table
from wiretrial.report.canvas import Frame, Padding, Picture, Row, broken
from wiretrial.report.shown import told
from wiretrial.report.views import axes
from wiretrial.report.views.plot import Plot, log, placed

MOST = 6
"""Rows of the picture."""
LEAST = 2
COUNTS = ("Place", "Trials", "Marked")
"""Columns of figures that tell nobody apart."""
WIDTH = 340
ROW = 30
PADDING = Padding(144, 84, 4, 4)
LONGEST_NAME = 20
_LEVEL = re.compile(r"[\d,.]+ ")
"""How a row begins that is a level, as `100 connections`, and no scenario."""
_FIGURE = re.compile(r"(?:[≥≤] )?(?P<number>[\d,]*\.?\d+)(?P<unit> \D*)?")
_INTERVAL = re.compile(r"([\d,.]+) to ([\d,.]+)")


@dataclass(frozen=True)
class Small:
    """A picture with the words above and below it."""

    title: str
    note: str
    picture: Picture


def of(sections: Sequence[Section]) -> Small | None:
    """The picture of the first table that has something to compare; None where none has."""
    for section in sections:
        for block in told(section):
            if isinstance(block, Table) and (found := _compared(section.title, block)):
                return _drawn(*found)
    return None


def _compared(section: str, table: Table) -> tuple[str, bool, list[tuple[str, Cell]]] | None:
    """A title, whether more is better, and each row's name and figure; None: fewer than two."""
    metric = re.split(r"[:,]", section)[0]
    more = any(one.higher_is_better for one in metrics.METRICS if one.title == metric)
    names = [at for at, column in enumerate(table.columns) if not column.is_figure]
    rows = table.rows[: len(table.rows) - table.has_floor]
    called = [", ".join(row[at].text for at in names) for row in rows]
    heads = [column.title.replace("\n", ", ") for column in table.columns]
    if rows and all(map(_LEVEL.match, called)):
        # Levels stand downwards: at the last of them, the columns are what is compared.
        level, pairs = called[-1], [*zip(heads[1:], _valued(rows[-1][1:]), strict=True)]
    else:
        columns = {
            at: _valued([row[at] for row in rows])
            for at, column in enumerate(table.columns)
            if column.is_figure and column.title not in COUNTS
        }
        at = max(columns, key=lambda one: sum(bool(c.value) for c in columns[one]), default=0)
        cells = columns.get(at, [NO_FIGURE] * len(called))
        level, pairs = heads[at], [*zip(called, cells, strict=True)]
    found = [(name, cell) for name, cell in pairs if cell.value and cell.value > 0]
    if len(found) < LEAST:
        return None
    # The unit stands in the corner of a table of levels, or above a ranking's column.
    unit = next((one for one in (heads[0], level) if one.startswith(f"{metric},")), "")
    workload = section.partition(": ")[2]
    told_first = ": ".join(filter(None, (unit or section, workload if unit else "")))
    parts = (told_first, "" if level in ("Median", unit) else level)
    return ", ".join(filter(None, parts)), more, found


def _valued(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with their values; those of older results have them in their texts alone.

    A value in another unit than the first's is left out: texts say no base unit.
    """
    if any(cell.value for cell in cells):
        return list(cells)
    found = [_FIGURE.fullmatch(cell.text) for cell in cells]
    unit = next((one["unit"] for one in found if one), None)
    return [
        _with(cell, _number(one["number"])) if one and one["unit"] == unit else cell
        for cell, one in zip(cells, found, strict=True)
    ]


def _with(cell: Cell, value: float) -> Cell:
    found = _INTERVAL.fullmatch(cell.aside[0]) if cell.aside else None
    low, high = map(_number, found.groups()) if found else (None, None)
    return replace(cell, value=value, low=low, high=high)


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _drawn(title: str, more: bool, found: Sequence[tuple[str, Cell]]) -> Small:
    best_first = sorted(found, key=lambda pair: pair[1].value or 0.0, reverse=more)
    shown = best_first[:MOST]
    rows: list[Row] = [
        {
            "y": y,
            "name": broken(name, LONGEST_NAME),
            "figure": cell.text,
            "text": f"{name}: {cell.text}",
            **_ends(cell),
        }
        for y, (name, cell) in enumerate(shown)
    ]
    domain = axes.domain_of([row[end] for row in rows for end in ("x", "low", "high")])
    x, y = log(domain, labels=False, grid=False), placed(-0.5, len(rows) - 0.5)
    plot = Plot(Frame(WIDTH), PADDING, ROW * len(rows), x, y)
    plot.draw("rule", rows, x="low", x2="high", strokeWidth=3, strokeCap="round", **_COLOUR)
    plot.draw("point", rows, size=70, **_COLOUR)
    ink: Row = {"fontSize": 12, "color": palette.INK}
    for lines in (1, 2):
        named = [row for row in rows if row["name"].count("\n") == lines - 1]
        lift = 0 if lines == 1 else -7
        plot.draw("text", named, text="name", x=-142, dy=lift, lineBreak="\n", **ink)
    plot.draw("text", rows, text="figure", x=plot.width + 10, fontWeight=600, **ink)
    left = len(found) - len(shown)
    note = f"{'more' if more else 'less'} is better"
    note = f"{note}; {left} more in the study" if left else note
    said = units.listed(f"{name} {cell.text}" for name, cell in shown)
    return Small(title, note, plot.picture(f"{title}, best first: {said}."))


_COLOUR: Row = {"color": palette.scenario(0)}


def _ends(cell: Cell) -> dict[str, float]:
    """The figure and its interval, as far as a log axis can show it."""
    value = cell.value or 0.0
    low = cell.low if cell.low and cell.low > 0 else value
    return {"x": value, "low": low, "high": cell.high or value}
