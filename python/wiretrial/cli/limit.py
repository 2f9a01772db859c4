"""`wiretrial limit TARGET`: the highest rate at which a server keeps its goals.

Knows the options; must not know how the rate is searched for.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from wiretrial.cli import (
    options,
    options_grpc,
    options_http,
    options_kept,
    options_own,
    options_search,
    screen,
)
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face
from wiretrial.errors import UsageProblem

EXAMPLES = """\b
Examples:
  wiretrial limit http://127.0.0.1:8080/ --goal 'p99 < 50ms'
  wiretrial limit http://127.0.0.1:8080/ --goal 'p99 < 50ms' --goal 'errors < 0.1%' -c 200
  wiretrial limit ws://127.0.0.1:9001 --goal 'p99.9 < 5ms' -d 10s --within 20m
  wiretrial limit ws://127.0.0.1:8080/chat --goal 'p99 < 50ms' --http 2 -c 10 --streams 100
  wiretrial limit shop.toml --goal 'login.p99 < 200ms' --report limit.html
  wiretrial limit http://127.0.0.1:8080/ --goal 'p99 < 50ms' --server db=podman:postgres
  wiretrial limit http://127.0.0.1:8080/ --goal 'p99 < 50ms' --searches 1 -d 2s --tolerance 10%
  wiretrial limit tcp://127.0.0.1:7000 --format json -o limit.json
  wiretrial limit --command './server --port {port}' --path /items --goal 'p99 < 50ms'

A goal is p50, p90, p95, p99, p999, mean, max or errors, of one route as `ROUTE.p99`, with < or <=.
A level that lasts -d tells p99 from 1,000 messages; at a low rate it lasts longer.

Exit: 0 a rate was found, 1 the run failed, 3 a goal is not kept even at the lowest rate, or at the
only one (--from R --to R), 4 nothing can be said. The figures are printed in each case.
"""
CONNECT_TIMEOUT = "30s"
"""For opening all connections of a level."""


class Arrivals(StrEnum):
    """When messages are due."""

    CONSTANT = "constant"
    POISSON = "poisson"
    PHASED = "phased"


app = Face()


@app.add("limit", epilog=EXAMPLES)
def limit(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="[URL|FILE|SERVER]",
            help="What to load: a URL or a traffic file, as in `wiretrial load`, or a server to"
            " start, as in `wiretrial compare`: a folder, image:NAME[@PORT], SUBJECT[:tuned].",
            show_default=False,
        ),
    ] = None,
    command: options_own.Command = None,
    build: options_own.Build = None,
    port: options_own.Port = None,
    path: options_own.RequestPath = None,
    goal: options_search.Goals = None,
    connections: options_search.Connections = None,
    duration: options_search.Duration = options_search.LEVEL,
    within: options_search.Within = options_search.WITHIN,
    searches: options_search.Searches = options_search.SEARCHES,
    first: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="R",
            help="Rate of the first level per second, such as 500. "
            "[half of what a closed loop reaches]",
            show_default=False,
        ),
    ] = None,
    ceiling: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="R",
            help="Highest rate to try per second, such as 20k.",
            show_default=False,
        ),
    ] = None,
    tolerance: options_search.Tolerance = options_search.TOLERANCE,
    pacing: Annotated[
        Arrivals,
        typer.Option(
            "--pacing",
            help="Gaps between messages: constant, poisson, phased (staggered per connection).",
            rich_help_panel=screen.LOAD,
        ),
    ] = Arrivals.CONSTANT,
    depth: options.Depth = None,
    streams: options_http.Streams = None,
    pack: options.Pack = "1",
    requests_per_connection: options.PerConnection = None,
    payload: options.PayloadSize = None,
    json_text: options.JsonText = None,
    text: options.Text = False,
    deflate: options.Compressed = False,
    deflate_with: options.Compression = None,
    greetings: options.Greetings = "0",
    proto: options_grpc.Proto = None,
    proto_path: options_grpc.ProtoPath = None,
    deadline: options_grpc.Deadline = None,
    gzip: options_grpc.Gzip = False,
    message_interval: options_grpc.MessageInterval = None,
    turns: options_grpc.Turns = False,
    http: options_http.Fixed = options_http.FixedHttp.ONE,
    header_profile: options_http.Profile = None,
    method: options.Method = None,
    header: options.Headers = None,
    variable: options.Variables = None,
    follow: options.Follow = None,
    expect: options.Expected = None,
    expect_status: options.ExpectedStatus = "200",
    no_learn: options.NoLearn = False,
    warmup: options.WarmUp = "auto",
    timeout: options.Timeout = "10s",
    threads: options.Threads = "1",
    cpus: options.Cpus = None,
    poller: options.PollerChoice = options.Poller.AUTO,
    sources: options.Sources = None,
    insecure: options.Insecure = False,
    cacert: options.Authorities = None,
    seed: options.Seed = 0,
    server: options.Servers = None,
    fleet: options.FleetAddress = None,
    fleet_certificates: options.FleetCertificates = None,
    fleet_agents: options.FleetAgents = None,
    on_agent_loss: options.AgentLoss = None,
    keep_secrets: options_kept.KeepSecrets = False,
    format_: options.FormatOption = Format.TEXT,
    file: options.ToFile = None,
    page: options.ToPage = None,
) -> int:
    """Find the highest rate at which a server keeps its goals.

    Open loop: messages come at a rate, and time counts from the instant at which each was due. The
    rate is raised until a goal is missed or the server falls behind, then bisected; each end is
    confirmed on further levels. The result has an interval and says what keeps the rate from being
    higher: a goal, the server's CPU, overload, the connections or the load generator.
    """
    from wiretrial.cli import limiting, loading, spoken, starting

    if url is None and command is None:
        raise UsageProblem(
            "nothing to measure is named",
            "give a URL, a traffic file, or a server to start, such as --command LINE",
        )
    typed = loading.Typed(
        url or "",
        options.Loop(
            connections=connections or "",
            depth=spoken.in_flight(depth, streams),
            pack=pack,
            rate=None,
            requests_per_connection=requests_per_connection,
            pacing=pacing.value,
            seed=seed,
        ),
        options.Asked(
            payload=payload,
            json=json_text,
            text=text,
            method=method,
            header=tuple(header or ()),
            expect=tuple(expect or ()),
            expect_status=expect_status,
            learns=not no_learn,
            http=options.HttpVersions(http.value),
            streams=streams,
            header_profile=None if header_profile is None else header_profile.value,
        ),
        options.Security(insecure, cacert),
        loading.Extent(duration, None, warmup, timeout, CONNECT_TIMEOUT),
        loading.Generator(threads, cpus, poller=poller.value, sources=sources),
        loading.Further(
            deflate, deflate_with, greetings, variables=tuple(variable or ()), follow=follow
        ),
        servers=tuple(server or ()),
        calls=options_grpc.Calls(
            tuple(proto or ()), tuple(proto_path or ()), deadline, gzip, message_interval, turns
        ),
    )
    return limiting.limit(
        typed,
        limiting.Search(
            goals=tuple(goal or ()),
            first=first,
            ceiling=ceiling,
            searches=searches,
            tolerance=tolerance,
            within=within,
        ),
        options.Fleet(fleet, fleet_certificates, fleet_agents, on_agent_loss),
        limiting.Kept(keeps_secrets=keep_secrets, format=format_, file=file, page=page),
        starting.Own(tuple(build or ()), (command,) if command else (), (), port, path),
    )
