"""`wiretrial results`: what was measured and kept.

Knows the options; must not know how results are kept or read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import names, options
from wiretrial.cli.forms import ExportForm, TimeUnit
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial results list
  wiretrial results show results/demo-20260101-120000
  wiretrial results show results/demo-20260101-120000/trials/000-000-node-websocket.json.gz
  wiretrial results compare results/echo-20260102-120000 results/echo-20260101-120000
  wiretrial results export results/demo-20260101-120000 --format csv -o trials.csv
  wiretrial results push postgresql://db.example.org/lab
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
  wiretrial results import k6-summary.json --name checkout --at 2026-01-31 --label commit=3f2a91c
  wiretrial results import dev/bench/data.js
  wiretrial results import studies/game-bots/results/trials.jsonl.xz

Imported figures stand in `wiretrial trend`, marked as imported; those of Google Benchmark also in
`wiretrial results compare`.
"""

PUSH_EXAMPLES = """\b
Examples:
  wiretrial results push postgresql://db.example.org/lab --migrate
  wiretrial results push postgresql://db.example.org/lab
  wiretrial results push postgresql://db.example.org/lab results/echo-20260101-120000 monday.json
  wiretrial results push --since 2026-01-01 --study echo

Without URL: the store of WIRETRIAL_STORE, or of PGSERVICE, PGHOST or PGDATABASE. Passwords come
from PGPASSWORD, ~/.pgpass or a service file. What is in the store already is not sent again.
"""
PULL_EXAMPLES = """\b
Examples:
  wiretrial results pull postgresql://db.example.org/lab echo-20260101-120000
  wiretrial results pull postgresql://db.example.org/lab --since 2026-01-01 --to team
  wiretrial results pull 3f0c1d2e4b5a

Without RESULT and filter, all are copied. A result that is there already is left as it is.
"""
Since = Annotated[
    str | None,
    typer.Option(
        "--since", metavar="DATE", help="Results with trials of this day or later: 2026-01-31."
    ),
]
Study = Annotated[
    str | None,
    typer.Option(
        "--study",
        metavar="NAME",
        help="Results of this study.",
        show_default=False,
        autocompletion=names.studies,
    ),
]

app = Face(EXAMPLES)


@app.add("list", "List the stored studies.")
def list_(
    base: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder that holds the results.")
    ] = names.RESULTS,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="URL|env",
            help="List a team's store instead; env: the one that WIRETRIAL_STORE names.",
            show_default=False,
        ),
    ] = None,
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """List the stored studies with their trials, and the loads kept in files (`load -o`)."""
    if source is not None:
        from wiretrial.cli import results_team

        return results_team.list_(source, format_)
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


@app.add("import", "Import kept trials, or the results of other tools.", epilog=IMPORT_EXAMPLES)
def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Kept trials (.jsonl.xz), Google Benchmark's JSON, a summary of k6, a log of "
            "HdrHistogram, or github-action-benchmark's data.js.",
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="What was measured: k6 and HdrHistogram don't say it. [the file's name]",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="TIME",
            help="When it was measured: 2026-01-31, 2026-01-31T12:00. [as its file tells]",
            show_default=False,
        ),
    ] = None,
    unit: Annotated[
        TimeUnit, typer.Option("--unit", help="Unit of a log's values (HdrHistogram only).")
    ] = TimeUnit.NS,
    label: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="KEY=VALUE",
            help="Label to keep with it: commit=3f2a91c. Repeatable.",
            show_default=False,
        ),
    ] = None,
    results: options.Results = names.RESULTS,
) -> int:
    """Import what a study keeps as a folder of results, or what another tool measured."""
    from wiretrial.cli import results_import

    return results_import.import_(
        source, results_import.Told(name, at, unit.value, tuple(label or ())), results
    )


@app.add("push", "Copy results to a team's store in PostgreSQL.", epilog=PUSH_EXAMPLES)
def push(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL|RESULT",
            help="The store; folders of results and files of loads. [all of --results]",
            show_default=False,
            autocompletion=names.results,
        ),
    ] = None,
    since: Since = None,
    study: Study = None,
    base: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder that holds the results.")
    ] = names.RESULTS,
    migrate: Annotated[
        bool,
        typer.Option(
            "--migrate",
            help="Create the store's tables or bring them up to date. Ends there if no result is "
            "chosen.",
        ),
    ] = False,
    keep_secrets: Annotated[
        bool,
        typer.Option("--keep-secrets", help="Copy results that were measured with --keep-secrets."),
    ] = False,
) -> int:
    """Copy results to a team's store in PostgreSQL."""
    from wiretrial.cli import results_team

    wanted = results_team.Wanted(tuple(words or ()), since, study)
    return results_team.push(wanted, base, migrate=migrate, with_secrets=keep_secrets)


@app.add("pull", "Copy results from a team's store in PostgreSQL.", epilog=PULL_EXAMPLES)
def pull(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL|RESULT",
            help="The store; names or digests of results, as `results list --from` shows them. "
            "[all]",
            show_default=False,
        ),
    ] = None,
    since: Since = None,
    study: Study = None,
    base: Annotated[
        Path, typer.Option("--to", metavar="DIR", help="Folder for the results.")
    ] = names.RESULTS,
) -> int:
    """Copy results from a team's store in PostgreSQL."""
    from wiretrial.cli import results_team

    wanted = results_team.Wanted(tuple(words or ()), since, study)
    return results_team.pull(wanted, base)
