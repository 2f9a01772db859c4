"""`wiretrial browser`: the same requests from a real browser, by hand or without anybody there.

Knows the options; must not know how a browser is asked.
"""

from __future__ import annotations

from typing import Annotated

import typer

from wiretrial import quantities
from wiretrial.cli import names, options
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial browser
  wiretrial browser --explain
  wiretrial browser --headless --subject reference --trials 3
  wiretrial browser --target http://127.0.0.1:8080/messages/1
  wiretrial browser --subject nginx --link broadband-far

Without --headless, open the printed URL by hand. Between browser and server stands an nginx, which
adds TLS and HTTP/2; a browser that is started here trusts its certificate for this run only.
"""

PORT = 8390

app = Face()


@app.add("browser", epilog=EXAMPLES)
def browser(
    subject: Annotated[
        str,
        typer.Option(
            "--subject",
            metavar="NAME[:tuned]",
            help="Subject to ask.",
            autocompletion=names.subjects,
        ),
    ] = "feathers",
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="URL",
            help="A running server of your own instead.",
            show_default=False,
        ),
    ] = None,
    headless: Annotated[
        bool,
        typer.Option(
            "--headless", help="Measure each way in a browser without a window, and report."
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Measure over loopback and over a slow link, and explain the difference (root).",
        ),
    ] = False,
    link: Annotated[
        str | None,
        typer.Option(
            "--link",
            metavar="LINK",
            help="Put the server behind a link (root).",
            show_default=False,
        ),
    ] = None,
    program: Annotated[
        str,
        typer.Option(
            "--browser", metavar="NAME", help="Browser for --headless: chromium or firefox."
        ),
    ] = "chromium",
    requests: Annotated[
        str,
        typer.Option(
            "--requests", metavar="N", help="Requests of each trial, sent at once, with --headless."
        ),
    ] = "50",
    trials: Annotated[
        str | None, typer.Option("--trials", metavar="N", help="Trials of each way. [5]")
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            help="Port of the page, without --headless. 0: any free port.",
        ),
    ] = PORT,
    seed: options.OrderSeed = None,
    results: options.Results = names.RESULTS,
    resume: options.Resume = None,
    details: options.Details = False,
) -> int:
    """Ask a server from a real browser: fetch, WebSocket, Socket.IO; HTTP/1.1 and HTTP/2."""
    from wiretrial.cli import browsing

    wanted = quantities.trials(trials)
    if resume:
        return browsing.resume(resume, wanted, details=details)
    asked = browsing.Asked(subject, target, link, explain=explain)
    if not (headless or explain):
        return browsing.by_hand(asked, port, results)
    trials_asked = browsing.Trials(program, requests, wanted, seed)
    return browsing.measure(asked, trials_asked, results, details=details)
