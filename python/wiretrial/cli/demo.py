"""`wiretrial demo`: HTTP beside WebSocket, on real systems, in about two minutes.

Knows the options; must not know what the demo measures.
"""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from wiretrial import quantities
from wiretrial.cli import names, options
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial demo
  wiretrial demo --trials 10
  wiretrial demo --resume results/demo-20260101-120000
"""

app = Face()


@app.add("demo", epilog=EXAMPLES)
def demo(
    trials: Annotated[
        str | None, typer.Option("--trials", metavar="N", help="Trials per scenario. [5]")
    ] = None,
    seed: options.OrderSeed = None,
    results: options.Results = names.RESULTS,
    resume: options.Resume = None,
    details: options.Details = False,
) -> int:
    """Compare HTTP, WebSocket and TCP on this machine, for one 64-byte JSON request and reply.

    It takes about two minutes and needs no server.
    """
    from wiretrial.cli import progress
    from wiretrial.studies import demo as demo_study
    from wiretrial.studies import priming

    wanted = quantities.trials(trials)
    if resume:
        study, folder = progress.resume(resume, demo_study.NAME, wanted)
    else:
        order_seed = secrets.randbits(32) if seed is None else seed
        study = priming.primed(demo_study.study(wanted or 5, order_seed))
        folder = progress.begin(study, results)
    return progress.run(study, folder, details=details)
