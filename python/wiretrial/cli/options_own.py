"""Options of servers that are started here, which `compare`, `limit` and `advise` share.

Knows their names and help; must not know how a server is built or started.
"""

from __future__ import annotations

from typing import Annotated

import typer

PANEL = "Servers of your own"

Build = Annotated[
    list[str] | None,
    typer.Option(
        "--build",
        metavar="LINE",
        help="Shell line that builds the server, in its folder. Repeatable.",
        rich_help_panel=PANEL,
    ),
]
Commands = Annotated[
    list[str] | None,
    typer.Option(
        "--command",
        metavar="LINE",
        help="Shell line that starts the server: {port} is a free port, also in $PORT."
        " Without a folder, each command is a server.",
        rich_help_panel=PANEL,
    ),
]
Command = Annotated[
    str | None,
    typer.Option(
        "--command",
        metavar="LINE",
        help="Shell line that starts the server: {port} is a free port, also in $PORT.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
Port = Annotated[
    str | None,
    typer.Option(
        "--port",
        metavar="N",
        help="Port of a server that can't be told one.",
        rich_help_panel=PANEL,
    ),
]
RequestPath = Annotated[
    str | None,
    typer.Option("--path", metavar="PATH", help="Path to request. [/]", rich_help_panel=PANEL),
]
