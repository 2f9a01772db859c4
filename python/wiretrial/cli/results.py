"""`wiretrial results`: what was measured and kept.

Knows the options; must not know how results are kept or read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import names, options
from wiretrial.cli.forms import ExportForm
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial results list
  wiretrial results show results/demo-20260101-120000
  wiretrial results show results/demo-20260101-120000/trials/000-000-node-websocket.json.gz
  wiretrial results compare results/echo-20260102-120000 results/echo-20260101-120000
  wiretrial results export results/demo-20260101-120000 --format csv -o trials.csv
"""
EXPORT_EXAMPLES = """\b
Examples:
  wiretrial results export results/demo-20260101-120000 --format csv -o trials.csv
  wiretrial results export results/demo-20260101-120000 --format hlog --metric service_time
  wiretrial results export results/demo-20260101-120000 --format google-benchmark

csv and parquet: a row per trial; json: whole records; kept: figures and records of all trials,
small enough to be committed; hlog: HdrHistogram's log; google-benchmark: its JSON, a scenario as a
benchmark and a trial as a repetition.
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
  wiretrial results import studies/game-bots/results/trials.jsonl.xz
"""

app = Face(EXAMPLES)


@app.add("list", "List the stored studies.")
def list_(
    base: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder that holds the results.")
    ] = names.RESULTS,
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """List the stored studies with their trials, and the loads kept in files (`load -o`)."""
    from wiretrial.cli import results_list

    return results_list.list_(base, format_)


@app.add("show", "Show the trials of a study, or one trial.")
def show(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE",
            help="A study's folder or a trial's file.",
            autocompletion=names.results,
        ),
    ],
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """Show a study's trials in the order in which they ran, or one trial whole."""
    from wiretrial.cli import results_list

    return results_list.show(path, format_)


@app.add("compare", "Compare two results.", epilog=COMPARE_EXAMPLES)
def compare(
    new: Annotated[
        Path,
        typer.Argument(
            metavar="NEW", help="A result's folder or file.", autocompletion=names.results
        ),
    ],
    old: Annotated[
        Path,
        typer.Argument(
            metavar="OLD", help="The result to compare it with.", autocompletion=names.results
        ),
    ],
    format_: Annotated[
        Format, typer.Option("--format", help="Form of the comparison.")
    ] = Format.TEXT,
) -> int:
    """Compare two results, scenario by scenario."""
    from wiretrial.cli import results_exchange

    return results_exchange.compare(new, old, format_)


@app.add("export", "Write trials for other tools.", epilog=EXPORT_EXAMPLES)
def export(
    source: Annotated[
        Path,
        typer.Argument(metavar="DIR|FILE", help="Result to export.", autocompletion=names.results),
    ],
    form: Annotated[ExportForm, typer.Option("--format", help="Form to write.")],
    metric: Annotated[
        str, typer.Option("--metric", metavar="NAME", help="Histogram to export (hlog only).")
    ] = "service_time",
    file: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File to write. [standard output]"),
    ] = None,
) -> int:
    """Write trials in a form that other tools read."""
    from wiretrial.cli import results_exchange

    return results_exchange.export(source, form, metric, file)


@app.add("import", "Import kept trials, or figures of Google Benchmark.", epilog=IMPORT_EXAMPLES)
def import_(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Kept trials (.jsonl.xz), or Google Benchmark's JSON."),
    ],
    results: options.Results = names.RESULTS,
) -> int:
    """Import what a study keeps as a folder of results, or figures of Google Benchmark."""
    from wiretrial.cli import results_exchange

    return results_exchange.import_(source, results)
