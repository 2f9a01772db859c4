"""`wiretrial trend`: since when is it slower?

Knows the options; must not know how changes are found.
"""

from __future__ import annotations

from typing import Annotated

import typer

from wiretrial.cli import names, options
from wiretrial.cli.forms import TrendForm, TrendMetric, TrendStep
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial trend
  wiretrial trend echo --metric p99 --since 90d
  wiretrial trend 'ws*' --metric cpu --by commit --where branch=main
  git rev-list --reverse HEAD | wiretrial trend compare --commits -
  wiretrial trend ./mine --against reference
  wiretrial trend --format markdown
  wiretrial trend --results postgresql://db.example.org/lab --since 90d

It follows each scenario over the results of a folder or of a team's store, and names the results
between which its level changed. Results of another machine or another load are not compared. Label
what you measure with its commit (`--label commit=3f2a91c`); a CI service's commit is taken by
itself.
"""

app = Face()


@app.add("trend", epilog=EXAMPLES)
def trend(
    wanted: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STUDY|SCENARIO...",
            help="Studies or scenarios to follow, as names or patterns. [all]",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        TrendMetric | None,
        typer.Option(
            "--metric",
            help="Figure to follow. [what each scenario is ranked by]",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        TrendStep, typer.Option("--by", help="What a point is: a result, a commit or a day.")
    ] = TrendStep.RESULT,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DATE|DAYS",
            help="Only results since then: 2026-01-31, 90d.",
            show_default=False,
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="KEY=VALUE",
            help="Only results with this label. Repeatable.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="SCENARIO",
            help="Follow the ratio to this scenario of the same result: the machine cancels.",
            show_default=False,
        ),
    ] = None,
    commits: Annotated[
        str | None,
        typer.Option(
            "--commits",
            metavar="FILE",
            help="Order by the commits in FILE, oldest first, and not by time. -: standard input.",
            show_default=False,
        ),
    ] = None,
    results: options.Past = str(names.RESULTS),
    form: Annotated[
        TrendForm, typer.Option("--format", help="How it is written.")
    ] = TrendForm.TEXT,
    file: options.ToFile = None,
) -> int:
    """Follow scenarios over commits or days, and say since when one is slower."""
    from wiretrial.cli import trending

    typed = trending.Typed(
        wanted=tuple(wanted or ()),
        metric=metric.value if metric else None,
        by=by.value,
        since=since,
        where=tuple(where or ()),
        against=against,
        commits=commits,
    )
    return trending.trend(typed, results, form, file)
