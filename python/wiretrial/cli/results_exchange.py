"""`wiretrial results export`, `import`, `compare`: results and other tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from wiretrial import suggest
from wiretrial.cli import output, reports
from wiretrial.cli.demo import Results
from wiretrial.cli.output import Format
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.report import found, versus
from wiretrial.report.exports import google_benchmark, hlog, table
from wiretrial.results import imported
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder, read_all

EXPORT_EXAMPLES = """\b
Examples:
  wiretrial results export results/demo-20260101-120000 --format csv -o trials.csv
  wiretrial results export results/demo-20260101-120000 --format hlog --metric service_time
  wiretrial results export results/demo-20260101-120000 --format google-benchmark

csv and parquet: a row per trial; json: whole records; hlog: HdrHistogram's log; google-benchmark:
its JSON, a scenario as a benchmark and a trial as a repetition.
"""
COMPARE_EXAMPLES = """\b
Examples:
  wiretrial results compare results/echo-20260102-120000 results/echo-20260101-120000

Ratios are the first result's figures divided by the second's; the two share no blocks.
"""
IMPORT_EXAMPLES = """\b
Examples:
  ./mine --benchmark_out=mine.json --benchmark_out_format=json --benchmark_repetitions=10
  wiretrial results import mine.json
"""

METRICS = (
    "service_time",
    "response_time",
    "first_byte_time",
    "pacing_lag",
    "connect_time",
    "tls_time",
    "upgrade_time",
    "failed_time",
    "delivery_time",
)

Source = Annotated[Path, typer.Argument(metavar="DIR|FILE", help="Result to export.")]


class Form(StrEnum):
    """What results can be written as."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    HLOG = "hlog"
    GOOGLE_BENCHMARK = "google-benchmark"


def export(
    source: Source,
    form: Annotated[Form, typer.Option("--format", help="Form to write.")],
    metric: Annotated[
        str, typer.Option("--metric", metavar="NAME", help="Histogram to export (hlog only).")
    ] = "service_time",
    file: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File to write. [standard output]"),
    ] = None,
) -> int:
    """Write trials in a form that other tools read."""
    if metric not in METRICS:
        raise UsageProblem(f"--metric {metric}: unknown", suggest.remedy(metric, METRICS))
    if file:
        output.require_writable(file)
    if form is Form.PARQUET:
        _require_parquet(file)
    trials = read_all(source)
    if form is Form.PARQUET and file:
        _write_parquet(trials, file)
        return EXIT_GOOD
    writers: dict[Form, Callable[[], str]] = {
        Form.CSV: lambda: table.as_csv(trials),
        Form.JSON: lambda: output.as_json(_whole(source, trials)),
        Form.HLOG: lambda: hlog.as_hlog(trials, metric),
        Form.GOOGLE_BENCHMARK: lambda: output.as_json(google_benchmark.as_json(trials)),
    }
    output.emit(writers[form](), file)
    return EXIT_GOOD


def import_(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="Google Benchmark's JSON.")],
    results: Results = Path("results"),
) -> int:
    """Import figures of Google Benchmark, to compare them with other results."""
    found = imported.read_google_benchmark(source)
    folder = imported.keep(results, "imported", found).folder
    output.emit(f"{len(found.series)} benchmarks are in {folder}", None)
    return EXIT_GOOD


def compare(
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A result's folder or file.")],
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The result to compare it with.")],
    format_: Annotated[
        Format, typer.Option("--format", help="Form of the comparison.")
    ] = Format.TEXT,
) -> int:
    """Compare two results, scenario by scenario."""
    (left, short_left), (right, short_right) = _figures(new), _figures(old)
    rows = versus.compare(left, right)
    notes = [*versus.unmatched(left, right), *dict.fromkeys((*short_left, *short_right))]
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
    return {
        "scenario": row.scenario,
        "figure": row.figure,
        "ratio": found.ratio,
        "low": found.low,
        "high": found.high,
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
        told = found.of_report(reports.whole(ResultsFolder.open(source)))
        document |= told.model_dump(mode="json", include={"knees", "warnings", "absent"})
    return document


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
