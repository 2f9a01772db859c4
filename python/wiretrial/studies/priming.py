"""Asks a server without pause before its trial, where it compiles itself as it runs.

What runs on a JVM or in V8 is interpreted at first and compiled where it is used most. A server of
such a kind that has run for hours is not the one that was started a second ago, so it gets the
trial's own load beforehand, as fast as it answers. What was compiled for a load without pause is
compiled anew when the server begins to wait between requests, or when more connections ask at once,
so it may get a load of that kind after it. Nothing of both is recorded, and the trial's record says
how long they were. Knows cases and subjects; must not know what is measured afterwards.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Sequence

from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.machine import pinning
from wiretrial.plan import ClosedLoop, Load, OpenLoop, Plan, Stop
from wiretrial.snapshot import Interval
from wiretrial.studies import floors
from wiretrial.studies.document import Document
from wiretrial.studies.events import Event, Seen
from wiretrial.studies.spec import Case, Study
from wiretrial.subjects import registry

NS_PER_S = 1_000_000_000
GONE_BY_NS = 50_000_000
"""A server has seen by then that its connections are closed."""
MOST_IN_FLIGHT = 10
"""On each connection. Whatever a server has before it when the priming ends, it still answers."""
COUNTED_NS = 1_000_000
"""The shortest that the engine measures; all before it is its warm-up."""
TIMES = 8
"""So many times the trial's rate: what is compiled when it has run often enough is so sooner."""
SHARE = 0.5
"""No more than this of what it answered without pause: it has to wait between requests."""
LONG_NS = 6 * NS_PER_S
"""By then a JVM has compiled anew what it runs, at some thousand requests a second."""
FEW = 2
"""Connections that leave CPU time to what compiles the server."""
LAST_NS = NS_PER_S
"""What it answers is taken from so much of the load's end, where it is fastest."""


def primed(
    study: Study,
    most_ns: int | None = None,
    connections: int | None = None,
    at_rate_ns: int = 0,
    at_full_speed_ns: int = 0,
) -> Study:
    """The study with each case primed as its subject asks for, and no longer than `most_ns`.

    Without that it is as long as the case is measured, at most. Held connections are left alone:
    what a server keeps of a load before them would be missing from the memory that they take.
    `connections`: so few ask a server, which may use every CPU meanwhile. A load that takes all CPU
    time leaves none to what compiles the server. `at_rate_ns`: so long it is asked at a rate then,
    where the case has one. `at_full_speed_ns`: so long without pause on all of its connections,
    where it has none and few came before.
    """

    def of(case: Case) -> Case:
        longest_ns = most_ns or study.duration_of(case)
        return _primed(case, longest_ns, connections, at_rate_ns, at_full_speed_ns)

    return study.model_copy(update={"cases": tuple(map(of, study.cases))})


def as_told(study: Study, document: Document) -> Study:
    """The study with each case primed as the study's document says."""
    return primed(
        study,
        document.priming,
        document.priming_connections,
        document.priming_at_rate,
        document.priming_at_full_speed,
    )


def prime(
    engine: Engine, case: Case, plan: Plan, sources: Sequence[str], pids: Sequence[int]
) -> Generator[Event, None, None]:
    """Runs the case's load as a closed loop, and at a rate after that, where it says so.

    `sources`: local addresses for new connections; `pids` are the server's. Returns when the last
    of it has gone by, so that no link carries it any more.
    """
    if not case.primed_ns:
        return
    places, few = tuple(sources), case.priming_connections
    with pinning.anywhere(pids if few else ()):
        full = without_pause(plan, case.priming_ns, places)
        answered = yield from _asked(engine, on_few(full, few) if few else full)
        if case.priming_at_full_speed_ns:
            yield from _asked(engine, without_pause(plan, case.priming_at_full_speed_ns, places))
        if paced := at_rate(plan, case.priming_at_rate_ns, places, answered):
            yield from _asked(engine, paced)
    time.sleep((GONE_BY_NS + 2 * floors.round_trip_ns(case)) / NS_PER_S)


def answered_in(seen: Sequence[Interval]) -> float:
    """What was answered per second at the end of a load; whole sessions, where there are some."""
    last = [one for one in seen if one.end_ns > seen[-1].end_ns - LAST_NS]
    length_ns = sum(one.end_ns - one.start_ns for one in last)
    told = [one.traffic for one in last if one.traffic is not None]
    whole = sum(flow.done for traffic in told for flow in traffic.flows)
    right = sum(one.counters.ok for one in last)
    return (whole if told else right) * NS_PER_S / max(length_ns, 1)


def without_pause(plan: Plan, length_ns: int, sources: tuple[str, ...]) -> Plan:
    """The plan as a closed loop of that length; none of it is in a window that counts."""
    load = plan.load.model_copy(update={"executor": ClosedLoop(), "stages": ()})
    return _uncounted(plan, load, length_ns, sources)


def at_rate(plan: Plan, length_ns: int, sources: tuple[str, ...], answered: float) -> Plan | None:
    """The plan at a rate at which the server waits between requests; None where it has none.

    `answered`: per second without pause, messages or sessions as the rate is of these.
    """
    executor = plan.load.executor
    if not (length_ns and isinstance(executor, OpenLoop)):
        return None
    rate = max(executor.rate, min(TIMES * executor.rate, SHARE * answered))
    slow = executor.model_copy(update={"rate": rate})
    load = plan.load.model_copy(update={"executor": slow, "stages": ()})
    return _uncounted(plan, load, length_ns, sources)


def on_few(plan: Plan, connections: int) -> Plan:
    """The plan with no more connections than that, and no more users."""
    load = plan.load
    few = min(connections, load.connections)
    users = None if load.users is None else min(few, load.users)
    return plan.model_copy(
        update={"load": load.model_copy(update={"connections": few, "users": users})}
    )


def _asked(engine: Engine, plan: Plan) -> Generator[Event, None, float]:
    """Runs one load; gives what was answered per second at its end."""
    seen = []
    with engine.run(plan) as run:
        for snapshot in run:
            if isinstance(snapshot, Interval):
                seen.append(snapshot)
                yield Seen(snapshot)
    return answered_in(seen)


def _uncounted(plan: Plan, load: Load, length_ns: int, sources: tuple[str, ...]) -> Plan:
    depth = min(load.depth, max(load.pack, MOST_IN_FLIGHT))
    # Connections that are opened and closed all the time need more ports than one address has.
    opens = load.requests_per_connection is not None and not plan.target.sources
    return plan.model_copy(
        update={
            "load": load.model_copy(update={"depth": depth}),
            "target": plan.target.model_copy(update={"sources": sources}) if opens else plan.target,
            "stop": Stop(duration_ns=COUNTED_NS),
            "phases": plan.phases.model_copy(update={"warmup_ns": length_ns}),
        }
    )


def _primed(
    case: Case, most_ns: int, connections: int | None, at_rate_ns: int, at_full_speed_ns: int
) -> Case:
    if case.url or case.own or case.sending or case.is_held or _has_unique_rows(case):
        return case
    wanted_ns = round(_priming_s(case.scenario.subject) * NS_PER_S)
    few = connections if wanted_ns else None
    paced = isinstance(case.load.executor, OpenLoop)
    return case.model_copy(
        update={
            "priming_ns": min(wanted_ns, most_ns),
            "priming_connections": few,
            "priming_at_rate_ns": at_rate_ns if wanted_ns and paced else 0,
            "priming_at_full_speed_ns": at_full_speed_ns if few and not paced else 0,
        }
    )


def _has_unique_rows(case: Case) -> bool:
    """Whether a row of its data is one user's alone: priming would use it up."""
    feeds = case.traffic.feeds if case.traffic else ()
    return any(feed.order == "unique" for feed in feeds)


def _priming_s(subject: str) -> float:
    # Who is not there is told of when the study is prepared.
    with contextlib.suppress(UsageProblem):
        return registry.find(subject).spec.priming_s
    return 0.0
