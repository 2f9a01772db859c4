"""Verification of HTTP/2 and HTTP/3 by the engine: many streams of several connections at once.

Knows the engine, which measures and judges every byte; must not know how a server is started. The
other checks of them are made by codecs that are not ours.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed
from wiretrial.plan import (
    Content,
    EchoContent,
    Expect,
    FixedPayload,
    Http,
    LearnedContent,
    ListPayload,
    Load,
    Message,
    MessagesContent,
    NumberedPayload,
    Plan,
    SequencePayload,
    Stop,
    Target,
    Tls,
)
from wiretrial.plan_grpc import Grpc
from wiretrial.snapshot import Summary
from wiretrial.subjects.checks import STANDARD
from wiretrial.subjects.checks_http import ECHO_PATH, MESSAGE_PATH
from wiretrial.subjects.echo_parts import REPEATED, SERVICE, message
from wiretrial.subjects.endpoint import Endpoint, payload
from wiretrial.subjects.spec import (
    ConfigurationName,
    ContractName,
    Protocol,
    Spec,
    version_of,
)
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
CALLED = f"/{SERVICE}"
STREAMED = 5
"""Messages of a client's stream."""
NUMBER = 16
"""Digits of a call's number."""


@dataclass(frozen=True)
class _Parts:
    """What is asked where, and what is right."""

    path: str
    message: Message
    right: Content
    grpc: Grpc = field(default_factory=Grpc)


def verify(
    spec: Spec, configuration: ConfigurationName, start: Start, engine: Engine
) -> Iterator[Outcome]:
    """What it claims over HTTP/2 and HTTP/3, calls of gRPC too, asked by the engine."""
    setting = replace(STANDARD, threads=max(STANDARD.threads, spec.least_threads))
    for contract, protocol in spec.claims():
        for what, asked in _asked(contract, protocol):
            with start(setting) as server:
                plan = _plan(server.endpoint(protocol), asked)
                problem = _problem(engine, plan)
                how = how_it_ended(server, ENDING_S if problem else 0.0)
            if how:
                problem = f"{problem or 'answered'}; then the server ended: {how}"
            name = f"{REQUESTS} {what} on {CONNECTIONS} x {STREAMS} streams"
            claim = (contract, protocol)
            yield outcome_of(spec, configuration, claim, "pipelining", name, problem)


def _asked(contract: ContractName, protocol: Protocol) -> Iterator[tuple[str, _Parts]]:
    """What is asked, and its name."""
    are_requests = version_of(protocol) != "1.1"
    if are_requests and contract == "static":
        yield "requests", _Parts(MESSAGE_PATH, Message(), LearnedContent())
    elif are_requests and contract == "http-echo":
        for size in ECHOED_BYTES:
            sent = Message(source=SequencePayload(bytes=size))
            yield f"messages of {size:,} bytes", _Parts(ECHO_PATH, sent, EchoContent())
    elif contract == "grpc-echo":
        yield from _calls()


def _calls() -> Iterator[tuple[str, _Parts]]:
    for size in ECHOED_BYTES:
        # Each carries its own number: a reply to another call is found.
        text = b"0" * size
        sent = message(text)
        numbered = NumberedPayload(base64=_base64(sent), places=(len(sent) - NUMBER,))
        yield (
            f"calls of {size:,} bytes",
            _Parts(f"{CALLED}/Unary", Message(source=numbered), EchoContent(), Grpc(kind="unary")),
        )
    one, *others = (message(payload(ECHOED_BYTES[0], seed)) for seed in range(STREAMED))
    several = Message(source=ListPayload(base64=tuple(map(_base64, (one, *others)))))
    yield (
        "calls with a stream from the server",
        _Parts(
            f"{CALLED}/Server",
            Message(source=FixedPayload(base64=_base64(one))),
            MessagesContent(base64=(_base64(one),) * REPEATED),
            Grpc(kind="server"),
        ),
    )
    yield (
        "calls with a stream from the client",
        _Parts(
            f"{CALLED}/Client",
            several,
            MessagesContent(base64=(_base64(others[-1]),)),
            Grpc(kind="client"),
        ),
    )
    yield (
        "calls with streams both ways",
        _Parts(f"{CALLED}/Bidi", several, EchoContent(), Grpc(kind="bidi")),
    )


def _plan(endpoint: Endpoint, asked: _Parts) -> Plan:
    return Plan(
        target=Target(
            url=endpoint.url(asked.path),
            http=Http(version=version_of(endpoint.protocol)),
            grpc=asked.grpc,
            tls=Tls(ca_file=str(endpoint.authority) if endpoint.authority else None),
            message=asked.message,
            expect=Expect(content=asked.right),
        ),
        load=Load(connections=CONNECTIONS, depth=STREAMS),
        stop=Stop(requests=REQUESTS, duration_ns=round(CHECK_LIMIT_S * 1e9)),
    )


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


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
