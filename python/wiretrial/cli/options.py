"""The options that several commands have, and what was typed with them.

Knows the command line's words; must not know what they bring about: a shell reads this file to
show help and to complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from wiretrial.cli import names, screen
from wiretrial.cli.output import Format

STEADY = "steady"
"""The pattern of a closed loop in which each connection goes on by itself."""


class OnAgentLoss(StrEnum):
    """What the others do when an agent is lost."""

    STOP = "stop"
    GO_ON = "go-on"


class HttpVersions(StrEnum):
    """Versions of HTTP that the generator speaks. AUTO: over TLS ONE or TWO, as a server picks."""

    ONE = "1.1"
    TWO = "2"
    THREE = "3"
    AUTO = "auto"


class Poller(StrEnum):
    """How the kernel reports that sockets are ready."""

    AUTO = "auto"
    URING = "uring"
    EPOLL = "epoll"


COMPARED_CONNECTIONS = "32"
"""Connections of a comparison, where -c does not say."""
Variables = Annotated[
    list[str] | None,
    typer.Option(
        "--variable",
        metavar="NAME=VALUE",
        help="Traffic file: value for {{NAME}}; repeatable.",
        rich_help_panel=screen.LOAD,
    ),
]
Follow = Annotated[
    str | None,
    typer.Option(
        "--follow",
        metavar="N",
        help="Traffic file: follow up to N redirects of a request; the last reply is checked.",
        rich_help_panel=screen.REPLIES,
    ),
]
Connections = Annotated[
    str,
    typer.Option(
        "-c",
        "--connections",
        metavar="N",
        help="Connections, over all threads; of a traffic file: virtual users.",
    ),
]
Duration = Annotated[
    str | None,
    typer.Option(
        "-d", "--duration", metavar="TIME", help="How long to measure: 10s, 500ms, 2m. [10s]"
    ),
]
Depth = Annotated[
    str | None,
    typer.Option(
        "--depth",
        metavar="K",
        help="Most requests in flight per connection. [1]",
        rich_help_panel=screen.LOAD,
    ),
]
Pack = Annotated[
    str,
    typer.Option(
        "--pack",
        metavar="F",
        help="Messages per write; --depth must be a multiple of it.",
        rich_help_panel=screen.LOAD,
    ),
]
Rate = Annotated[
    str | None,
    typer.Option(
        "-r",
        "--rate",
        metavar="R",
        help="Open loop at an arrival rate: R messages (or sessions of a traffic file) per second, "
        "in all: 5000, 10k. [closed loop]",
    ),
]
Stages = Annotated[
    str | None,
    typer.Option(
        "--stages",
        metavar="TIME:LEVEL,...",
        help="Load over time: each stage ramps to its level, 0s: at once. Levels are connections "
        "(30s:100,2m:500,30s:0), or messages per second with /s or --rate, where it begins.",
        rich_help_panel=screen.LOAD,
    ),
]
PayloadSize = Annotated[
    str | None,
    typer.Option(
        "--payload",
        metavar="SIZE|@FILE",
        help="Payload: a size (64, 1KiB), or a file's content (@FILE).",
    ),
]
JsonText = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="TEXT",
        help="JSON payload. {seq} becomes the message's number, as 16 hex digits in a string.",
    ),
]
Text = Annotated[
    bool,
    typer.Option("--text", help="WebSocket: send text frames.", rich_help_panel=screen.SOCKETS),
]
Method = Annotated[
    str | None,
    typer.Option("-X", "--method", metavar="NAME", help="HTTP method. [GET; POST with a payload]"),
]
Headers = Annotated[
    list[str] | None,
    typer.Option("-H", "--header", metavar="'NAME: VALUE'", help="HTTP header; repeatable."),
]
Expected = Annotated[
    list[str] | None,
    typer.Option(
        "--expect",
        metavar="RULE",
        help="The right reply's content: echo (default for ws, tcp), learned (default for http: "
        "what 30 replies before the load have in common), shape (the same without constants: types "
        "and members of JSON), broadcast (each message comes to all connections), @FILE, status "
        "(any content), json:PATH=VALUE, json:PATH or regex:PATTERN; the last three are repeatable "
        "and must all hold.",
    ),
]
NoLearn = Annotated[
    bool,
    typer.Option(
        "--no-learn",
        help="Do not ask before the load what is right: the first reply is, byte for byte. Traffic "
        "file: refuse entries without a response part.",
        rich_help_panel=screen.REPLIES,
    ),
]
LearnTo = Annotated[
    Path | None,
    typer.Option(
        "--learn-to",
        metavar="FILE",
        help="New .hurl file for what was learned, as response parts to read and keep.",
        rich_help_panel=screen.REPLIES,
    ),
]
AllowedErrors = Annotated[
    str,
    typer.Option(
        "--allow-errors",
        metavar="SHARE",
        help="Share of messages that may fail, such as 0.1%, before the verdict is `invalid`.",
        rich_help_panel=screen.REPLIES,
    ),
]
ExpectedStatus = Annotated[
    str,
    typer.Option(
        "--expect-status",
        metavar="CODE",
        help="HTTP status of a right reply.",
        rich_help_panel=screen.REPLIES,
    ),
]
Insecure = Annotated[
    bool,
    typer.Option(
        "--insecure",
        help="Accept any certificate. The result records this.",
        rich_help_panel=screen.TLS,
    ),
]
Authorities = Annotated[
    Path | None,
    typer.Option(
        "--cacert",
        metavar="FILE",
        help="PEM file of authorities to trust.",
        rich_help_panel=screen.TLS,
    ),
]
TableSize = Annotated[
    str | None,
    typer.Option(
        "--table-size",
        metavar="N",
        help="Styx: players at each table; each receives each message. [1]",
        rich_help_panel=screen.STYX,
    ),
]
TableDelay = Annotated[
    str | None,
    typer.Option(
        "--table-delay",
        metavar="TIME",
        help="Styx: delay of the table's answer, in whole ms. [0]",
        rich_help_panel=screen.STYX,
    ),
]
Lobby = Annotated[
    bool,
    typer.Option(
        "--lobby",
        help="Styx: send each player snapshots of the lobby, too.",
        rich_help_panel=screen.STYX,
    ),
]
Greetings = Annotated[
    str,
    typer.Option(
        "--greetings",
        metavar="N",
        help="WebSocket: messages that the server sends unasked on each connection; not replies.",
        rich_help_panel=screen.SOCKETS,
    ),
]
Compressed = Annotated[
    bool,
    typer.Option(
        "--deflate",
        help="WebSocket: compress messages; fail if the server does not.",
        rich_help_panel=screen.SOCKETS,
    ),
]
Compression = Annotated[
    str | None,
    typer.Option(
        "--deflate-with",
        metavar="LIST",
        help="--deflate with parameters: server_no_context_takeover, client_no_context_takeover, "
        "server_max_window_bits=8..15, client_max_window_bits=8..15, level=1..9.",
        rich_help_panel=screen.SOCKETS,
    ),
]
Threads = Annotated[
    str,
    typer.Option(
        "--threads", metavar="T", help="Threads of the generator.", rich_help_panel=screen.GENERATOR
    ),
]
Cpus = Annotated[
    str | None,
    typer.Option(
        "--cpus",
        metavar="LIST",
        help="CPUs to pin the threads to: 1,3-5.",
        rich_help_panel=screen.GENERATOR,
    ),
]
PollerChoice = Annotated[
    Poller,
    typer.Option(
        "--poller",
        help="auto: io_uring where the kernel has it, else epoll.",
        rich_help_panel=screen.GENERATOR,
    ),
]
Sources = Annotated[
    str | None,
    typer.Option(
        "--sources",
        metavar="CIDR",
        help="Local addresses to connect from; each adds about 28,000 ports.",
        rich_help_panel=screen.GENERATOR,
    ),
]
PerConnection = Annotated[
    str | None,
    typer.Option(
        "--requests-per-connection",
        metavar="K",
        help="Replace each connection after K requests. [keep them open]",
        rich_help_panel=screen.LOAD,
    ),
]
Results = Annotated[Path, typer.Option("--results", metavar="DIR", help="Folder for the results.")]
Past = Annotated[
    str,
    typer.Option(
        "--results",
        metavar="DIR|URL",
        help="Folder of the results, or a team's store in PostgreSQL (env: $WIRETRIAL_STORE).",
    ),
]
Details = Annotated[
    bool,
    typer.Option("--details", help="Print every table and sentence of the report at the end."),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="DIR",
        help="Continue the study in DIR with its missing trials.",
        autocompletion=names.results,
    ),
]
OrderSeed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of the order of trials. [random, recorded]"),
]
WarmUp = Annotated[
    str,
    typer.Option(
        "--warmup",
        metavar="auto|TIME",
        help="Load before the measured time. The end of the warm-up is found in the data.",
        rich_help_panel=screen.LOAD,
    ),
]
Timeout = Annotated[
    str,
    typer.Option(
        "--timeout",
        metavar="TIME",
        help="Time limit of one request and reply.",
        rich_help_panel=screen.LOAD,
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, help="Seed of random choices.", rich_help_panel=screen.LOAD),
]
ToFile = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="File to write the result to. [standard output]"
    ),
]
ToPage = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="HTML file to write a page of the result to, too."
    ),
]
Servers = Annotated[
    list[str] | None,
    typer.Option(
        "--server",
        metavar="[NAME=]ADDRESS",
        help="Watch a server of your application (CPU per message, memory, throttling): "
        "pid:4711, cgroup:/app.slice, docker:NAME, podman:NAME, ssh://HOST/unit/NAME or "
        "prometheus:http://HOST:9090; repeatable.",
        rich_help_panel=screen.SERVERS,
        show_default=False,
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How the result is written.")]
Prefix = Annotated[
    list[str] | None,
    typer.Option(
        "--prefix",
        metavar="DIR",
        help="Folder of a library that was installed by hand. Repeatable.",
        show_default=False,
    ),
]
FleetAddress = Annotated[
    str | None,
    typer.Option(
        "--fleet",
        metavar="ADDRESS",
        help="Send from the agents of this Dask scheduler: tls://HOST:8786.",
        show_default=False,
        rich_help_panel=screen.FLEET,
    ),
]
FleetCertificates = Annotated[
    Path | None,
    typer.Option(
        "--fleet-certificates",
        metavar="DIR",
        help="Folder with authority.pem, client.pem and client.key (`fleet certificates`).",
        show_default=False,
        rich_help_panel=screen.FLEET,
    ),
]
FleetAgents = Annotated[
    str | None,
    typer.Option(
        "--fleet-agents",
        metavar="N",
        help="Wait until N agents are connected. [use those connected]",
        show_default=False,
        rich_help_panel=screen.FLEET,
    ),
]
AgentLoss = Annotated[
    OnAgentLoss | None,
    typer.Option(
        "--on-agent-loss",
        help="What the other agents do when one is lost. [stop]",
        show_default=False,
        rich_help_panel=screen.FLEET,
    ),
]


@dataclass(frozen=True)
class Loop:
    """How many connections, and who sends next."""

    connections: str
    depth: str
    pack: str
    rate: str | None
    requests_per_connection: str | None
    hold: bool = False
    pattern: str = STEADY
    pacing: str = "constant"
    overflow: str = "wait"
    seed: int = 0
    stages: str | None = None


@dataclass(frozen=True)
class Asked:
    """What is sent, and what a right reply is."""

    payload: str | None
    json: str | None
    text: bool
    method: str | None
    header: tuple[str, ...]
    expect: tuple[str, ...]
    expect_status: str
    learns: bool = True
    """Whether the server is asked before the load, where it is not said what is right."""
    learn_to: Path | None = None
    """The file that gets what was learned."""
    http: HttpVersions = HttpVersions.ONE
    sse: bool = False
    """Whether replies are streams of events, which are held."""
    streams: str | None = None
    """Requests in flight over HTTP/2 and HTTP/3, where they were typed so."""
    window: str | None = None
    connection_window: str | None = None
    congestion: Literal["cubic", "new-reno", "bbr"] | None = None
    early_data: bool = False
    header_profile: Literal["constant", "partly", "unique"] | None = None


@dataclass(frozen=True)
class Security:
    """Whose certificate is accepted."""

    insecure: bool
    cacert: Path | None
    server_name: str | None = None
    resumption: bool = True


@dataclass(frozen=True)
class Fleet:
    """Whose machines send."""

    address: str | None
    certificates: Path | None
    agents: str | None
    on_loss: OnAgentLoss | None
