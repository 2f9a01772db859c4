"""How lines and tables are laid out in a terminal, whatever they say.

Knows rich; must not know results. Width and colour are given. Texts are written with signs that
every terminal can show.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

DEFAULT_WIDTH = 110
LABEL = 15
BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[num]?s|[kMG]?i?B|%)(?:\W|$))")
"""The space between a figure and its unit, where no line may break."""
GLUE = "\ue000"
"""Stands for such a space until lines are broken: nobody uses it."""
_ASCII = str.maketrans({"×": "x", "−": "-", "–": "-", "▲": "*", "▼": "-", "✗": "x"})


def rendered(write: Callable[[Console], None], *, width: int, colour: bool) -> str:
    """What `write` prints, without blanks at the ends of lines."""
    console = Console(
        width=width,
        # Without a height, rich takes 80 columns where TERM is "dumb".
        height=25,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        legacy_windows=False,
    )
    with console.capture() as captured:
        write(console)
    text = captured.get()
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines()).replace(GLUE, " ")


def titled(console: Console, title: str) -> None:
    """A blank line, then a heading."""
    console.print()
    console.print(Text(title, style="bold"))


def labelled(console: Console, label: str, value: str, *, style: str = "") -> None:
    """A line `  label   value`, wrapped under its value."""
    table = Table.grid(padding=0)
    table.add_column(width=LABEL, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(label, style=style), Text(BEFORE_UNIT.sub(GLUE, ascii_only(value))))
    console.print(Padding(table, (0, 0, 0, 2)))


def new_table(*heads: str) -> Table:
    """An empty table with these columns, the first to the left, the others to the right."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1), pad_edge=False)
    for index, head in enumerate(heads):
        table.add_column(head, justify="right" if index else "left", no_wrap=bool(index))
    return table


def ascii_only(text: str) -> str:
    """Without the signs that some terminals cannot show."""
    return (
        text.replace("µs", "us")
        .replace("≥", ">=")
        .replace("≤", "<=")
        .replace("“", '"')
        .replace("”", '"')
        .translate(_ASCII)
    )
