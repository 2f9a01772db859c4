"""Which server and protocol, in a terminal.

Knows lines and columns; must not know terminals: width and colour are given.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from wiretrial.report import choice as told
from wiretrial.report import terminal, text_blocks
from wiretrial.report.terminal import DEFAULT_WIDTH, ascii_only
from wiretrial.results.choice import Chosen


def render(chosen: Chosen, *, width: int = DEFAULT_WIDTH, colour: bool = False) -> str:
    """The answer in one line, what it rests on, and the servers that need least."""
    return terminal.rendered(lambda console: _print(console, chosen), width=width, colour=colour)


def _print(console: Console, chosen: Chosen) -> None:
    console.print(Text(ascii_only(told.headline(chosen)), style="bold"))
    for label, line in told.lines(chosen):
        terminal.labelled(console, label, line)
    console.print()
    text_blocks.print_block(console, told.table(chosen, told.MOST))
    left = len(chosen.choices) - told.MOST
    if left > 0:
        console.print(Text(f"{left} more need as much or more (--report, --format json)"))
