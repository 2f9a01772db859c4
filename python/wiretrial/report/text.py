"""A study's results in a terminal: every finding, then the tables of the page.

Knows the order of the lines; must not know terminals: width and colour are given.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from wiretrial.report import page, terminal, text_blocks
from wiretrial.report.model import ReportModel
from wiretrial.report.terminal import DEFAULT_WIDTH, ascii_only


def render(model: ReportModel, *, width: int = DEFAULT_WIDTH, colour: bool = False) -> str:
    """The sentences, the tables with intervals where they fit, the marked trials, the warnings."""
    return terminal.rendered(
        lambda console: _print_report(console, model), width=width, colour=colour
    )


def _print_report(console: Console, model: ReportModel) -> None:
    console.print(Text(model.title, style="bold"))
    for sentence in model.all_sentences:
        console.print()
        console.print(Text(ascii_only(sentence)))
    for section in page.sections(model):
        text_blocks.section(console, section)
