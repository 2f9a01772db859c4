"""Blocks in a terminal: texts, lists, and tables that fit the width.

Knows lines and columns; must not know what a block says. A table that is too wide loses first its
spare columns, then what stands beside its figures; what still does not fit goes into a second
table below. Columns of words are wrapped.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from rich.console import Console
from rich.table import Table as Lines
from rich.text import Text as Line

from wiretrial.report.blocks import SIGNS, Cell, Items, Section, Table, Text, Told
from wiretrial.report.shown import told
from wiretrial.report.terminal import ascii_only, labelled, new_table, titled

MOST_ITEMS = 12
NARROW_HEAD = 9
"""Heads above bare figures are wrapped here; a longer word stays whole."""
WORDS = 20
"""Columns of words are not made narrower than this, or than their longest text."""
GAP = 3
"""Blanks between columns."""


def section(console: Console, part: Section) -> None:
    """What a terminal can show of it, under its title; nothing where that is nothing."""
    shown = told(part)
    if shown and not isinstance(shown[0], Items):
        titled(console, part.title)
    for block in shown:
        print_block(console, block)


def table(console: Console, whole: Table) -> list[Lines]:
    """The table, or its parts below each other."""
    spare = [index for index, column in enumerate(whole.columns) if column.is_spare]
    for count in range(len(spare) + 1):
        left_out = spare[len(spare) - count :]
        shown = whole.part([i for i in range(len(whole.columns)) if i not in left_out])
        if _width(shown, bare=False) <= console.width:
            return [_lines(shown, bare=False)]
    if spare:
        whole = whole.part([i for i in range(len(whole.columns)) if i not in spare])
    return [_lines(part, bare=True) for part in _parts(whole, console.width)]


def print_block(console: Console, block: Told) -> None:
    """A text, a list, or a table."""
    match block:
        case Text(text=text, style="heading"):
            console.print(Line(f"\n{ascii_only(text)}"))
        case Text(text=text, style=style):
            console.print(Line(ascii_only(text), style="dim" if style == "key" else ""))
        case Items(label=label, items=items):
            console.print()
            for item in items[:MOST_ITEMS]:
                labelled(console, label, item.line, style="yellow")
            if (more := len(items) - MOST_ITEMS) > 0:
                labelled(console, "", f"{more:,} more in the page")
        case Table():
            for number, part in enumerate(table(console, block)):
                if number:
                    console.print()
                console.print(part)


def _parts(whole: Table, width: int) -> Iterator[Table]:
    """Tables of all columns, each with the names and as many of the others as the width allows."""
    names, left = list(range(whole.names)), list(range(whole.names, len(whole.columns)))
    while left:
        some = (whole.part([*names, *left[:count]]) for count in range(len(left), 0, -1))
        fitting = (part for part in some if _width(part, bare=True) <= width)
        part = next(fitting, None) or whole.part([*names, left[0]])
        yield part
        left = left[len(part.columns) - len(names) :]


def _lines(shown: Table, *, bare: bool) -> Lines:
    heads, *rows = _texts(shown, bare=bare)
    made = new_table(*heads)
    for column, about in zip(made.columns, shown.columns, strict=True):
        column.justify = "right" if about.is_figure else "left"
        column.no_wrap = about.is_figure
        column.overflow = "fold"
    for row in rows:
        # Text: what stands in brackets would else be taken for markup.
        made.add_row(*map(Line, row))
    return made


def _texts(shown: Table, *, bare: bool) -> list[list[str]]:
    """All cells as they stand in the terminal, the heads first; `bare`: figures alone."""
    marked = [any(row[index].mark for row in shown.rows) for index in range(len(shown.columns))]
    rows = [
        [
            _cell(cell, bare=bare and column.is_figure, leaves_room=has_marks and column.is_figure)
            for cell, column, has_marks in zip(row, shown.columns, marked, strict=True)
        ]
        for row in shown.rows
    ]
    return [[_head(column.title, bare=bare) for column in shown.columns], *rows]


def _head(title: str, *, bare: bool) -> str:
    text = ascii_only(title)
    text = text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"
    if bare:
        lines = text.replace(", ", "\n").split("\n")
        return "\n".join(
            part for line in lines for part in wrap(line, NARROW_HEAD, break_long_words=False)
        )
    return text.replace(", ", "\n")


def _cell(cell: Cell, *, bare: bool, leaves_room: bool) -> str:
    """Text and what stands beside it; in a column with marks each figure has a place for one."""
    text = cell.text if bare or not cell.aside else f"{cell.text} ({'; '.join(cell.aside)})"
    sign = SIGNS[cell.mark]
    if leaves_room:
        text = f"{text} {sign or ' '}"
    elif sign:
        text = f"{sign} {text}"
    return ascii_only(text)


def _width(shown: Table, *, bare: bool) -> int:
    """How many columns of the terminal it needs; words can be wrapped."""
    needed = 0
    for column, cells in zip(
        shown.columns, zip(*_texts(shown, bare=bare), strict=True), strict=True
    ):
        widest = max(len(line) for cell in cells for line in cell.split("\n"))
        needed += widest if column.is_figure else min(widest, WORDS)
    return needed + GAP * (len(shown.columns) - 1)
