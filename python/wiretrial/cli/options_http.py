"""The options that say which HTTP is spoken, and what a server may send over HTTP/2.

Knows the command line's words; must not know what they bring about: a shell reads this file to show
help and to complete.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from wiretrial.cli import options, screen


class FixedHttp(StrEnum):
    """Versions of HTTP where two servers, or two levels of load, must speak the same."""

    ONE = "1.1"
    TWO = "2"
    THREE = "3"


class Congestion(StrEnum):
    """Algorithms of congestion control."""

    CUBIC = "cubic"
    NEW_RENO = "new-reno"
    BBR = "bbr"


class HeaderProfile(StrEnum):
    """Which of ten header fields, like those of a browser, are new in each request."""

    CONSTANT = "constant"
    PARTLY = "partly"
    UNIQUE = "unique"


Version = Annotated[
    options.HttpVersions,
    typer.Option(
        "--http",
        help="Version of HTTP. auto: https:// URLs in the one that the server picks of 2 and 1.1 "
        "(ALPN), http:// in 1.1. 2: over TLS by ALPN, else from the first byte; of ws and wss, "
        "WebSockets on its streams (RFC 8441). 3: https://, wss:// and grpcs:// URLs over QUIC; "
        "auto never picks it.",
        rich_help_panel=screen.LOAD,
    ),
]
Fixed = Annotated[
    FixedHttp,
    typer.Option(
        "--http",
        help="Version of HTTP. 2: agreed on by ALPN; without TLS, spoken from the first byte; of "
        "ws and wss, WebSockets on its streams (RFC 8441). 3: https://, wss:// and grpcs:// URLs "
        "over QUIC.",
        rich_help_panel=screen.LOAD,
    ),
]
Streams = Annotated[
    str | None,
    typer.Option(
        "--streams",
        metavar="K",
        help="HTTP/2, HTTP/3, gRPC: most requests in flight per connection, each on a stream; of "
        "ws and wss, WebSockets per connection.",
        rich_help_panel=screen.LOAD,
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="SIZE",
        help="HTTP/2, as a factor: what the server may send on a stream before it is allowed more. "
        "[4MiB]",
        rich_help_panel=screen.LOAD,
    ),
]
ConnectionWindow = Annotated[
    str | None,
    typer.Option(
        "--connection-window",
        metavar="SIZE",
        help="The same on all streams of a connection together. [64MiB]",
        rich_help_panel=screen.LOAD,
    ),
]
Control = Annotated[
    Congestion | None,
    typer.Option(
        "--congestion",
        help="Congestion control of what the generator sends. [TCP: the kernel's default, HTTP/3: "
        "cubic]",
        rich_help_panel=screen.LOAD,
    ),
]
EarlyData = Annotated[
    bool,
    typer.Option(
        "--early-data",
        help="HTTP/3: on new connections, send requests before the handshake has ended (0-RTT), "
        "where the server accepts that.",
        rich_help_panel=screen.LOAD,
    ),
]
Profile = Annotated[
    HeaderProfile | None,
    typer.Option(
        "--header-profile",
        help="http and https: send ten header fields like a browser's in each request, with the "
        "same values (constant), a new cookie and request id (partly) or new values (unique).",
        rich_help_panel=screen.LOAD,
    ),
]
