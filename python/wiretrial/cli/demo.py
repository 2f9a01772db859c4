"""`wiretrial demo`: HTTP beside WebSocket, on real systems, in about two minutes."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from wiretrial import quantities
from wiretrial.cli import progress
from wiretrial.studies import demo as demo_study
from wiretrial.studies import priming

EXAMPLES = """\b
Examples:
  wiretrial demo
  wiretrial demo --trials 10
  wiretrial demo --resume results/demo-20260101-120000
"""

Results = Annotated[Path, typer.Option("--results", metavar="DIR", help="Folder for the results.")]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume", metavar="DIR", help="Continue the study in DIR with its missing trials."
    ),
]


def demo(
    trials: Annotated[
        str | None, typer.Option("--trials", metavar="N", help="Trials per scenario. [5]")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Seed of the order of trials. [random, recorded]"),
    ] = None,
    results: Results = Path("results"),
    resume: Resume = None,
) -> int:
    """Compare HTTP, WebSocket and TCP on this machine, for one 64-byte JSON request and reply.

    It takes about two minutes and needs no server.
    """
    wanted = None if trials is None else quantities.count(trials, "--trials", most=1000)
    if resume:
        study, folder = progress.resume(resume, demo_study.NAME, wanted)
    else:
        order_seed = secrets.randbits(32) if seed is None else seed
        study = priming.primed(demo_study.study(wanted or 5, order_seed))
        folder = progress.begin(study, results)
    return progress.run(study, folder)
