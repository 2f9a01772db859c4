"""Options of what is kept of a measurement, and where it goes meanwhile.

Knows their names and help; must not know what they do.
"""

from __future__ import annotations

from typing import Annotated

import typer

from wiretrial.cli import screen

KeepSecrets = Annotated[
    bool,
    typer.Option(
        "--keep-secrets",
        help="Keep tokens, passwords and cookies of headers and URLs in the result. [redacted]",
        rich_help_panel=screen.OUTPUT,
    ),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="KEY=VALUE",
        help="Label to keep with the result: commit=3f2a91c. Repeatable. [the CI service's commit]",
        show_default=False,
        rich_help_panel=screen.OUTPUT,
    ),
]
MetricsTo = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="KIND:URL",
        help="Send live metrics there, once a second: otlp:URL (OTLP over HTTP) or prometheus:URL "
        "(remote write).",
        show_default=False,
        rich_help_panel=screen.OUTPUT,
    ),
]
