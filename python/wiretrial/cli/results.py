"""`wiretrial results`: what was measured and kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import output, results_exchange
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, StoreError
from wiretrial.report import load_json
from wiretrial.results.index import Index
from wiretrial.results.store import ResultsFolder, read_trial

EXAMPLES = """\b
Examples:
  wiretrial results list
  wiretrial results show results/demo-20260101-120000
  wiretrial results show results/demo-20260101-120000/trials/000-000-node-websocket.json.gz
  wiretrial results compare results/echo-20260102-120000 results/echo-20260101-120000
  wiretrial results export results/demo-20260101-120000 --format csv -o trials.csv
"""

app = typer.Typer(
    help="Stored trials: list, show, compare, export, import.",
    epilog=EXAMPLES,
    rich_markup_mode=None,
    no_args_is_help=True,
)

Format = Annotated[output.Format, typer.Option("--format", help="How the result is written.")]


@app.command("list", short_help="List the stored studies.")
def list_(
    base: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder that holds the results.")
    ] = Path("results"),
    format_: Format = output.Format.TEXT,
) -> int:
    """List the stored studies with their trials, and the loads kept in files (`load -o`)."""
    if not base.is_dir():
        raise StoreError(
            f"there is no folder {base}", "measure something first, or name it (--results)"
        )
    index = Index(base)
    rows = index.rows()
    if format_ is output.Format.JSON:
        document = {
            "schema": "wiretrial-results",
            "version": 1,
            "trials": [asdict(row) for row in rows],
            "problems": index.problems,
        }
        output.emit(output.as_json(document), None)
    else:
        of_studies = [row for row in rows if Path(row.path).name != row.path]
        studies = Counter(Path(row.path).parts[0] for row in of_studies)
        for name, count in studies.items():
            mine = [row for row in of_studies if Path(row.path).parts[0] == name]
            verdicts = Counter(row.verdict for row in mine)
            listed = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common())
            output.emit(
                f"{base / name}   {mine[0].started_at[:16]}   {count} trials: {listed}", None
            )
        for row in rows:
            if row not in of_studies:
                told = f"a load of {row.scenario}: {row.verdict}"
                output.emit(f"{base / row.path}   {row.started_at[:16]}   {told}", None)
        if not rows:
            output.emit(f"no trial in {base}", None)
    for problem in index.problems:
        output.say(problem)
    return EXIT_FAILED if index.problems else EXIT_GOOD


@app.command("show", short_help="Show the trials of a study, or one trial.")
def show(
    path: Annotated[
        Path, typer.Argument(metavar="DIR|FILE", help="A study's folder or a trial's file.")
    ],
    format_: Format = output.Format.TEXT,
) -> int:
    """Show a study's trials in the order in which they ran, or one trial whole."""
    trials = [read_trial(path)] if path.is_file() else ResultsFolder.open(path).trials()
    if format_ is output.Format.JSON:
        documents = [load_json(trial) for trial in trials]
        output.emit(
            output.as_json(
                documents[0]
                if path.is_file()
                else {"schema": "wiretrial-trials", "version": 1, "trials": documents}
            ),
            None,
        )
        return EXIT_GOOD
    for trial in trials:
        output.emit(
            f"block {trial.block + 1:>2}  {trial.scenario.name:<36} {trial.judgement.verdict:<12}"
            f" {trial.judgement.evidence}",
            None,
        )
        for warning in trial.warnings:
            output.emit(f"          {warning.message}: {warning.advice}", None)
    return EXIT_GOOD


app.command(
    "compare",
    epilog=results_exchange.COMPARE_EXAMPLES,
    short_help="Compare two results.",
)(results_exchange.compare)
app.command(
    "export", epilog=results_exchange.EXPORT_EXAMPLES, short_help="Write trials for other tools."
)(results_exchange.export)
app.command(
    "import",
    epilog=results_exchange.IMPORT_EXAMPLES,
    short_help="Import figures of Google Benchmark.",
)(results_exchange.import_)
