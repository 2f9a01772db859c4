"""`wiretrial report DIR`: the report of stored trials, in the form that is asked for."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import output, progress
from wiretrial.cli.demo import verdict as demo_verdict
from wiretrial.errors import EXIT_GOOD, StoreError
from wiretrial.report import html, load_json
from wiretrial.report import text as text_report
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import demo as demo_study
from wiretrial.studies import spec

EXAMPLES = """\b
Examples:
  wiretrial report results/demo-20260101-120000
  wiretrial report results/demo-20260101-120000 --format html -o report.html
  wiretrial report results/demo-20260101-120000 --format json -o trials.json
"""


class Form(StrEnum):
    """What a report can be."""

    TEXT = "text"
    HTML = "html"
    JSON = "json"


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A study's results.")],
    form: Annotated[Form, typer.Option("--format", help="The report's form.")] = Form.TEXT,
    file: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the report there.")
    ] = None,
) -> int:
    """Make the report of a study's stored trials again."""
    if file:
        output.require_writable(file)
    results = ResultsFolder.open(folder)
    study = spec.parse(results.document())
    trials = results.trials()
    if not trials:
        raise StoreError(
            f"{folder} holds no trial yet", f"go on with `wiretrial {study.name} --resume {folder}`"
        )
    if form is Form.JSON:
        documents = [load_json(trial) for trial in trials]
        output.emit(
            output.as_json({"schema": "wiretrial-trials", "version": 1, "trials": documents}), file
        )
        return EXIT_GOOD
    sayings = demo_verdict if study.name == demo_study.NAME else progress.no_more_to_say
    made = progress.report_of(study, trials, sayings)
    if form is Form.HTML:
        output.emit(html.render(made), file)
    else:
        wants_colour = file is None and output.colour(sys.stdout)
        output.emit(text_report.render(made, width=output.width(), colour=wants_colour), file)
    return EXIT_GOOD
