"""`wiretrial report DIR|FILE`: the report of stored trials, in the form that is asked for.

Knows the options; must not know how a report is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import names
from wiretrial.cli.forms import ReportForm
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial report results/demo-20260101-120000
  wiretrial report results/demo-20260101-120000 --format html -o report.html
  wiretrial report results/demo-20260101-120000 --format png -o pictures
  wiretrial report results/demo-20260101-120000 --format markdown
  wiretrial report results/demo-20260101-120000 --format csv -o trials.csv
  wiretrial report load.json --format html -o load.html
"""

app = Face()


@app.add("report", epilog=EXAMPLES)
def report(
    result: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE",
            help="Folder of a study's results, or a load's file.",
            autocompletion=names.results,
        ),
    ],
    form: Annotated[
        ReportForm, typer.Option("--format", help="Form of the report.")
    ] = ReportForm.TEXT,
    file: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE|DIR", help="File to write; a folder for svg and png."
        ),
    ] = None,
) -> int:
    """Make a report again from stored trials: a study's, or a load's (`load -o FILE`)."""
    from wiretrial.cli import reporting

    return reporting.report(result, form, file)
