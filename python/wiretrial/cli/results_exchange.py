"""Results and other tools: what is written for them, read from them, and compared.

Knows who writes which form; must not know how results are kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from wiretrial import suggest
from wiretrial.cli import output, reports
from wiretrial.cli.forms import ExportForm
from wiretrial.cli.output import Format
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.report import kept as kept_trials
from wiretrial.report import versus
from wiretrial.report.exports import google_benchmark, hlog, table
from wiretrial.report.model import ReportModel
from wiretrial.results import imported, kept
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder, read_all

METRICS = (
    "service_time",
    "response_time",
    "first_byte_time",
    "pacing_lag",
    "connect_time",
    "tls_time",
    "resumed_time",
    "settings_time",
    "upgrade_time",
    "failed_time",
    "delivery_time",
    "reach_time",
    "message_time",
)


def export(source: Path, form: ExportForm, metric: str, file: Path | None) -> int:
    """Writes trials in a form that other tools read."""
    if metric not in METRICS:
        raise UsageProblem(f"--metric {metric}: unknown", suggest.remedy(metric, METRICS))
    if file:
        output.require_writable(file)
    if form is ExportForm.PARQUET:
        _require_parquet(file)
    if form is ExportForm.KEPT:
        return _keep(source, file)
    trials = read_all(source)
    if form is ExportForm.PARQUET and file:
        _write_parquet(trials, file)
        return EXIT_GOOD
    writers: dict[ExportForm, Callable[[], str]] = {
        ExportForm.CSV: lambda: table.as_csv(trials),
        ExportForm.JSON: lambda: output.as_json(_whole(source, trials)),
        ExportForm.HLOG: lambda: hlog.as_hlog(trials, metric),
        ExportForm.GOOGLE_BENCHMARK: lambda: output.as_json(google_benchmark.as_json(trials)),
    }
    output.emit(writers[form](), file)
    return EXIT_GOOD


def _keep(source: Path, file: Path | None) -> int:
    if file is None:
        raise UsageProblem("--format kept is binary", f"name a file with -o, such as {kept.FILE}")
    results = ResultsFolder.open(source)
    objectives = reports.objectives(results)
    if not sys.stderr.isatty():
        file.write_bytes(kept_trials.pack(results, objectives))
        return EXIT_GOOD
    console = Console(stderr=True, highlight=False, markup=False)
    of = f"of at most {kept_trials.TRIES} sizes"
    with console.status("reading the trials", spinner="line") as status:
        made = kept_trials.pack(
            results, objectives, told=lambda n: status.update(f"packing: {n} {of}")
        )
    file.write_bytes(made)
    return EXIT_GOOD


def compare(new: Path, old: Path, format_: Format) -> int:
    """Compares two results, scenario by scenario."""
    (left, short_left), (right, short_right) = _figures(new), _figures(old)
    rows = versus.compare(left, right)
    notes = [*versus.unmatched(left, right), *dict.fromkeys((*short_left, *short_right))]
    notes += versus.on_days(left, right) if rows else []
    if any(row.comparison.low is None for row in rows):
        notes.append(versus.ALONE)
    if not rows:
        raise UsageProblem(
            f"{new} and {old} have no scenario in common", "compare results of the same study"
        )
    if format_ is Format.JSON:
        document = {
            "schema": "wiretrial-comparison",
            "version": 1,
            "rows": [_row(row) for row in rows],
            "notes": notes,
        }
        output.emit(output.as_json(document), None)
        return EXIT_GOOD
    scenario = max(len(row.scenario) for row in rows)
    figure = max(len(versus.TITLES[row.figure]) for row in rows)
    lines = [
        f"{row.scenario:<{scenario}}  {versus.TITLES[row.figure]:<{figure}}  {row.ratio:<26}"
        f"  {row.words}"
        for row in rows
    ]
    output.emit("\n".join([*lines, *notes]), None)
    return EXIT_GOOD


def _row(row: versus.Row) -> dict[str, Any]:
    found = row.comparison
    low, high = found.interval or (None, None)
    return {
        "scenario": row.scenario,
        "figure": row.figure,
        "ratio": found.ratio,
        "low": low,
        "high": high,
        "bound": found.bound,
        "verdict": row.words,
    }


def _figures(path: Path) -> tuple[versus.Figures, list[str]]:
    """The figures of a result, and why some are withheld."""
    found = imported.load(path) if path.is_dir() else None
    if found:
        return versus.of_imported(found), []
    trials = read_all(path)
    return versus.of_trials(trials), versus.withheld(trials)


def _whole(source: Path, trials: Sequence[Trial]) -> dict[str, Any]:
    """Whole records; of a study's folder also what only all of them together tell."""
    document: dict[str, Any] = {
        "schema": "wiretrial-export",
        "version": 1,
        "trials": [trial.model_dump(mode="json", by_alias=True) for trial in trials],
    }
    if source.is_dir():
        document |= _told(reports.whole(ResultsFolder.open(source)))
    return document


def _told(model: ReportModel) -> dict[str, Any]:
    return {
        "knees": [
            {
                "title": f"{knee.objective.words}: {knee.group}",
                "label": knee.label,
                "sustained": knee.sustained,
                "figure": knee.figure,
                "is_confirmed": knee.is_confirmed,
                "why": knee.why,
            }
            for knee in model.knees
        ],
        "warnings": [
            {"code": row.code, "message": row.message, "advice": row.advice, "where": row.where}
            for row in model.warnings
        ],
        "absent": [row.model_dump(mode="json") for row in model.absent],
    }


def _require_parquet(file: Path | None) -> None:
    if find_spec("pyarrow") is None:
        raise UsageProblem(
            "--format parquet needs pyarrow", "run: pip install 'wiretrial[parquet]', or use csv"
        )
    if file is None:
        raise UsageProblem("--format parquet is binary", "name a file with -o")


def _write_parquet(trials: Sequence[Trial], file: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(table.rows(trials)), file)
