"""Verification by the subject's own traffic file: each entry, many in turn, many at once.

Knows the file and the engine, which asks and judges; must not know how a server is started.
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from wiretrial.engine import Engine
from wiretrial.errors import EngineFailed, UsageProblem
from wiretrial.exchange import Exchange
from wiretrial.plan import Http, Load, Plan, Stop, Target, Tls
from wiretrial.snapshot import Summary, TrafficFigures
from wiretrial.subjects.checks import MESSAGES, STANDARD
from wiretrial.subjects.endpoint import Endpoint
from wiretrial.subjects.spec import (
    TRAFFIC,
    ConfigurationName,
    ContractName,
    Part,
    Protocol,
    Subject,
)
from wiretrial.subjects.verify import (
    CHECK_LIMIT_S,
    ENDING_S,
    Outcome,
    Start,
    Started,
    how_it_ended,
    outcome_of,
)
from wiretrial.traffic import loads
from wiretrial.traffic.compiler import Scenario, compile_at

USERS = 10
SESSIONS = 50
"""Of all users together, at once."""
ASKING_LIMIT_S = 300.0
"""For all exchanges of a check: a hundred replies of an application may take long."""


@dataclass(frozen=True)
class _Found:
    """What came of one check."""

    part: Part
    name: str
    problem: str | None


def verify(
    subject: Subject, configuration: ConfigurationName, start: Start, engine: Engine
) -> Iterator[Outcome]:
    """Every entry of the file on every protocol; where all are right, the other checks, too.

    An entry is a request, or a step of a conversation.
    """
    scenario = _scenario(subject)
    if scenario is None:
        return
    setting = replace(STANDARD, threads=max(STANDARD.threads, subject.spec.least_threads))
    for contract, protocol in _claims(subject, scenario):
        waiting: deque[_Check] = deque((_entries, _in_turn, _at_once))
        while waiting:
            # After a failure the next check gets a fresh server, as those of contracts do.
            with start(setting) as server:
                asked = _Asked(engine, scenario, server.endpoint(protocol))
                for found in _until_problem(asked, server, waiting):
                    claim = (contract, protocol)
                    yield outcome_of(
                        subject.spec, configuration, claim, found.part, found.name, found.problem
                    )


def _claims(subject: Subject, scenario: Scenario) -> list[tuple[ContractName, Protocol]]:
    """What it says over the protocols of the file; raises where it speaks none of them."""
    spec, schemes = subject.spec, scenario.schemes
    found = [one for one in spec.claims() if one[0] == TRAFFIC and one[1] in schemes]
    if not found:
        raise UsageProblem(
            f"{spec.name} speaks {' and '.join(spec.speaks)}, and {spec.traffic} goes over"
            f" {' and '.join(schemes)}",
            f'write speaks = ["{schemes[0]}"], or another base in the file',
        )
    return found


def digest(subject: Subject) -> str:
    """SHA-256 of what the file and those that it names say; empty where there is none."""
    scenario = _scenario(subject)
    if scenario is None:
        return ""
    said = scenario.traffic.model_dump_json() + repr(scenario.headers)
    return hashlib.sha256(said.encode()).hexdigest()


def _scenario(subject: Subject) -> Scenario | None:
    file = subject.traffic_file()
    return compile_at(file, {}, None) if file else None


@dataclass(frozen=True)
class _Asked:
    """A server that runs, and what it is asked."""

    engine: Engine
    scenario: Scenario
    endpoint: Endpoint

    def plan(self, users: int) -> Plan:
        """The file's sessions without think times."""
        authority = self.endpoint.authority
        return Plan(
            target=Target(
                url=self.endpoint.url("/"),
                http=Http(headers=self.scenario.headers),
                tls=Tls(ca_file=str(authority) if authority else None),
            ),
            traffic=loads.hurried(self.scenario.traffic),
            load=Load(connections=users),
            stop=Stop(sessions=SESSIONS, duration_ns=round(CHECK_LIMIT_S * 1e9)),
        )

    def ask(self, sessions: int) -> tuple[Exchange, ...]:
        """So many sessions of each flow, one exchange after the other, on one connection."""
        return self.engine.ask(self.plan(1), sessions=sessions, limit_s=ASKING_LIMIT_S)

    def fitting(self, wanted: int) -> int:
        """As many users or sessions as have a row of data each where rows are unique."""
        rows = (len(feed.rows) for feed in self.scenario.traffic.feeds if feed.order == "unique")
        return min((wanted, *rows))


_Check = Callable[[_Asked], Iterator[_Found]]


def _until_problem(asked: _Asked, server: Started, waiting: deque[_Check]) -> Iterator[_Found]:
    """Takes checks off `waiting` and does them, up to the first that fails."""
    is_right = True
    while waiting and is_right:
        check = waiting.popleft()
        for found in check(asked):
            how = how_it_ended(server, ENDING_S if found.problem else 0.0)
            ended = f"{found.problem or 'answered'}; then the server ended: {how}"
            one = replace(found, problem=ended) if how else found
            is_right = is_right and one.problem is None
            yield one
        if check is _entries and not is_right:
            # What is wrong once is wrong many times.
            waiting.clear()


def _entries(asked: _Asked) -> Iterator[_Found]:
    """Each entry once. One behind a failed one of its session cannot be asked."""
    exchanges = asked.ask(1)
    has_failed = any(map(_problem, exchanges))
    for route in asked.scenario.traffic.asked:
        here = [one for one in exchanges if one.route == route.name]
        if here:
            yield _Found("entry", route.name, next(filter(None, map(_problem, here)), None))
        elif not has_failed:
            yield _Found("entry", route.name, f"it was not asked within {ASKING_LIMIT_S:g} s")
            return


def _in_turn(asked: _Asked) -> Iterator[_Found]:
    """Sessions one after the other on one connection."""
    of_each = sum(len(flow.steps) for flow in asked.scenario.traffic.flows)
    sessions = asked.fitting(math.ceil(MESSAGES / of_each))
    exchanges = asked.ask(sessions)
    wrong = [one for one in exchanges if _problem(one)]
    wanted, problem = sessions * of_each, None
    if not wrong and len(exchanges) < wanted:
        problem = f"{wanted - len(exchanges)} more were not asked within {ASKING_LIMIT_S:g} s"
    if wrong:
        first = wrong[0]
        problem = f"{len(wrong)} of them wrong, the first: {first.route}: {_problem(first)}"
    if asked.scenario.traffic.lines:
        # Each of their sessions has a connection.
        yield _Found("many", f"{len(exchanges)} steps, one session after the other", problem)
    else:
        yield _Found("many", f"{len(exchanges)} requests on one connection", problem)


def _at_once(asked: _Asked) -> Iterator[_Found]:
    """Several users, each with sessions on a connection of its own."""
    users = asked.fitting(USERS)
    plan = asked.plan(users)
    try:
        with asked.engine.run(plan) as run:
            *_, summary = run
    except EngineFailed as error:
        yield _Found("concurrency", f"sessions of {users} users at once", error.message)
        return
    assert isinstance(summary, Summary)
    assert summary.traffic is not None
    # Fewer than were wanted, where they take long.
    done = sum(flow.done for flow in summary.traffic.flows)
    name = f"{done} sessions of {users} users at once"
    problem = _first_failure(asked.scenario, summary.traffic)
    if not (done or problem):
        problem = f"no session came to its end within {CHECK_LIMIT_S:g} s"
    yield _Found("concurrency", name, problem)


def _problem(exchange: Exchange) -> str | None:
    return None if exchange.is_right else exchange.fault or exchange.outcome


def _first_failure(scenario: Scenario, told: TrafficFigures) -> str | None:
    """What is wrong with the first route that has failures."""
    for route, figures in zip(scenario.traffic.asked, told.routes, strict=True):
        for kind, count in figures.errors.items():
            if count:
                example = figures.examples.get(kind, kind)
                return f"{count} of {figures.sent} requests of {route.name} wrong: {example}"
    return None
