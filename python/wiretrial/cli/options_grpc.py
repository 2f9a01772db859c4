"""The options of calls of gRPC, and what was typed with them.

Knows the command line's words; must not know what they bring about: a shell reads this file to
show help and to complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wiretrial.cli import screen
from wiretrial.errors import UsageProblem

Proto = Annotated[
    list[Path] | None,
    typer.Option(
        "--proto",
        metavar="FILE",
        help="File that describes the service; repeatable. Of a call, --json is the message, -H "
        "its metadata, --expect '{...}' the fields of a right reply and --expect-status NAME its "
        "status. [ask the server]",
        show_default=False,
        rich_help_panel=screen.GRPC,
    ),
]
ProtoPath = Annotated[
    list[Path] | None,
    typer.Option(
        "--proto-path",
        metavar="DIR",
        help="Folder in which --proto files look for their imports; repeatable.",
        show_default=False,
        rich_help_panel=screen.GRPC,
    ),
]
Deadline = Annotated[
    str | None,
    typer.Option(
        "--deadline",
        metavar="TIME",
        help="Deadline of a call, of which the server is told; a later reply has failed.",
        rich_help_panel=screen.GRPC,
    ),
]
Gzip = Annotated[
    bool,
    typer.Option(
        "--gzip",
        help="Compress messages with gzip and accept compressed replies.",
        rich_help_panel=screen.GRPC,
    ),
]
MessageInterval = Annotated[
    str | None,
    typer.Option(
        "--message-interval",
        metavar="TIME",
        help="Client and bidirectional streams: send a message every TIME on each stream, without "
        "waiting for replies. [all at once]",
        show_default=False,
        rich_help_panel=screen.GRPC,
    ),
]
Turns = Annotated[
    bool,
    typer.Option(
        "--turns",
        help="Bidirectional streams: send the next message when the reply to the last one has "
        "arrived.",
        rich_help_panel=screen.GRPC,
    ),
]

HTTP_STATUS = "200"
"""What --expect-status is where nobody says it."""


@dataclass(frozen=True)
class Calls:
    """What a call of gRPC is, where its URL does not say it."""

    proto: tuple[Path, ...] = ()
    proto_path: tuple[Path, ...] = ()
    deadline: str | None = None
    gzip: bool = False
    message_interval: str | None = None
    turns: bool = False

    def refuse(self) -> None:
        """Raises where something of gRPC was typed, for another protocol."""
        typed = {
            "--proto": self.proto,
            "--proto-path": self.proto_path,
            "--deadline": self.deadline,
            "--gzip": self.gzip,
            "--message-interval": self.message_interval,
            "--turns": self.turns,
        }
        for flag, value in typed.items():
            if value:
                raise UsageProblem(f"{flag} is for grpc and grpcs", "leave it out")


NO_CALLS = Calls()
