"""One run against a server that somebody else started: its plan, its trial, what is shown of it.

Knows what was typed; must not know how it was spelled.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wiretrial import quantities, redaction
from wiretrial.cli import (
    fleet_wanted,
    interrupts,
    labels,
    output,
    reports,
    spoken,
    staging,
    traffic_wanted,
    urls,
    workload,
)
from wiretrial.cli.exporting import Metrics
from wiretrial.cli.fleet_wanted import FleetWanted
from wiretrial.cli.learning import Learning
from wiretrial.cli.live import Live
from wiretrial.cli.options import Asked, Fleet, Loop, Security
from wiretrial.cli.options_grpc import NO_CALLS, Calls
from wiretrial.cli.options_publish import NOTHING, Published
from wiretrial.cli.published import publish_of, require_listeners
from wiretrial.cli.wanted import Wanted
from wiretrial.engine import Engine
from wiretrial.errors import (
    EXIT_GATE,
    EXIT_GOOD,
    EXIT_INVALID,
    EXIT_SIGNAL,
    LimitsTooLow,
    UsageProblem,
    reworded,
)
from wiretrial.machine import facts, listeners, preflight
from wiretrial.observers import address, opening
from wiretrial.observers.address import Address
from wiretrial.observers.watching import REST_S, Watching
from wiretrial.plan import GeneratorSettings, Message, Phases, Plan, Stop, Target, Tls
from wiretrial.report import goal_metrics, load_json, load_lines, load_text, run
from wiretrial.results.model import Scenario, Trial
from wiretrial.studies import sent
from wiretrial.studies.recording import Recording
from wiretrial.traffic import loads
from wiretrial.traffic.compiler import is_traffic
from wiretrial.words import CALLS

if TYPE_CHECKING:
    from wiretrial.cli.grpc_wanted import Call

FAILED = ("invalid", "overloaded")
"""Verdicts that the exit code tells."""

DEFAULT_DURATION = "10s"
LEAST_ALLOWANCE_NS = 500_000_000
MOST_ALLOWANCE_NS = 5_000_000_000


@dataclass(frozen=True)
class Extent:
    """How long, and how long something may take."""

    duration: str | None
    requests: str | None
    warmup: str
    timeout: str
    connect_timeout: str


@dataclass(frozen=True)
class Generator:
    """Where the load comes from."""

    threads: str
    cpus: str | None = None
    spin: bool = False
    poller: Literal["auto", "uring", "epoll"] = "auto"
    sources: str | None = None


@dataclass(frozen=True)
class Further:
    """What only some protocols have."""

    deflate: bool
    deflate_with: str | None
    greetings: str
    table_size: str | None = None
    table_delay: str | None = None
    lobby: bool = False
    variables: tuple[str, ...] = ()
    follow: str | None = None
    published: Published = NOTHING


@dataclass(frozen=True)
class Typed:
    """What is sent where, and how, as it was typed. `url`: or a traffic file."""

    url: str
    loop: Loop
    asked: Asked
    security: Security
    extent: Extent
    generator: Generator
    further: Further
    servers: tuple[str, ...] = ()
    """Addresses of the application's parts, to be watched."""
    calls: Calls = NO_CALLS


@dataclass(frozen=True)
class Kept:
    """What becomes of what was measured."""

    allow_errors: str
    keeps_secrets: bool
    format: output.Format
    file: Path | None
    page: Path | None
    is_soak: bool = False
    """Drift is told, however short the run is."""
    metrics: str | None = None
    """Where they go while it runs, as it was typed."""
    labels: tuple[str, ...] = ()


def load(typed: Typed, fleet: Fleet, kept: Kept) -> int:
    """Measures and shows; the exit code tells the verdict."""
    many = FleetWanted.of(fleet)
    allowed = quantities.share(kept.allow_errors, "--allow-errors")
    parts = address.parse_all(typed.servers)
    called = labels.wanted(kept.labels)
    plan, wanted = planned(typed, many)
    opening.require_length(parts, plan.stop.duration_ns)
    metrics = Metrics(kept.metrics)
    if kept.file:
        output.require_writable(kept.file)
    if kept.page:
        output.require_writable(kept.page, "--report")
    if many is None:
        require_room(plan, wanted)
    with fleet_wanted.engine(many, keeps_cpus=True) as engine:
        plan, wanted = Learning.of(typed.asked).learnt(
            plan, wanted, typed.further.variables, of_fleet=many is not None
        )
        try:
            with metrics:
                trial, signal_number = run_one(
                    engine,
                    plan,
                    wanted,
                    allowed,
                    keeps_secrets=kept.keeps_secrets,
                    is_soak=kept.is_soak,
                    parts=parts,
                    metrics=metrics,
                    called=called,
                )
        except LimitsTooLow as short:
            raise short.for_command(("wiretrial", *sys.argv[1:])) from short
    outcomes = goal_metrics.judge(wanted.goals, trial)
    output.emit(_render(trial, kept.format, to_terminal=kept.file is None), kept.file)
    for outcome in outcomes:
        output.say(f"goal {outcome.line}")
    if kept.page:
        output.write_page(reports.page(run.build(trial)), kept.page, "--report")
    if signal_number is not None:
        return EXIT_SIGNAL + signal_number
    if trial.judgement.verdict in FAILED:
        return EXIT_INVALID
    return EXIT_GOOD if all(one.is_kept for one in outcomes) else EXIT_GATE


def planned(typed: Typed, many: FleetWanted | None) -> tuple[Plan, Wanted]:
    """The plan of what was typed, checked; `many`: the fleet that sends, where one does."""
    loop, extent, generator = typed.loop, typed.extent, typed.generator
    if extent.duration is not None and extent.requests is not None:
        raise UsageProblem("-d and -n exclude each other", "keep one")
    if loop.hold and extent.requests is not None:
        raise UsageProblem("--hold and -n exclude each other", "say how long they are held: -d 60s")
    length_ns = None
    if extent.requests is None:
        staged = staging.of(loop)
        usual = (staged.length_ns if staged else 0) or workload.length_ns(DEFAULT_DURATION)
        length_ns = workload.length_ns(extent.duration) if extent.duration else usual
    local = quantities.addresses(generator.sources, "--sources") if generator.sources else ()
    typed.further.published.refuse_without_url()
    if is_traffic(typed.url):
        if typed.asked.sse:
            raise UsageProblem("--sse is of one URL", "leave it out, or name a URL")
        if typed.further.published.url is not None:
            raise UsageProblem("--publish is beside one URL", "leave it out, or name a URL")
        wanted = traffic_wanted.wanted(
            *(Path(typed.url), typed.further.variables, loop, typed.asked, typed.security),
            *(length_ns, extent.requests, local),
            is_timed=extent.duration is not None,
            follow=typed.further.follow,
        )
    else:
        wanted = _one_message(typed, length_ns, local)
    threads = quantities.count(generator.threads, "--threads", most=1024)
    loads.require_one_thread(wanted.load, threads)
    plan = Plan(
        target=wanted.target,
        load=wanted.load,
        stop=wanted.stop,
        traffic=wanted.traffic,
        phases=Phases(
            # A load over time begins as it says.
            warmup_ns=_allowance_ns(extent.warmup, None if wanted.load.stages else length_ns),
            timeout_ns=quantities.duration_ns(extent.timeout, "--timeout", 1_000_000),
            connect_ns=quantities.duration_ns(
                extent.connect_timeout, "--connect-timeout", 1_000_000
            ),
        ),
        generator=GeneratorSettings(
            threads=threads,
            cpus=_cpus(generator.cpus, anywhere=many is not None),
            poller=generator.poller,
            spin=generator.spin,
        ),
        publish=publish_of(typed.further.published),
    )
    if plan.publish is not None and many is not None:
        raise UsageProblem("--publish and --fleet exclude each other", "load from this machine")
    return plan, wanted


def require_room(plan: Plan, wanted: Wanted) -> None:
    """Refuses what this machine can't carry."""
    target = wanted.address
    preflight.require(
        preflight.Demand(
            connections=plan.load.connections,
            threads=plan.generator.threads,
            source_addresses=max(1, len(plan.target.sources)),
            server_here=listeners.is_local(target.host, target.port),
        ),
        engine_follows=True,
    )


def _one_message(typed: Typed, length_ns: int | None, local: tuple[str, ...]) -> Wanted:
    """One message, sent again and again to one URL."""
    asked, further, requests = typed.asked, typed.further, typed.extent.requests
    target = urls.parse(typed.url, workload.LOADED)
    if further.variables:
        raise UsageProblem("--variable is of traffic files", "leave it out, or name a file")
    Learning.of(asked).require_fitting(target.protocol)
    publishes = further.published.url is not None
    if asked.sse:
        workload.require_streams(typed.loop, asked, requests)
    elif publishes:
        long_poll = further.published.long_poll
        require_listeners(target.protocol, typed.loop, asked, requests, long_poll=long_poll)
    if further.follow is not None:
        raise UsageProblem(
            "--follow is of traffic files", "load the URL that the redirect leads to"
        )
    tls = workload.tls_of(typed.security)
    called = _called(typed, target, tls)
    parts = (
        {
            "http": workload.http_of(target.protocol, asked),
            "message": Message() if publishes else workload.message_of(target.protocol, asked),
            "expect": workload.expect_of(asked.expect, asked.expect_status),
        }
        if called is None
        else called.parts
    )
    return Wanted(
        address=target,
        target=Target(
            url=target.url,
            sources=local,
            tls=tls,
            websocket=workload.websocket_of(
                target.protocol, further.deflate, further.deflate_with, further.greetings
            ),
            styx=workload.styx_of(
                target.protocol, further.table_size, further.table_delay, lobby=further.lobby
            ),
            **parts,
        ),
        load=workload.load_of(
            typed.loop,
            holds_streams=asked.sse or spoken.carries_sockets(target.protocol, asked),
        ),
        stop=Stop(
            duration_ns=length_ns,
            requests=None
            if requests is None
            else quantities.count(requests, "--requests", most=2**53),
        ),
        workload="from the command line",
        method=called.method if called else None,
    )


def _called(typed: Typed, target: urls.Target, tls: Tls) -> Call | None:
    """The call, of gRPC; others have none."""
    if target.protocol not in CALLS:
        typed.calls.refuse()
        return None
    try:
        from wiretrial.cli import grpc_wanted
    except ModuleNotFoundError as error:
        raise UsageProblem(
            "gRPC needs protobuf, which is not installed", "pip install 'wiretrial[grpc]'"
        ) from error
    return grpc_wanted.call(target, typed.asked, typed.calls, tls)


def run_one(
    engine: Engine,
    plan: Plan,
    wanted: Wanted,
    allowed_errors: float,
    *,
    keeps_secrets: bool,
    heading: str | None = None,
    is_soak: bool = False,
    parts: Sequence[Address] = (),
    rest_s: float = REST_S,
    metrics: Metrics | None = None,
    called: Mapping[str, str] | None = None,
) -> tuple[Trial, int | None]:
    """The record of one run, and the signal that ended it early, where one did.

    `parts`: what is watched of the application; `rest_s`: how long before the load.
    `metrics`: where they go while it runs. `called`: its labels.
    """
    target = wanted.address
    server = listeners.of_addresses(
        target.url, plan.target.addresses, over_udp=plan.target.http.over_udp
    )
    name = f"{wanted.file} at {target.url}" if wanted.file else target.url
    metrics = metrics or Metrics(None)
    metrics.begin(study="load", scenario=name, trial=1, subject=target.url)
    method = wanted.method
    naming = reworded(method.named) if method else contextlib.nullcontext()
    with naming, _watching(parts, plan, rest_s) as watching:
        with (
            Recording(
                engine,
                plan,
                server.pids,
                unseen=server.unseen,
                allowed_errors=allowed_errors,
                learned=wanted.learned,
                keeps_secrets=keeps_secrets,
                watching=watching,
            ) as recording,
            interrupts.graceful(recording.stop) as interrupt,
            Live.for_plan(
                plan, heading or _heading(wanted, plan, recording.plan), recording.progress
            ) as live,
        ):
            for snapshot in recording:
                live.see(snapshot)
                metrics.see(snapshot, recording.server_used, recording.agents())
        if opening.waits(parts):
            output.say("waiting for the scrape after the load")
        told = recording.sent()
    scenario = Scenario(
        name=name,
        subject=target.url,
        protocol=target.protocol,
        workload=wanted.workload,
        file=wanted.file,
        goals=wanted.goals,
        is_soak=is_soak,
        learned=wanted.learned,
    )
    trial = sent.record(
        told,
        scenario,
        "load",
        facts.collect(),
        command=shlex.join(("wiretrial", *sys.argv[1:])),
        labels=called,
    )
    return _named(trial, wanted), interrupt.number


def _named(trial: Trial, wanted: Wanted) -> Trial:
    """Names fields in the record of calls; the first reply is shown as JSON, and not in bytes."""
    method, start, summary = wanted.method, trial.start, trial.summary
    if method is None:
        return trial
    first = start.learned and start.learned.model_copy(update={"excerpt": wanted.first})
    examples = {name: method.named(text) for name, text in summary.examples.items()}
    return trial.model_copy(
        update={
            "start": start.model_copy(update={"learned": first}),
            "summary": summary.model_copy(update={"examples": examples}),
        }
    )


def _watching(
    parts: Sequence[Address], plan: Plan, rest_s: float
) -> AbstractContextManager[Watching | None]:
    """The watches of an application's parts; of none, nothing is started."""
    if not parts:
        return contextlib.nullcontext()
    return Watching.of(parts, Engine.find().binary, plan.stop.duration_ns, rest_s)


def _heading(wanted: Wanted, plan: Plan, whole: Plan) -> str:
    """What the live block is headed by: a fleet is as one machine with more threads."""
    agents = whole.generator.threads // plan.generator.threads
    shown = redaction.url(plan.target.url)
    if wanted.file:
        shown = f"{wanted.file} at {shown}"
    return f"{shown}   from {agents} agents" if agents > 1 else shown


def _render(trial: Trial, chosen: output.Format, *, to_terminal: bool) -> str:
    if chosen is output.Format.JSON:
        # A whole record is a line that no terminal can show.
        is_shown = to_terminal and sys.stdout.isatty()
        return output.as_json(load_json(trial)) if is_shown else load_text(trial)
    return load_lines.render(
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
