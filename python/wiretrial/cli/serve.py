"""`wiretrial serve`: past results and the running study in a browser.

Knows the options; must not know how they are served.
"""

from __future__ import annotations

from typing import Annotated

import typer

from wiretrial.cli import names, options
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial serve
  wiretrial serve --results elsewhere --port 9000
  wiretrial serve --host 0.0.0.0

It only reads. On an address beyond this machine it asks for a token, which is part of the printed
URL.
"""

app = Face()


@app.add("serve", epilog=EXAMPLES)
def serve(
    results: options.Results = names.RESULTS,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on. 0: any free port.")
    ] = 8380,
) -> int:
    """Show past results and the running study in a browser, until Ctrl-C."""
    from wiretrial.cli import serving

    return serving.serve(results, host, port)
