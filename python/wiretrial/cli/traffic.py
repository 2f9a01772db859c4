"""`wiretrial traffic`: files that say what an application is asked.

Knows the options; must not know how files are read or made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import options
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial traffic check shop.toml
  wiretrial traffic check items.hurl --variable base=http://127.0.0.1:8000
"""
CHECK_EXAMPLES = """\b
Examples:
  wiretrial traffic check shop.toml
  wiretrial traffic check shop.toml --no-learn --format json
  wiretrial traffic check items.hurl --variable base=http://127.0.0.1:8000
"""

app = Face(EXAMPLES)


@app.callback()
def _group() -> None:
    """Files with the requests and right replies of your own application."""


@app.add("check", "Check files and show what they say.", epilog=CHECK_EXAMPLES)
def check(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A .toml file, or one .hurl file.")],
    variable: Annotated[
        list[str] | None,
        typer.Option("--variable", metavar="NAME=VALUE", help="Value for {{NAME}}; repeatable."),
    ] = None,
    no_learn: Annotated[
        bool,
        typer.Option("--no-learn", help="Refuse requests without a response part."),
    ] = False,
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """Read all files and show each flow: requests, right replies, captures. Nothing is sent.

    The first mistake is one line with file, line and column, and ends the command with code 2.
    """
    from wiretrial.cli import traffic_check

    return traffic_check.check(path, variable or [], learns=not no_learn, format_=format_)
