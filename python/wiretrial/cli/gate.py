"""`wiretrial gate`: are stated bounds kept? For continuous integration.

Knows the options; must not know how a bound is judged.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import names
from wiretrial.cli.forms import GateForm, TrendMetric
from wiretrial.cli.screen import Face
from wiretrial.errors import UsageProblem

EXAMPLES = """\b
Examples:
  wiretrial gate results/echo-20260102-120000 --threshold 'service.p99 <= 2ms'
  wiretrial gate NEW --baseline OLD --threshold 'throughput >= 0.95x'
  wiretrial gate NEW --baseline OLD --threshold 'server.cpu <= 1.05x @ ws*' --junit gate.xml
  wiretrial gate NEW --baseline OLD --threshold 'throughput >= 0.95x' --format markdown
  wiretrial gate NEW --against ws --threshold 'throughput >= 0.95x @ ./mine'
  wiretrial gate results/echo-20260102-120000 --trend 10
  wiretrial gate results/echo-20260102-120000 --trend 10 --results env

  wiretrial gate load.json --threshold 'throughput >= 10k'

A file is one run (`load --format json -o FILE`): `throughput >= 10k` is about that run.
Exit: 0 all kept, 3 one is broken or a scenario has no figure, 4 the data cannot tell (and how
many trials would).
A bound may name the scenarios that it is about: `@ PATTERN`. The goals of a traffic file are bounds
of its result.
"""

app = Face()


@app.add("gate", epilog=EXAMPLES)
def gate(
    result: Annotated[
        Path,
        typer.Argument(metavar="DIR|FILE", help="Result to check.", autocompletion=names.results),
    ],
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold", metavar="BOUND", help="Bound to check: 'service.p99 <= 2ms'. Repeatable."
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            metavar="DIR|FILE",
            help="Result that `0.95x` is relative to.",
            autocompletion=names.results,
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="SCENARIO",
            help="Scenario of DIR that `0.95x` is relative to, in pairs within each block.",
        ),
    ] = None,
    trend: Annotated[
        str | None,
        typer.Option(
            "--trend",
            metavar="N",
            help="Break if a scenario became worse within the last N results.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        TrendMetric | None,
        typer.Option(
            "--metric",
            help="Figure that --trend follows. [what each scenario is ranked by]",
            show_default=False,
        ),
    ] = None,
    results: Annotated[
        str | None,
        typer.Option(
            "--results",
            metavar="DIR|URL",
            help="Folder, or team's store in PostgreSQL (env: $WIRETRIAL_STORE), whose results"
            " --trend follows. [the folder that the result is in]",
            show_default=False,
        ),
    ] = None,
    form: Annotated[GateForm, typer.Option("--format", help="Form of the result.")] = GateForm.TEXT,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML to FILE, too.")
    ] = None,
) -> int:
    """Check a result against bounds: each is kept, broken, or can't be told from the data."""
    from wiretrial.cli import gating

    if metric and trend is None:
        raise UsageProblem("--metric is of --trend", "leave it out, or name --trend N")
    if results is not None and trend is None:
        raise UsageProblem("--results is of --trend", "leave it out, or name --trend N")
    return gating.gate(
        result,
        threshold or (),
        gating.Against(baseline, against),
        form,
        junit,
        gating.Over(trend, metric.value if metric else None, results)
        if trend is not None
        else None,
    )
