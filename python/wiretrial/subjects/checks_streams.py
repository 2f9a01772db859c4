"""Verification of HTTP/2 by the engine that measures: many streams of several connections at once.

Knows the engine, which asks and judges every byte; must not know how a server is started. The other
checks of HTTP/2 are made by a codec that is not ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed
from wiretrial.plan import (
    EchoContent,
    Expect,
    Http,
    LearnedContent,
    Load,
    Message,
    Plan,
    SequencePayload,
    Stop,
    Target,
    Tls,
)
from wiretrial.snapshot import Summary
from wiretrial.subjects.checks import STANDARD
from wiretrial.subjects.checks_http import ECHO_PATH, MESSAGE_PATH
from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.spec import HTTP2, ConfigurationName, ContractName, Spec
from wiretrial.subjects.verify import (
    CHECK_LIMIT_S,
    ENDING_S,
    Outcome,
    Start,
    how_it_ended,
    outcome_of,
)

CONNECTIONS = 3
STREAMS = 8
REQUESTS = 600
ECHOED_BYTES = (64, 100_000)
"""One frame each way, and more than a window."""


def verify(
    spec: Spec, configuration: ConfigurationName, start: Start, engine: Engine
) -> Iterator[Outcome]:
    """What it claims over HTTP/2, asked by the engine."""
    setting = replace(STANDARD, threads=max(STANDARD.threads, spec.least_threads))
    for contract, protocol in spec.claims():
        messages = _messages(contract) if protocol in HTTP2 else ()
        for what, message in messages:
            with start(setting) as server:
                plan = _plan(server.endpoint(protocol), contract, message)
                problem = _problem(engine, plan)
                how = how_it_ended(server, ENDING_S if problem else 0.0)
            if how:
                problem = f"{problem or 'answered'}; then the server ended: {how}"
            name = f"{REQUESTS} {what} on {CONNECTIONS} x {STREAMS} streams"
            claim = (contract, protocol)
            yield outcome_of(spec, configuration, claim, "pipelining", name, problem)


def _messages(contract: ContractName) -> tuple[tuple[str, Message], ...]:
    """What is sent, and its name."""
    if contract == "static":
        return (("requests", Message()),)
    if contract == "http-echo":
        return tuple(
            (f"messages of {size:,} bytes", Message(source=SequencePayload(bytes=size)))
            for size in ECHOED_BYTES
        )
    return ()


def _plan(endpoint: Endpoint, contract: ContractName, message: Message) -> Plan:
    is_static = contract == "static"
    return Plan(
        target=Target(
            url=endpoint.url(MESSAGE_PATH if is_static else ECHO_PATH),
            http=Http(version="2"),
            tls=Tls(ca_file=str(endpoint.authority) if endpoint.authority else None),
            message=message,
            expect=Expect(content=LearnedContent() if is_static else EchoContent()),
        ),
        load=Load(connections=CONNECTIONS, depth=STREAMS),
        stop=Stop(requests=REQUESTS, duration_ns=round(CHECK_LIMIT_S * 1e9)),
    )


def _problem(engine: Engine, plan: Plan) -> str | None:
    try:
        with engine.run(plan) as run:
            *_, summary = run
    except EngineFailed as error:
        return error.message
    assert isinstance(summary, Summary)
    counters = summary.counters
    wrong = {kind: count for kind, count in counters.errors.items() if count}
    if wrong:
        kind = max(wrong, key=lambda one: wrong[one])
        example = summary.examples.get(kind, kind)
        return f"{sum(wrong.values())} of {counters.sent} wrong: {example}"
    if counters.ok < REQUESTS:
        return f"only {counters.ok} of {REQUESTS} were answered within {CHECK_LIMIT_S:g} s"
    return None
