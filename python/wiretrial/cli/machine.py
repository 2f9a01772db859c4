"""`wiretrial machine`: facts that stand with every result, and what this machine can carry.

Knows the options; must not know how a machine is looked at.
"""

from __future__ import annotations

from typing import Annotated

import typer

from wiretrial.cli import options
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial machine
  wiretrial machine -c 10k
  wiretrial machine --format json
"""

app = Face()


@app.add("machine", epilog=EXAMPLES)
def machine(
    connections: Annotated[
        str,
        typer.Option(
            "-c",
            "--connections",
            metavar="N",
            help="Check whether this machine can hold N connections.",
        ),
    ] = "100",
    format_: options.FormatOption = Format.TEXT,
) -> int:
    """Show this machine's facts and check what a load needs of it."""
    from wiretrial.cli import capacity

    return capacity.show(connections, format_)
