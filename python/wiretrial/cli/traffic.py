"""`wiretrial traffic`: files that say what an application is asked.

Knows the options; must not know how files are read or made.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import options, screen
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial traffic check shop.toml
  wiretrial traffic check items.hurl --variable base=http://127.0.0.1:8000
  wiretrial traffic from har recording.har -o shop
"""
CHECK_EXAMPLES = """\b
Examples:
  wiretrial traffic check shop.toml
  wiretrial traffic check items.hurl --variable base=http://127.0.0.1:8000
  wiretrial traffic check shop.toml --no-send
  wiretrial traffic check shop.toml --no-learn --format json
"""

FROM_EXAMPLES = """\b
Examples:
  wiretrial traffic from curl commands.txt -o shop
  wiretrial traffic from har recording.har -o shop
  wiretrial traffic from openapi openapi.yaml -o shop --base http://127.0.0.1:8000
  wiretrial traffic from access-log access.log -o shop --base http://127.0.0.1:8000
  wiretrial traffic from postman collection.json -o shop
  wiretrial traffic check shop/traffic.toml
"""

app = Face(EXAMPLES)


class Kind(StrEnum):
    """What traffic files can be made of."""

    CURL = "curl"
    HAR = "har"
    ACCESS_LOG = "access-log"
    OPENAPI = "openapi"
    POSTMAN = "postman"


@app.callback()
def _group() -> None:
    """Files with the requests and right replies of your own application."""


@app.add(
    "check", "Send each entry of a file once; show request, reply, checks.", epilog=CHECK_EXAMPLES
)
def check(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A .toml file, or one .hurl file.")],
    variable: Annotated[
        list[str] | None,
        typer.Option("--variable", metavar="NAME=VALUE", help="Value for {{NAME}}; repeatable."),
    ] = None,
    no_send: Annotated[
        bool,
        typer.Option("--no-send", help="Send nothing; show what the files say."),
    ] = False,
    no_learn: Annotated[
        bool,
        typer.Option("--no-learn", help="Refuse requests without a response part."),
    ] = False,
    follow: Annotated[
        str | None,
        typer.Option("--follow", metavar="N", help="Follow up to N redirects of a request."),
    ] = None,
    timeout: options.Timeout = "10s",
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Accept any certificate.", rich_help_panel=screen.TLS),
    ] = False,
    cacert: options.Authorities = None,
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """Send each entry once, without load; show request, reply, captures and each check.

    Exit code: 0 if every reply was right, 1 if an entry failed or the server is not there. A
    mistake in a file is one line with file, line and column, and ends the command with code 2
    before anything is sent.
    """
    from wiretrial.cli import traffic_check

    security = options.Security(insecure, cacert)
    sending = None if no_send else traffic_check.Sending(security, timeout, follow)
    return traffic_check.check(path, variable or [], sending, learns=not no_learn, format_=format_)


@app.add(
    "from", "Write files from curl, HAR, OpenAPI, Postman or an access log.", epilog=FROM_EXAMPLES
)
def from_(
    kind: Annotated[Kind, typer.Argument(metavar="FORMAT", help="Format of the file.")],
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to read; - for standard input.")
    ],
    folder: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="Folder for the new files."),
    ],
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="URL", help="Server to load. [the one in the file]"),
    ] = None,
) -> int:
    """Write a traffic.toml and .hurl files that do what the file describes or records.

    FORMAT is one of: curl (commands), har (recording of a browser), access-log (nginx, Apache, or
    JSON lines), openapi (version 3, JSON or YAML), postman (collection v2.1). What can't be
    imported is left out, and said so. No file is overwritten.
    """
    from wiretrial.cli import traffic_from

    return traffic_from.from_(kind.value, path, folder, base)
