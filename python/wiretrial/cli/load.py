"""`wiretrial load URL`: one run against a server that somebody else started.

Knows the options; must not know how a load is sent.
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
    options_publish,
    screen,
)
from wiretrial.cli.output import Format
from wiretrial.cli.screen import Face

EXAMPLES = """\b
Examples:
  wiretrial load http://127.0.0.1:8080/
  wiretrial load http://127.0.0.1:8080/echo --json '{"n":"{seq}"}' --expect echo
  wiretrial load shop.toml -d 30s
  wiretrial load http://127.0.0.1:8080/items --expect json:ok=true --allow-errors 0.1%
  wiretrial load http://127.0.0.1:8080/ --stages 30s:1k/s,2m:5k/s,30s:0 --report load.html
  wiretrial load http://127.0.0.1:8080/ --rate 500 -d 8h --report soak.html
  wiretrial load ws://127.0.0.1:9001 -c 1k -d 30s --payload 20
  wiretrial load ws://127.0.0.1:9001 --payload @chat.json --text --deflate
  wiretrial load wss://127.0.0.1:8443/chat --http 2 -c 10 --streams 100 --cacert ca.pem
  wiretrial load grpc://127.0.0.1:50051/shop.Shop/Find --json '{"name":"tea"}' --streams 10
  wiretrial load https://127.0.0.1:8443/ --rate 10k --pacing poisson --cacert ca.pem
  wiretrial load https://127.0.0.1:8443/ -c 10 --streams 10 --cacert ca.pem
  wiretrial load https://127.0.0.1:8443/ --http 2 --header-profile unique --cacert ca.pem
  wiretrial load https://127.0.0.1:8443/ --http 3 -c 10 --streams 10 --cacert ca.pem
  wiretrial load ws://127.0.0.1:9001 -c 100k --threads 6 --sources 127.1.0.0/29 --hold -d 60s
  wiretrial load styx+json+ws://127.0.0.1:8080 -c 600 --table-size 6 --rate 600 --pacing phased
  wiretrial load socketio+ws://127.0.0.1:8080 --json '["get","messages","testing"]'
  wiretrial load http://127.0.0.1:8080/events --sse -c 1k -d 30s
  wiretrial load ws://127.0.0.1:8080/subscribe --hold -c 1k --publish http://127.0.0.1:8080/publish
  wiretrial load tcp://127.0.0.1:7000 -n 1m --depth 16 --format json -o result.json
  wiretrial load http://127.0.0.1:8080/ -d 30s --report load.html
  wiretrial load http://127.0.0.1:8080/ --server app=pid:4711 --server db=podman:postgres
  wiretrial load http://10.0.0.9:8080/ --server ssh://10.0.0.9/unit/shop.service
  wiretrial load http://shop/ -d 2m --server 'prometheus:http://prom:9090?container=api'
  wiretrial load http://127.0.0.1:8080/ -d 5m --metrics prometheus:http://127.0.0.1:9090
  wiretrial load ws://10.0.0.9:9001 -c 300k --fleet tls://10.0.0.1 --fleet-certificates certs

Exit: 0 measured, 1 the run failed, 3 a goal of the traffic file was missed, 4 the verdict is
`invalid` or `overloaded` (the offered rate was not reached). The figures are printed in each case.
"""


class Pattern(StrEnum):
    """When the connections of a closed loop send."""

    STEADY = options.STEADY
    RANDOM_BURST = "random-burst"


class Pacing(StrEnum):
    """When messages are due."""

    CONSTANT = "constant"
    POISSON = "poisson"
    PHASED = "phased"
    AFTER_RESPONSE = "after-response"


class Overflow(StrEnum):
    """What happens to a due message when every connection is busy."""

    WAIT = "wait"
    DROP = "drop"


app = Face()


@app.add("load", epilog=EXAMPLES)
def load(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL|FILE",
            help="http, https, ws, wss, tcp or tls; grpc or grpcs (/package.Service/Method); styx, "
            "styx+json, styx+ws or styx+json+ws; socketio+ws. Or a traffic file, .toml or .hurl: "
            "scenarios of several requests, with data, think times and ramps.",
        ),
    ],
    connections: options.Connections = "10",
    duration: options.Duration = None,
    requests: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--requests",
            metavar="N",
            help="Stop after N messages: 1000, 1k, 1m. [stop after -d]",
        ),
    ] = None,
    rate: options.Rate = None,
    stages: options.Stages = None,
    hold: Annotated[
        bool,
        typer.Option(
            "--hold",
            help="Hold idle connections, over HTTP/2 and HTTP/3 --streams WebSockets on each: one "
            "message on each, then --rate messages/s in turn.",
            rich_help_panel=screen.LOAD,
        ),
    ] = False,
    pattern: Annotated[
        Pattern,
        typer.Option(
            "--pattern",
            help="Closed loop. steady: each connection sends after its own reply. random-burst: "
            "random connections send a pack each, and again after all replies.",
            rich_help_panel=screen.LOAD,
        ),
    ] = Pattern.STEADY,
    pacing: Annotated[
        Pacing,
        typer.Option(
            "--pacing",
            help="With --rate: constant, poisson, phased (staggered per connection), "
            "after-response (think time; a closed loop).",
            rich_help_panel=screen.LOAD,
        ),
    ] = Pacing.CONSTANT,
    overflow: Annotated[
        Overflow,
        typer.Option(
            "--overflow",
            help="Open loop, when every connection is busy: let a due message wait, or drop it.",
            rich_help_panel=screen.LOAD,
        ),
    ] = Overflow.WAIT,
    depth: options.Depth = None,
    streams: options_http.Streams = None,
    pack: options.Pack = "1",
    requests_per_connection: options.PerConnection = None,
    payload: options.PayloadSize = None,
    json_text: options.JsonText = None,
    table_size: options.TableSize = None,
    table_delay: options.TableDelay = None,
    lobby: options.Lobby = False,
    proto: options_grpc.Proto = None,
    proto_path: options_grpc.ProtoPath = None,
    deadline: options_grpc.Deadline = None,
    gzip: options_grpc.Gzip = False,
    message_interval: options_grpc.MessageInterval = None,
    turns: options_grpc.Turns = False,
    text: options.Text = False,
    deflate: options.Compressed = False,
    deflate_with: options.Compression = None,
    greetings: options.Greetings = "0",
    http: options_http.Version = options.HttpVersions.AUTO,
    window: options_http.Window = None,
    connection_window: options_http.ConnectionWindow = None,
    congestion: options_http.Control = None,
    early_data: options_http.EarlyData = False,
    header_profile: options_http.Profile = None,
    sse: Annotated[
        bool,
        typer.Option(
            "--sse",
            help="Hold streams of events (text/event-stream), one per connection, over HTTP/2 and "
            "HTTP/3 --streams. With --hold they may be silent.",
            rich_help_panel=screen.LOAD,
        ),
    ] = False,
    publish: options_publish.Url = None,
    publish_rate: options_publish.Rate = None,
    publish_size: options_publish.Size = None,
    publish_after: options_publish.After = None,
    publish_header: options_publish.Headers = None,
    long_poll: options_publish.LongPoll = False,
    method: options.Method = None,
    header: options.Headers = None,
    variable: options.Variables = None,
    follow: options.Follow = None,
    expect: options.Expected = None,
    expect_status: options.ExpectedStatus = "200",
    no_learn: options.NoLearn = False,
    learn_to: options.LearnTo = None,
    allow_errors: options.AllowedErrors = "0",
    warmup: options.WarmUp = "auto",
    timeout: options.Timeout = "10s",
    connect_timeout: Annotated[
        str,
        typer.Option(
            "--connect-timeout",
            metavar="TIME",
            help="Time limit for opening all connections.",
            rich_help_panel=screen.LOAD,
        ),
    ] = "10s",
    threads: options.Threads = "1",
    cpus: options.Cpus = None,
    spin: Annotated[
        bool,
        typer.Option(
            "--spin",
            help="Open loop: poll instead of sleeping before a message is due; uses more CPU.",
            rich_help_panel=screen.GENERATOR,
        ),
    ] = False,
    poller: options.PollerChoice = options.Poller.AUTO,
    sources: options.Sources = None,
    insecure: options.Insecure = False,
    cacert: options.Authorities = None,
    server_name: Annotated[
        str | None,
        typer.Option(
            "--server-name",
            metavar="NAME",
            help="Server name to send (SNI) and to verify. [the URL's host]",
            rich_help_panel=screen.TLS,
        ),
    ] = None,
    resumption: Annotated[
        bool,
        typer.Option(
            "--resumption/--no-resumption",
            help="Resume TLS sessions on new connections.",
            rich_help_panel=screen.TLS,
        ),
    ] = True,
    seed: options.Seed = 0,
    server: options.Servers = None,
    fleet: options.FleetAddress = None,
    fleet_certificates: options.FleetCertificates = None,
    fleet_agents: options.FleetAgents = None,
    on_agent_loss: options.AgentLoss = None,
    soak: Annotated[
        bool,
        typer.Option(
            "--soak",
            help="Say whether throughput, p99, the server's memory and CPU drifted, as in runs of "
            "10 min and more.",
            rich_help_panel=screen.OUTPUT,
        ),
    ] = False,
    label: options_kept.Labels = None,
    keep_secrets: options_kept.KeepSecrets = False,
    format_: options.FormatOption = Format.TEXT,
    metrics: options_kept.MetricsTo = None,
    file: options.ToFile = None,
    page: options.ToPage = None,
) -> int:
    """Load the server at URL, verify every reply, and show rates, times and the bottleneck."""
    from wiretrial.cli import loading, spoken

    typed = loading.Typed(
        url,
        options.Loop(
            connections=connections,
            depth=spoken.in_flight(depth, streams),
            pack=pack,
            rate=rate,
            requests_per_connection=requests_per_connection,
            hold=hold,
            pattern=pattern.value,
            pacing=pacing.value,
            overflow=overflow.value,
            seed=seed,
            stages=stages,
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
            learn_to=learn_to,
            http=http,
            sse=sse,
            streams=streams,
            window=window,
            connection_window=connection_window,
            early_data=early_data,
            congestion=None if congestion is None else congestion.value,
            header_profile=None if header_profile is None else header_profile.value,
        ),
        options.Security(insecure, cacert, server_name, resumption),
        loading.Extent(duration, requests, warmup, timeout, connect_timeout),
        loading.Generator(threads, cpus, spin, poller.value, sources),
        loading.Further(
            deflate=deflate,
            deflate_with=deflate_with,
            greetings=greetings,
            table_size=table_size,
            table_delay=table_delay,
            lobby=lobby,
            variables=tuple(variable or ()),
            follow=follow,
            published=options_publish.Published(
                *(publish, publish_rate, publish_size, publish_after, long_poll),
                header=tuple(publish_header or ()),
            ),
        ),
        servers=tuple(server or ()),
        calls=options_grpc.Calls(
            tuple(proto or ()), tuple(proto_path or ()), deadline, gzip, message_interval, turns
        ),
    )
    return loading.load(
        typed,
        options.Fleet(fleet, fleet_certificates, fleet_agents, on_agent_loss),
        loading.Kept(
            allow_errors=allow_errors,
            keeps_secrets=keep_secrets,
            format=format_,
            file=file,
            page=page,
            is_soak=soak,
            metrics=metrics,
            labels=tuple(label or ()),
        ),
    )
