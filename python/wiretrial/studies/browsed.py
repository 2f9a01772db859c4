"""A browser sends: a front before the server, a page in the browser, and what the page told.

Knows how a case becomes a page's job; must not know what comes before or after it. A browser is
started anew for each trial, so its cache and its connections are.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wiretrial.browser import front, programs
from wiretrial.browser.desk import Desk
from wiretrial.browser.front import PORTS, Front, Upstream
from wiretrial.browser.jobs import LIMIT, Job, Outcome
from wiretrial.browser.programs import Browser
from wiretrial.errors import SubjectFailed, SubjectUnavailable, UsageProblem
from wiretrial.results import hdr
from wiretrial.results.model import Bottleneck, Browsed, ProcessSample, SubjectFacts
from wiretrial.snapshot import Connections, Start
from wiretrial.studies import floors, observed, sent
from wiretrial.studies.bench import Stand
from wiretrial.studies.events import Event, Seen
from wiretrial.studies.plans import plan_of
from wiretrial.studies.sent import Sent, Troubles, now
from wiretrial.studies.spec import Case
from wiretrial.subjects.observe import Observer

START_LIMIT_S = 60.0
"""What a browser may take to open the page."""
REQUEST_LIMIT_S = 60.0
SOCKET_PATH = "/"


def send(stand: Stand) -> Generator[Event, None, Sent]:
    """A fresh browser asks the server, through a front of its own."""
    with asking(stand) as asked:
        ran = _run(asked)
    found = sent_of(asked, stand.case, ran)
    yield Seen(found.intervals[0])
    return found


@dataclass(frozen=True)
class Asking:
    """A front before a server, both running, and what is known of them."""

    front: Front
    stand: Stand
    subject: SubjectFacts | None
    """None: the server is the user's own."""
    version: str
    """The front's."""

    def job(self, case: Case) -> Job:
        """What the page is to do."""
        browsing = case.browsing
        assert browsing is not None
        return Job(
            transport=browsing.transport,
            base=self.front.base(browsing.http),
            path=case.path,
            socket_path=SOCKET_PATH,
            urls=browsing.urls,
            cache=browsing.cache,
            pattern=browsing.pattern,
            requests=case.requests or 1,
            # As many as there are to be, up to what the browser opens at once.
            warmup=min(LIMIT, case.requests or 1) if browsing.pattern == "parallel" else 1,
        )

    def about(self) -> dict[str, Any]:
        """What the page is told of the server that it may ask."""
        return {
            "subject": self.stand.case.scenario.subject,
            "path": self.stand.case.path,
            "socket_path": SOCKET_PATH,
            "bases": {http: self.front.base(http) for http in PORTS},
            "transports": ["fetch"],
            "remedy": "",
        }


@contextlib.contextmanager
def asking(stand: Stand) -> Generator[Asking, None, None]:
    """The case's server with a front before it, ready to be asked. Raises `SubjectFailed`."""
    running, cpus, engine = stand.running, stand.cpus.server, stand.bench.engine.binary
    try:
        built = front.installed(engine)
    except SubjectUnavailable as error:
        raise SubjectFailed(error.message, error.remedy) from error
    if running is None:
        assert stand.case.url is not None
        upstream = Upstream.of_url(stand.case.url)
    else:
        upstream = Upstream("http", running.first.host, running.first.ports["port"])
    subject = running.facts() if running else None
    with Front(upstream, built, engine=engine, cpus=cpus, isolation=stand.isolation) as before:
        before.wait_ports()
        yield Asking(before, stand, subject, f"nginx {built.version}")


@dataclass(frozen=True)
class Ran:
    """A job that was done, and when."""

    outcome: Outcome
    begun_at: str
    begun_unix_ns: int
    ended_ns: int
    """When it was told, since the observing began."""
    samples: tuple[ProcessSample, ...] = ()
    died: str | None = None
    troubles: Mapping[str, int | None] = field(default_factory=dict)


def _run(asked: Asking) -> Ran:
    case, running, cpus = asked.stand.case, asked.stand.running, asked.stand.cpus
    assert case.browsing is not None
    try:
        program = programs.find(case.browsing.program)
    except UsageProblem as problem:
        raise SubjectFailed(problem.message, problem.remedy) from problem
    ours = sorted(os.sched_getaffinity(0) - set(cpus.server)) or cpus.generator
    troubles, begun_at = Troubles(), now()
    with contextlib.ExitStack() as stack:
        observer = stack.enter_context(Observer(running.copies.pids)) if running else None
        begun_ns, begun_unix_ns = time.monotonic_ns(), time.time_ns()
        desk = stack.enter_context(Desk(asked.about(), jobs=(asked.job(case),)))
        browser = stack.enter_context(
            Browser(program, desk.url, asked.front.certificate, cpus=ours)
        )
        outcome = desk.outcome(START_LIMIT_S + REQUEST_LIMIT_S, browser.ended)
        ended_ns = time.monotonic_ns() - begun_ns
        if observer:
            observer.look()
    if not outcome.requests:
        why = outcome.failed[0] if outcome.failed else "nothing was asked"
        raise SubjectFailed(f"{case.scenario.name}: no request was answered: {why}")
    return Ran(
        outcome=outcome,
        begun_at=begun_at,
        begun_unix_ns=begun_unix_ns,
        ended_ns=ended_ns,
        samples=observed.samples(observer.seen.readings, begun_ns) if observer else (),
        died=running.copies.ended() if running and observer and observer.died else None,
        troubles=troubles.since(),
    )


def sent_of(asked: Asking, case: Case, ran: Ran) -> Sent:
    """What a job comes to that was done."""
    outcome, running = ran.outcome, asked.stand.running
    base = asked.job(case).base
    start_ns = max(ran.ended_ns - outcome.elapsed_ns, 0)
    times = hdr.Hdr(outcome.round_trips()).text
    setups = {"connect_time": hdr.Hdr(outcome.setups()).text} if outcome.setup_ms else {}
    connections = Connections(attempted=outcome.connections, opened=outcome.connections)
    whole = sent.interval(
        0,
        (start_ns, start_ns + outcome.elapsed_ns),
        ok=len(outcome.requests),
        failed=len(outcome.failed),
        opened=outcome.connections,
        round_trips=times,
    )
    first_error = outcome.failed[0] if outcome.failed else None
    problems = [f"{len(outcome.failed)} requests failed, the first: {first_error}"]
    return Sent(
        started_at=ran.begun_at,
        environment=case.scenario.environment,
        plan=plan_of(asked.stand.bench.study, case, f"{base}{case.path}", asked.stand.cpus),
        start=Start(
            engine=outcome.agent,
            pid=os.getpid(),
            url=f"{base}{case.path}",
            addresses=(base.partition("://")[2],),
            started_unix_ns=ran.begun_unix_ns,
            threads=1,
            poller="the browser's own",
            request_payload_bytes=0,
            reply_payload_bytes=None,
            tls="as front and browser agree" if base.startswith("https") else None,
        ),
        intervals=(whole,),
        summary=sent.summary([whole], connections, {"service_time": times, **setups}),
        window=sent.window([whole], "requests, after the connections stood"),
        judgement=sent.judgement(*_limit(case, outcome), ran.died, problems if first_error else ()),
        subject=running.facts_since(asked.subject) if running and asked.subject else None,
        browsed=Browsed(
            program=outcome.agent,
            front=asked.version,
            protocol=outcome.protocol,
            under_way=outcome.under_way,
            connections=outcome.connections,
            revalidated=outcome.revalidated,
            from_cache=outcome.from_cache,
            first_error=first_error,
        ),
        subject_samples=ran.samples,
        troubles=ran.troubles,
    )


def _limit(case: Case, outcome: Outcome) -> tuple[Bottleneck, str]:
    """Who kept the requests waiting, by what the browser tells, and how that shows."""
    wanted, most = case.requests or 1, outcome.under_way
    held = case.browsing is not None and case.browsing.pattern == "parallel" and 0 < most < wanted
    who: Bottleneck = "unknown"
    if held:
        who = "waiting"
    elif floors.round_trip_ns(case):
        who = "link"
    count = f"{most} of {wanted}" if most else "it is not told how many"
    evidence = f"{count} requests were under way at once, over {outcome.protocol}"
    if outcome.revalidated:
        evidence += f"; {outcome.revalidated} replies were in the cache, and asked about"
    return who, evidence
