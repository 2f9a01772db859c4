"""An advice about machines in a terminal.

Knows lines and columns; must not know terminals: width and colour are given.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from wiretrial.report import advice as told
from wiretrial.report import terminal
from wiretrial.report.terminal import DEFAULT_WIDTH, ascii_only
from wiretrial.results.advice import Advice


def render(advice: Advice, *, width: int = DEFAULT_WIDTH, colour: bool = False) -> str:
    """The answer in one line, and what it rests on."""
    return terminal.rendered(lambda console: _print(console, advice), width=width, colour=colour)


def _print(console: Console, advice: Advice) -> None:
    console.print(Text(ascii_only(told.headline(advice)), style="bold"))
    before = ""
    for label, line in told.lines(advice):
        terminal.labelled(console, "" if label == before else label, line)
        before = label
    # In one line however narrow the terminal is, so that it can be copied.
    console.print(Text(f"confirm: {advice.command}"), soft_wrap=True)
