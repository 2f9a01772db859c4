"""Options of a search for the highest rate, which `limit` and `advise` share.

Knows their names and help; must not know how a rate is searched for.
"""

from __future__ import annotations

from typing import Annotated

import typer

Goals = Annotated[
    list[str] | None,
    typer.Option(
        "--goal",
        metavar="'FIGURE < BOUND'",
        help="What must hold at the rate: 'p99 < 50ms', 'errors < 0.1%'; repeatable. "
        "[the traffic file's goals; none: all is answered at the rate]",
    ),
]
Connections = Annotated[
    str | None,
    typer.Option(
        "-c",
        "--connections",
        metavar="N",
        help="Number of connections, or users of a traffic file. [100; enough users]",
        show_default=False,
    ),
]
Duration = Annotated[
    str,
    typer.Option("-d", "--duration", metavar="TIME", help="How long one level is measured."),
]
Within = Annotated[
    str,
    typer.Option("--within", metavar="TIME", help="Longest time of the whole search."),
]
Searches = Annotated[
    str,
    typer.Option(
        "--searches", metavar="N", help="Searches, each anew; their scatter is the interval."
    ),
]
Tolerance = Annotated[
    str,
    typer.Option(
        "--tolerance",
        metavar="SHARE",
        help="A search ends when the kept and the refused rate are this close.",
    ),
]
LEVEL, WITHIN, SEARCHES, TOLERANCE = "5s", "10m", "3", "5%"
"""Where nothing is typed."""
