"""The search for the highest rate in a terminal: while it lasts, and what it found.

Knows lines and columns; must not know terminals: width and colour are given.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from wiretrial.report import limits, terminal, text_blocks, units
from wiretrial.report.terminal import DEFAULT_WIDTH, ascii_only
from wiretrial.results.limits import Level, Limit


def render(limit: Limit, *, width: int = DEFAULT_WIDTH, colour: bool = False) -> str:
    """The answer in one line, what binds, every level."""
    return terminal.rendered(lambda console: _print(console, limit), width=width, colour=colour)


def of_level(level: Level, unit: str) -> str:
    """`search 1: 8,400 requests/s kept`, for a pipe."""
    outcome = "kept" if level.is_kept else f"refused: {level.why}"
    search = f"search {level.search}" if level.search else "lower level"
    return f"{search}: {units.trimmed(level.rate)} {unit} {outcome}"


def _print(console: Console, limit: Limit) -> None:
    console.print(Text(ascii_only(limits.headline(limit)), style="bold"))
    for sentence in limits.sentences(limit):
        console.print(Text(ascii_only(sentence)))
    console.print()
    text_blocks.print_block(console, limits.table(limit))
