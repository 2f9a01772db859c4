"""`wiretrial load URL`: one run against a server that somebody else started."""

from __future__ import annotations

import os
import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wiretrial import quantities, redaction
from wiretrial.cli import fleet_options, interrupts, output, reports, urls, workload
from wiretrial.cli.fleet_options import FleetWanted
from wiretrial.cli.live import Live
from wiretrial.engine import Engine
from wiretrial.errors import (
    EXIT_GOOD,
    EXIT_INVALID,
    EXIT_SIGNAL,
    LimitsTooLow,
    UsageProblem,
)
from wiretrial.machine import facts, listeners, preflight
from wiretrial.plan import GeneratorSettings, Phases, Plan, Stop, Target
from wiretrial.report import load_json, load_text, run
from wiretrial.report import text as text_report
from wiretrial.results.model import Scenario, Trial
from wiretrial.studies.recording import Recording

EXAMPLES = """\b
Examples:
  wiretrial load http://127.0.0.1:8080/
  wiretrial load http://127.0.0.1:8080/echo --json '{"n":"{seq}"}' --expect echo
  wiretrial load http://127.0.0.1:8080/items --expect json:ok=true --allow-errors 0.1%
  wiretrial load ws://127.0.0.1:9001 -c 1k -d 30s --payload 20
  wiretrial load ws://127.0.0.1:9001 --payload @chat.json --text --deflate
  wiretrial load https://127.0.0.1:8443/ --rate 10k --pacing poisson --cacert ca.pem
  wiretrial load ws://127.0.0.1:9001 -c 100k --threads 6 --sources 127.1.0.0/29 --hold -d 60s
  wiretrial load styx+json+ws://127.0.0.1:8080 -c 600 --table-size 6 --rate 600 --pacing phased
  wiretrial load socketio+ws://127.0.0.1:8080 --json '["get","messages","testing"]'
  wiretrial load tcp://127.0.0.1:7000 -n 1m --depth 16 --format json -o result.json
  wiretrial load http://127.0.0.1:8080/ -d 30s --report load.html
  wiretrial load ws://10.0.0.9:9001 -c 300k --fleet tls://10.0.0.1 --fleet-certificates certs

Exit: 0 measured, 1 the run failed, 4 the verdict is `invalid` or `overloaded` (the offered rate
was not reached). The figures are printed in each case.
"""
FAILED = ("invalid", "overloaded")
"""Verdicts that the exit code tells."""

DEFAULT_DURATION = "10s"
LEAST_ALLOWANCE_NS = 500_000_000
MOST_ALLOWANCE_NS = 5_000_000_000


class Pattern(StrEnum):
    """When the connections of a closed loop send."""

    STEADY = workload.STEADY
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


class Poller(StrEnum):
    """How the kernel reports that sockets are ready."""

    AUTO = "auto"
    URING = "uring"
    EPOLL = "epoll"


def load(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="http, https, ws, wss, tcp or tls; styx, styx+json, styx+ws or styx+json+ws; "
            "socketio+ws.",
        ),
    ],
    connections: workload.Connections = "10",
    duration: workload.Duration = None,
    requests: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--requests",
            metavar="N",
            help="Stop after N messages: 1000, 1k, 1m. [stop after -d]",
        ),
    ] = None,
    rate: workload.Rate = None,
    hold: Annotated[
        bool,
        typer.Option(
            "--hold",
            help="Hold idle connections: one message on each, then --rate messages/s in turn.",
        ),
    ] = False,
    pattern: Annotated[
        Pattern,
        typer.Option(
            "--pattern",
            help="Closed loop. steady: each connection sends after its own reply. random-burst: "
            "random connections send a pack each, and again after all replies.",
        ),
    ] = Pattern.STEADY,
    pacing: Annotated[
        Pacing,
        typer.Option(
            "--pacing",
            help="With --rate: constant, poisson, phased (staggered per connection), "
            "after-response (think time; a closed loop).",
        ),
    ] = Pacing.CONSTANT,
    overflow: Annotated[
        Overflow,
        typer.Option(
            "--overflow",
            help="Open loop, when every connection is busy: let a due message wait, or drop it.",
        ),
    ] = Overflow.WAIT,
    depth: workload.Depth = "1",
    pack: workload.Pack = "1",
    requests_per_connection: workload.PerConnection = None,
    payload: workload.PayloadSize = None,
    json_text: workload.JsonText = None,
    table_size: workload.TableSize = None,
    table_delay: workload.TableDelay = None,
    lobby: workload.Lobby = False,
    text: workload.Text = False,
    deflate: workload.Compressed = False,
    deflate_with: workload.Compression = None,
    greetings: workload.Greetings = "0",
    method: workload.Method = None,
    header: workload.Headers = None,
    expect: workload.Expected = None,
    expect_status: workload.ExpectedStatus = "200",
    allow_errors: workload.AllowedErrors = "0",
    warmup: Annotated[
        str,
        typer.Option(
            "--warmup",
            metavar="auto|TIME",
            help="Load before the measured time. The end of the warm-up is found in the data.",
        ),
    ] = "auto",
    timeout: Annotated[
        str, typer.Option("--timeout", metavar="TIME", help="Time limit of one request and reply.")
    ] = "10s",
    connect_timeout: Annotated[
        str,
        typer.Option(
            "--connect-timeout", metavar="TIME", help="Time limit for opening all connections."
        ),
    ] = "10s",
    threads: workload.Threads = "1",
    cpus: Annotated[
        str | None,
        typer.Option("--cpus", metavar="LIST", help="CPUs to pin the threads to: 1,3-5."),
    ] = None,
    spin: Annotated[
        bool,
        typer.Option(
            "--spin",
            help="Open loop: poll instead of sleeping before a message is due; uses more CPU.",
        ),
    ] = False,
    poller: Annotated[
        Poller, typer.Option("--poller", help="auto: io_uring where the kernel has it, else epoll.")
    ] = Poller.AUTO,
    sources: Annotated[
        str | None,
        typer.Option(
            "--sources",
            metavar="CIDR",
            help="Local addresses to connect from; each adds about 28,000 ports.",
        ),
    ] = None,
    insecure: workload.Insecure = False,
    cacert: workload.Authorities = None,
    server_name: Annotated[
        str | None,
        typer.Option(
            "--server-name",
            metavar="NAME",
            help="Server name to send (SNI) and to verify. [the URL's host]",
        ),
    ] = None,
    resumption: Annotated[
        bool,
        typer.Option(
            "--resumption/--no-resumption", help="Resume TLS sessions on new connections."
        ),
    ] = True,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of random choices.")] = 0,
    fleet: fleet_options.Fleet = None,
    fleet_certificates: fleet_options.FleetCertificates = None,
    fleet_agents: fleet_options.FleetAgents = None,
    on_agent_loss: fleet_options.AgentLoss = None,
    keep_secrets: workload.KeepSecrets = False,
    format_: Annotated[
        output.Format, typer.Option("--format", help="How the result is written.")
    ] = output.Format.TEXT,
    file: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="File to write the result to. [standard output]"
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="HTML file to write a page of the run to, too."
        ),
    ] = None,
) -> int:
    """Load the server at URL, verify every reply, and show rates, times and the bottleneck."""
    target = urls.parse(url, workload.LOADED)
    many = FleetWanted.of(fleet, fleet_certificates, fleet_agents, on_agent_loss)
    if duration is not None and requests is not None:
        raise UsageProblem("-d and -n exclude each other", "keep one")
    if hold and requests is not None:
        raise UsageProblem("--hold and -n exclude each other", "say how long they are held: -d 60s")
    allowed = quantities.share(allow_errors, "--allow-errors")
    length_ns = None
    if requests is None:
        length_ns = workload.length_ns(duration or DEFAULT_DURATION)
    chosen = workload.payload_of(target.protocol, payload, json_text)
    local = quantities.addresses(sources, "--sources") if sources else ()
    plan = Plan(
        target=Target(
            url=target.url,
            sources=local,
            http=workload.http_of(target.protocol, method, header or [], json_text),
            tls=workload.tls_of(insecure, cacert, server_name, resumption),
            websocket=workload.websocket_of(target.protocol, deflate, deflate_with, greetings),
            styx=workload.styx_of(target.protocol, table_size, table_delay, lobby=lobby),
            message=workload.message_of(chosen, json_text, text),
            expect=workload.expect_of(expect or (), expect_status),
        ),
        load=workload.load_of(
            connections=connections,
            depth=depth,
            pack=pack,
            rate=rate,
            pacing=pacing.value,
            overflow=overflow.value,
            requests_per_connection=requests_per_connection,
            hold=hold,
            pattern=pattern.value,
            seed=seed,
        ),
        stop=Stop(
            duration_ns=length_ns,
            requests=None
            if requests is None
            else quantities.count(requests, "--requests", most=2**53),
        ),
        phases=Phases(
            warmup_ns=_allowance_ns(warmup, length_ns),
            timeout_ns=quantities.duration_ns(timeout, "--timeout", 1_000_000),
            connect_ns=quantities.duration_ns(connect_timeout, "--connect-timeout", 1_000_000),
        ),
        generator=GeneratorSettings(
            threads=quantities.count(threads, "--threads", most=1024),
            cpus=_cpus(cpus, anywhere=many is not None),
            poller=poller.value,
            spin=spin,
        ),
    )
    if file:
        output.require_writable(file)
    if page:
        output.require_writable(page, "--report")
    if many is None:
        preflight.require(
            preflight.Demand(
                connections=plan.load.connections,
                threads=plan.generator.threads,
                source_addresses=max(1, len(local)),
                server_here=listeners.is_local(target.host, target.port),
            ),
            engine_follows=True,
        )
    with fleet_options.engine(many, keeps_cpus=True) as engine:
        try:
            trial, signal_number = _run(engine, plan, target, allowed, keeps_secrets=keep_secrets)
        except LimitsTooLow as short:
            raise short.for_command(("wiretrial", *sys.argv[1:])) from short
    output.emit(_render(trial, format_, to_terminal=file is None), file)
    if page:
        output.write_page(reports.page(run.build(trial)), page, "--report")
    if signal_number is not None:
        return EXIT_SIGNAL + signal_number
    return EXIT_INVALID if trial.judgement.verdict in FAILED else EXIT_GOOD


def _run(
    engine: Engine,
    plan: Plan,
    target: urls.Target,
    allowed_errors: float,
    *,
    keeps_secrets: bool,
) -> tuple[Trial, int | None]:
    server = listeners.of_url(target.url)
    with (
        Recording(
            engine, plan, server.pids, unseen=server.unseen, keeps_secrets=keeps_secrets
        ) as recording,
        interrupts.graceful(recording.stop) as interrupt,
        Live.for_plan(plan, _heading(plan, recording.plan), recording.progress) as live,
    ):
        for snapshot in recording:
            live.see(snapshot)
    trial = recording.trial(
        study="load",
        study_digest="",
        block=0,
        position=0,
        order_seed=0,
        scenario=Scenario(
            name=target.url,
            subject=target.url,
            protocol=target.protocol,
            workload="from the command line",
            environment=recording.environment,
        ),
        subject=None,
        machine=facts.collect(),
        allowed_errors=allowed_errors,
        command=shlex.join(("wiretrial", *sys.argv[1:])),
    )
    return trial, interrupt.number


def _heading(plan: Plan, whole: Plan) -> str:
    """What the live block is headed by: a fleet is as one machine with more threads."""
    agents = whole.generator.threads // plan.generator.threads
    shown = redaction.url(plan.target.url)
    return f"{shown}   from {agents} agents" if agents > 1 else shown


def _render(trial: Trial, chosen: output.Format, *, to_terminal: bool) -> str:
    if chosen is output.Format.JSON:
        # A whole record is a line that no terminal can show.
        is_shown = to_terminal and sys.stdout.isatty()
        return output.as_json(load_json(trial)) if is_shown else load_text(trial)
    return text_report.render_load(
        trial, width=output.width(), colour=to_terminal and output.colour(sys.stdout)
    )


def _allowance_ns(warmup: str, length_ns: int | None) -> int:
    if warmup != "auto":
        return quantities.duration_ns(warmup, "--warmup")
    if length_ns is None:
        return 0
    return min(max(length_ns // 5, LEAST_ALLOWANCE_NS), MOST_ALLOWANCE_NS)


def _cpus(text: str | None, *, anywhere: bool) -> tuple[int, ...]:
    """`anywhere`: of each agent, which sees for itself whether it has them."""
    if text is None:
        return ()
    chosen = quantities.cpus(text, "--cpus")
    if anywhere:
        return chosen
    usable = os.sched_getaffinity(0)
    missing = sorted(set(chosen) - usable)
    if missing:
        raise UsageProblem(
            f"--cpus {text}: there is no CPU {missing[0]} for us",
            f"use some of {','.join(str(cpu) for cpu in sorted(usable))}",
        )
    return chosen
