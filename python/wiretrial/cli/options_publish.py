"""The options of who publishes while receivers are held.

Knows the command line's words; must not know what they bring about: a shell reads this file to show
help and to complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

import typer

from wiretrial.cli import screen
from wiretrial.errors import UsageProblem

Url = Annotated[
    str | None,
    typer.Option(
        "--publish",
        metavar="URL",
        help="Post numbered events to this URL while streams (--sse) or WebSockets are held: each "
        "receiver must be told each event once, in order.",
        rich_help_panel=screen.LOAD,
    ),
]
Rate = Annotated[
    str | None,
    typer.Option(
        "--publish-rate",
        metavar="RATE",
        help="Events per second to publish. [10]",
        show_default=False,
        rich_help_panel=screen.LOAD,
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        "--publish-size",
        metavar="SIZE",
        help="Bytes of each event, 33 or more. [64]",
        show_default=False,
        rich_help_panel=screen.LOAD,
    ),
]
After = Annotated[
    str | None,
    typer.Option(
        "--publish-after",
        metavar="TIME",
        help="Time before the first event, in which all receivers must be accepted. [1s]",
        show_default=False,
        rich_help_panel=screen.LOAD,
    ),
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--publish-header",
        metavar="'NAME: VALUE'",
        help="HTTP header of each POST; repeatable. Headers of -H are sent there only if --publish "
        "has the same scheme, host and port as URL.",
        rich_help_panel=screen.LOAD,
    ),
]
LongPoll = Annotated[
    bool,
    typer.Option(
        "--long-poll",
        help="Ask for each event by long polling: GET of the URL with after=N, answered with "
        '{"last": N, "events": ["..."]}.',
        rich_help_panel=screen.LOAD,
    ),
]


@dataclass(frozen=True)
class Published:
    """What is published, as it was typed."""

    url: str | None = None
    rate: str | None = None
    size: str | None = None
    after: str | None = None
    long_poll: bool = False
    header: tuple[str, ...] = ()

    def refuse_without_url(self) -> None:
        """Raises where it is said how to publish, and not where."""
        how = (self.rate, self.size, self.after, self.long_poll or None, self.header or None)
        if self.url is None and any(one is not None for one in how):
            raise UsageProblem(
                "--publish-rate, -size, -after, -header and --long-poll are of what is published",
                "say where with --publish URL, or leave them out",
            )


NOTHING: Final = Published()
