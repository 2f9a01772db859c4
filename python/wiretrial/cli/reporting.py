"""Writes the report of stored trials in the form that is asked for.

Knows who writes which form; must not know what a report says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wiretrial.cli import output, reports
from wiretrial.cli.forms import ReportForm
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.report import found, load_json, load_lines, markdown
from wiretrial.report import text as text_report
from wiretrial.report.exports import google_benchmark, table
from wiretrial.report.model import ReportModel
from wiretrial.results import adoption, starts
from wiretrial.results.adoption import Adopted
from wiretrial.results.model import Trial
from wiretrial.results.starts import Start
from wiretrial.results.store import ResultsFolder, read_all


@dataclass(frozen=True)
class Beside:
    """What a folder of results holds beside its trials."""

    adopted: Sequence[Adopted] = ()
    started: Sequence[Start] = ()

    @classmethod
    def of(cls, result: Path) -> Beside:
        """That of a folder; a file holds nothing else."""
        if result.is_file():
            return cls()
        results = ResultsFolder.open(result)
        return cls(adoption.read(results), starts.read(results))


def report(result: Path, form: ReportForm, file: Path | None) -> int:
    """Writes it to a file, a folder for pictures, or standard output."""
    draws = form in (ReportForm.SVG, ReportForm.PNG)
    if draws:
        _require_folder(form, file)
    elif file:
        output.require_writable(file)
    if form in _OF_TRIALS:
        beside = Beside.of(result)
        output.emit(_OF_TRIALS[form](read_all(result), beside), file)
        return EXIT_GOOD
    made = reports.of(result)
    if draws and file:
        _draw(made, form, file)
    elif form is ReportForm.HTML:
        output.emit(reports.page(made), file)
    elif form is ReportForm.COMPACT:
        output.emit(found.of_report(made).to_json(), file)
    elif form is ReportForm.MARKDOWN:
        output.emit(markdown.render(made), file)
    else:
        output.emit(_text(made, colour=file is None and output.colour(sys.stdout)), file)
    return EXIT_GOOD


def _text(made: ReportModel, *, colour: bool) -> str:
    if made.is_run:
        # Nothing is estimated: it is what the load said.
        return load_lines.render(made.trials[0], width=output.width(), colour=colour)
    return text_report.render(made, width=output.width(), colour=colour)


def _as_json(trials: Sequence[Trial], beside: Beside) -> str:
    document: dict[str, Any] = {
        "schema": "wiretrial-trials",
        "version": 1,
        "trials": [load_json(trial) for trial in trials],
    }
    if beside.adopted:
        document["adoption"] = [row.model_dump(mode="json") for row in beside.adopted]
    if beside.started:
        document["starts"] = [row.model_dump(mode="json") for row in beside.started]
    return output.as_json(document)


_OF_TRIALS: dict[ReportForm, Callable[[Sequence[Trial], Beside], str]] = {
    ReportForm.JSON: _as_json,
    ReportForm.CSV: lambda trials, beside: table.as_csv(trials, beside.adopted),
    ReportForm.GOOGLE_BENCHMARK: lambda trials, _: google_benchmark.as_text(trials),
}


def _require_folder(form: ReportForm, folder: Path | None) -> None:
    if folder is None:
        raise UsageProblem(f"--format {form.value} makes several files", "name a folder with -o")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageProblem(
            f"-o {folder} can't be made: {error.strerror}", "name another folder"
        ) from error
    output.require_writable(folder / "probe")


def _draw(made: ReportModel, form: ReportForm, folder: Path) -> None:
    # Not at the top: the drawing library takes longer to load than most commands take to run.
    from wiretrial.report import charts

    for name in charts.names(made):
        path = folder / f"{name}.{form.value}"
        if form is ReportForm.SVG:
            path.write_text(charts.render_svg(made, name), encoding="utf-8")
        else:
            path.write_bytes(charts.render_png(made, name))
        output.emit(str(path), None)
