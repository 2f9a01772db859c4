"""The engine sends: a server that compiles itself is primed, then asked as the case says.

Knows how a case and its server become a plan; must not know what comes before or after it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from wiretrial import plan_grpc
from wiretrial.errors import EveryMessageFailed, reworded
from wiretrial.machine import listeners
from wiretrial.observers.address import Process
from wiretrial.observers.watching import Watching
from wiretrial.plan import Plan
from wiretrial.results import watched
from wiretrial.studies import plans, priming, stall
from wiretrial.studies.bench import Stand
from wiretrial.studies.contracts import FRESH_SOURCES
from wiretrial.studies.events import Event, Seen
from wiretrial.studies.recording import Recording
from wiretrial.studies.sent import Sent
from wiretrial.studies.spec import Case


def send(stand: Stand) -> Generator[Event, None, Sent]:
    """The engine asks the server as the case says, after priming it."""
    bench, case, running = stand.bench, stand.case, stand.running
    plan, subject = plan_of(stand), None
    if running:
        here = stand.isolation.sources if stand.isolation else FRESH_SOURCES
        yield from priming.prime(bench.engine, case, plan, here, running.copies.pids)
        running.hold()
        # Told now: what a link has carried by now is no part of the trial.
        subject = running.facts()
    found = (
        listeners.Found(running.copies.pids)
        if running
        else listeners.of_url(plan.target.url, over_udp=plan.target.http.over_udp)
    )
    with reworded(partial(_named, case=case)), _watching(stand, plan) as watching:
        with Recording(
            bench.engine,
            plan,
            found.pids,
            stall.watch(case),
            found.unseen,
            allowed_errors=bench.study.allowed_errors_of(case),
            learned=case.scenario.learned,
            keeps_secrets=bench.study.keeps_secrets,
            watching=watching,
        ) as recording:
            for snapshot in recording:
                yield Seen(snapshot, recording.server_used, recording.agents())
        if recording.futile and not recording.server_died:
            raise EveryMessageFailed(_named(recording.futile, case))
        ran = recording.sent(
            case.scenario.environment if running else None,
            subject=running.facts_since(subject) if running and subject else None,
            server_end=running.copies.ended() if running else None,
            ceiling=bench.alone.ceiling(bench.study, case),
        )
    examples = {name: _named(text, case) for name, text in ran.summary.examples.items()}
    return replace(ran, summary=ran.summary.model_copy(update={"examples": examples}))


def _watching(stand: Stand, plan: Plan) -> AbstractContextManager[Watching | None]:
    """A server with something behind it: the CPU of each is told apart. Else nothing is watched."""
    running = stand.running
    if running is None:
        return nullcontext()
    database, backend = running.copies.database, running.copies.backend
    found = [_part(watched.DATABASE, database.pid)] if database else []
    found += [_part(watched.BACKEND, backend.pid)] if backend else []
    if not found:
        return nullcontext()
    if len(running.copies.servers) == 1:
        found.insert(0, _part(watched.SERVER, running.first.pid))
    return Watching.of(found, stand.bench.engine.binary, plan.stop.duration_ns)


def _part(name: str, pid: int) -> Process:
    return Process(name, f"pid:{pid}", pid)


def _named(text: str, case: Case) -> str:
    """The text with the names of a reply's fields, where they are known."""
    return plan_grpc.named(text, lambda at: case.fields.get(at, at)) if case.fields else text


def plan_of(stand: Stand) -> Plan:
    """What the case asks of the server that stands there."""
    case, running = stand.case, stand.running
    if running is None:
        assert case.url is not None
        return plans.plan_of(stand.bench.study, case, case.url, stand.cpus)
    endpoint = running.endpoint
    here: dict[str, object] = {}
    if endpoint.tls():
        trusted = {"ca_file": str(endpoint.authority), "insecure": False}
        here["tls"] = case.tls.model_copy(update=trusted)
    if stand.isolation and case.sources:
        # Loopback's addresses are no use on the link.
        here["sources"] = stand.isolation.sources
    there = case.model_copy(update=here)
    url = endpoint.url(case.path)
    return plans.plan_of(stand.bench.study, there, url, stand.cpus, running.addresses)
