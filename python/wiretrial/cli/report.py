"""`wiretrial report DIR|FILE`: the report of stored trials, in the form that is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from wiretrial.cli import output, reports
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.report import found, load_json, markdown
from wiretrial.report import text as text_report
from wiretrial.report.exports import google_benchmark, table
from wiretrial.report.model import ReportModel
from wiretrial.results import adoption
from wiretrial.results.adoption import Adopted
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder, read_all

EXAMPLES = """\b
Examples:
  wiretrial report results/demo-20260101-120000
  wiretrial report results/demo-20260101-120000 --format html -o report.html
  wiretrial report results/demo-20260101-120000 --format png -o pictures
  wiretrial report results/demo-20260101-120000 --format markdown
  wiretrial report results/demo-20260101-120000 --format csv -o trials.csv
  wiretrial report load.json --format html -o load.html
"""


class Form(StrEnum):
    """What a report can be."""

    TEXT = "text"
    HTML = "html"
    MARKDOWN = "markdown"
    SVG = "svg"
    PNG = "png"
    JSON = "json"
    CSV = "csv"
    COMPACT = "compact"
    GOOGLE_BENCHMARK = "google-benchmark"


def report(
    result: Annotated[
        Path,
        typer.Argument(metavar="DIR|FILE", help="Folder of a study's results, or a load's file."),
    ],
    form: Annotated[Form, typer.Option("--format", help="Form of the report.")] = Form.TEXT,
    file: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE|DIR", help="File to write; a folder for svg and png."
        ),
    ] = None,
) -> int:
    """Make a report again from stored trials: a study's, or a load's (`load -o FILE`)."""
    draws = form in (Form.SVG, Form.PNG)
    if draws:
        _require_folder(form, file)
    elif file:
        output.require_writable(file)
    if form in _OF_TRIALS:
        adopted = () if result.is_file() else adoption.read(ResultsFolder.open(result))
        output.emit(_OF_TRIALS[form](read_all(result), adopted), file)
        return EXIT_GOOD
    made = reports.of(result)
    if draws and file:
        _draw(made, form, file)
    elif form is Form.HTML:
        output.emit(reports.page(made), file)
    elif form is Form.COMPACT:
        output.emit(found.of_report(made).model_dump_json(by_alias=True, indent=1), file)
    elif form is Form.MARKDOWN:
        output.emit(markdown.render(made), file)
    else:
        output.emit(_text(made, colour=file is None and output.colour(sys.stdout)), file)
    return EXIT_GOOD


def _text(made: ReportModel, *, colour: bool) -> str:
    if made.is_run:
        # Nothing is estimated: it is what the load said.
        return text_report.render_load(made.trials[0], width=output.width(), colour=colour)
    return text_report.render(made, width=output.width(), colour=colour)


def _as_json(trials: Sequence[Trial], adopted: Sequence[Adopted]) -> str:
    document: dict[str, Any] = {
        "schema": "wiretrial-trials",
        "version": 1,
        "trials": [load_json(trial) for trial in trials],
    }
    if adopted:
        document["adoption"] = [row.model_dump(mode="json") for row in adopted]
    return output.as_json(document)


_OF_TRIALS: dict[Form, Callable[[Sequence[Trial], Sequence[Adopted]], str]] = {
    Form.JSON: _as_json,
    Form.CSV: table.as_csv,
    Form.GOOGLE_BENCHMARK: lambda trials, _: google_benchmark.as_text(trials),
}


def _require_folder(form: Form, folder: Path | None) -> None:
    if folder is None:
        raise UsageProblem(f"--format {form.value} makes several files", "name a folder with -o")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageProblem(
            f"-o {folder} can't be made: {error.strerror}", "name another folder"
        ) from error
    output.require_writable(folder / "probe")


def _draw(made: ReportModel, form: Form, folder: Path) -> None:
    # Not at the top: the drawing library takes longer to load than most commands take to run.
    from wiretrial.report import charts

    for name in charts.names(made):
        path = folder / f"{name}.{form.value}"
        if form is Form.SVG:
            path.write_text(charts.render_svg(made, name), encoding="utf-8")
        else:
            path.write_bytes(charts.render_png(made, name))
        output.emit(str(path), None)
