"""`wiretrial study`: questions with their experiments: list, show, run.

Knows the options; must not know how a study is expanded or run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import names, options, options_kept
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial study list
  wiretrial study show http-vs-websocket --quick
  wiretrial study run websocket-servers --quick
  wiretrial study run ./mine --only 'ws*' --budget 30m
  wiretrial study run client-libraries --provoke nagle
  wiretrial study run game-bots --target 192.0.2.7:4123
  wiretrial study run --resume results/mine-20260101-120000
  wiretrial study run --add-occasion results/mine-20260101-120000
  wiretrial study run ./mine --fleet tls://10.0.0.1 --fleet-certificates certs
  wiretrial study run ./mine --metrics prometheus:http://127.0.0.1:9090

A study is a name of `wiretrial study list`, or a folder with a study.toml.
"""

app = Face(EXAMPLES)

NAMED = "A name from `wiretrial study list`, or a folder with a study.toml."
Name = Annotated[
    str, typer.Argument(metavar="NAME|FOLDER", help=NAMED, autocompletion=names.studies)
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Fewer levels, shorter and fewer trials: a few minutes.")
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="PATTERN",
        help="Only scenarios or subjects whose name matches. Repeatable.",
        show_default=False,
    ),
]
Provoke = Annotated[
    str | None,
    typer.Option(
        "--provoke",
        metavar="NAME",
        help="Run only the small study that shows this artefact on purpose.",
        show_default=False,
    ),
]
Target = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="[SCHEME://]HOST:PORT",
        help="Measure this running server instead of the subjects. Repeatable.",
        show_default=False,
    ),
]
PacingOption = Annotated[
    str | None,
    typer.Option(
        "--pacing",
        metavar="NAME",
        help="Pacing where each connection has a rate: constant, poisson, phased, after-response.",
        show_default=False,
    ),
]
Trials = Annotated[
    str | None,
    typer.Option(
        "--trials",
        metavar="N",
        help="Trials per scenario; some studies limit them for single scenarios.",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget", metavar="TIME", help="Run as many trials as fit into this time: 30m, 2h."
    ),
]


@app.add("list", "List the studies and what they found.")
def list_(
    results: options.Results = names.RESULTS, format_: options.FormatOption = Format.TEXT
) -> int:
    """List the studies, each with its answer and its last result here."""
    from wiretrial.cli import studying

    return studying.list_(results, format_)


@app.add("show", "Show a study's scenarios and how long they take.")
def show(
    name: Name,
    quick: Quick = False,
    only: Only = None,
    provoke: Provoke = None,
    target: Target = None,
    pacing: PacingOption = None,
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """Show a study's question, its scenarios, and how long it takes."""
    from wiretrial.cli import studying

    choice = studying.Choice(quick, tuple(only or ()), provoke, tuple(target or ()), pacing)
    return studying.show(name, choice, format_)


@app.add("run", "Run a study, or continue one.")
def run(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME|FOLDER",
            help=NAMED,
            show_default=False,
            autocompletion=names.studies,
        ),
    ] = None,
    quick: Quick = False,
    only: Only = None,
    provoke: Provoke = None,
    target: Target = None,
    pacing: PacingOption = None,
    trials: Trials = None,
    budget: Budget = None,
    seed: options.OrderSeed = None,
    results: options.Results = names.RESULTS,
    prefix: options.Prefix = None,
    resume: options.Resume = None,
    again: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="REPORT|DIR",
            help="Run the study of a report again.",
            autocompletion=names.results,
        ),
    ] = None,
    add_occasion: Annotated[
        Path | None,
        typer.Option(
            "--add-occasion",
            metavar="DIR",
            help="Measure the study in DIR again, on another day or machine, beside what is there.",
            autocompletion=names.results,
        ),
    ] = None,
    label: options_kept.Labels = None,
    details: options.Details = False,
    keep_secrets: options_kept.KeepSecrets = False,
    fleet: options.FleetAddress = None,
    fleet_certificates: options.FleetCertificates = None,
    fleet_agents: options.FleetAgents = None,
    on_agent_loss: options.AgentLoss = None,
    metrics: options_kept.MetricsTo = None,
) -> int:
    """Run a study, trial by trial. Each is stored at once, so that --resume can continue."""
    from wiretrial.cli import studying

    many = options.Fleet(fleet, fleet_certificates, fleet_agents, on_agent_loss)
    choice = studying.Choice(quick, tuple(only or ()), provoke, tuple(target or ()), pacing)
    return studying.run(
        studying.Source(name, resume, again, add_occasion),
        choice,
        studying.Extent(trials, budget, seed, tuple(label or ())),
        results,
        prefix,
        many,
        keeps_secrets=keep_secrets,
        details=details,
        metrics=metrics,
    )
