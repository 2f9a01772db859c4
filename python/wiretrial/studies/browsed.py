"""One trial in a browser: a fresh server, a front before it, a fresh browser, the record of all.

Knows how a case becomes a page's job, and what the page tells a record; must not know what comes
before or after it. A browser is started anew for each trial, so its cache and its connections are.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from wiretrial import warnings
from wiretrial.browser import front, programs
from wiretrial.browser.desk import Desk
from wiretrial.browser.front import PORTS, Front, Upstream
from wiretrial.browser.jobs import LIMIT, Job, Outcome
from wiretrial.browser.programs import Browser
from wiretrial.errors import SubjectFailed, SubjectUnavailable, UsageProblem
from wiretrial.machine import pinning
from wiretrial.machine.namespaces import Namespace
from wiretrial.results import hdr
from wiretrial.results.model import (
    Bottleneck,
    Browsed,
    Judgement,
    Machine,
    ProcessSample,
    SubjectFacts,
    Trial,
    Window,
)
from wiretrial.snapshot import (
    Blocked,
    Bytes,
    Connections,
    Counters,
    Interval,
    Start,
    Summary,
)
from wiretrial.snapshot import Generator as Used
from wiretrial.studies import environments, floors, observed
from wiretrial.studies.events import Event, Seen
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready
from wiretrial.studies.recording import Troubles
from wiretrial.studies.spec import Case, Study
from wiretrial.studies.trial import Bench, plan_of
from wiretrial.subjects.observe import Observer
from wiretrial.subjects.process import Server

START_LIMIT_S = 60.0
"""What a browser may take to open the page."""
REQUEST_LIMIT_S = 60.0
FAILED = "failed"
SOCKET_PATH = "/"


@dataclass(frozen=True)
class Asking:
    """A front before a server, both running, and what is known of them."""

    front: Front
    server: Server | None
    """None: the server is the user's own."""
    ready: Ready | None
    cpus: pinning.Pinning
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


@contextlib.contextmanager
def asking(
    bench: Bench, case: Case, ready: Ready | None, isolation: Namespace | None
) -> Generator[Asking, None, None]:
    """The case's server with a front before it, ready to be asked. Raises `SubjectFailed`."""
    cpus = pinning.choose(1, bench.study.generator_threads)
    engine = bench.engine.binary
    with contextlib.ExitStack() as stack:
        try:
            built = front.installed(engine)
        except SubjectUnavailable as error:
            raise SubjectFailed(error.message, error.remedy) from error
        server = None
        if ready is None:
            assert case.url is not None
            upstream = Upstream.of_url(case.url)
        else:
            server = stack.enter_context(
                Server(
                    ready.subject,
                    ready.build,
                    case.scenario.configuration,
                    engine=engine,
                    cpus=cpus.server,
                    isolation=isolation,
                    delay_ms=case.delay_ms,
                )
            )
            assert case.contract is not None
            server.wait_ready([(case.contract, case.protocol)])
            upstream = Upstream("http", server.host, server.ports["port"])
        before = stack.enter_context(
            Front(upstream, built, engine=engine, cpus=cpus.server, isolation=isolation)
        )
        before.wait_ports()
        yield Asking(before, server, ready, cpus, f"nginx {built.version}")


def about(asked: Asking, case: Case) -> dict[str, Any]:
    """What the page is told of the server that it may ask."""
    return {
        "subject": case.scenario.subject,
        "path": case.path,
        "socket_path": SOCKET_PATH,
        "bases": {http: asked.front.base(http) for http in PORTS},
        "transports": ["fetch"],
        "remedy": "",
    }


def measure(
    bench: Bench, case: Case, slot: Slot, ready: Ready | None
) -> Generator[Event, None, Trial]:
    """The trial of `case`. Raises `SubjectFailed` where server or browser fail altogether."""
    assert case.browsing is not None
    with contextlib.ExitStack() as stack:
        isolation = stack.enter_context(
            environments.make(case.scenario.environment, bench.engine.binary, slot.order_seed)
        )
        asked = stack.enter_context(asking(bench, case, ready, isolation))
        ran = _run(asked, case)
        environments.require_whole(isolation)
        trial = record(bench.study, case, slot, asked, ran, bench.machine)
    yield Seen(trial.intervals[0])
    return trial


@dataclass(frozen=True)
class Ran:
    """A job that was done, and when."""

    outcome: Outcome
    begun_at: str
    begun_unix_ns: int
    ended_ns: int
    """When it was told, since the observing began."""
    samples: tuple[ProcessSample, ...]
    died: str | None
    troubles: Mapping[str, int | None]


def _run(asked: Asking, case: Case) -> Ran:
    assert case.browsing is not None
    try:
        program = programs.find(case.browsing.program)
    except UsageProblem as problem:
        raise SubjectFailed(problem.message, problem.remedy) from problem
    job, troubles = asked.job(case), Troubles()
    limit_s = START_LIMIT_S + REQUEST_LIMIT_S
    cpus = sorted(os.sched_getaffinity(0) - set(asked.cpus.server)) or asked.cpus.generator
    begun_at = datetime.now().astimezone().isoformat(timespec="milliseconds")
    with contextlib.ExitStack() as stack:
        observer = None
        if asked.server:
            observer = stack.enter_context(Observer([asked.server.pid]))
        begun_ns, begun_unix_ns = time.monotonic_ns(), time.time_ns()
        desk = stack.enter_context(Desk(about(asked, case), jobs=(job,)))
        browser = stack.enter_context(
            Browser(program, desk.url, asked.front.certificate, cpus=cpus)
        )
        outcome = desk.outcome(limit_s, browser.ended)
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
        died=asked.server.ended() if asked.server and observer and observer.died else None,
        troubles=troubles.since(),
    )


def record(
    study: Study, case: Case, slot: Slot, asked: Asking, ran: Ran, machine: Mapping[str, Any]
) -> Trial:
    """The trial's record of a job that was done."""
    outcome, server = ran.outcome, asked.server
    start_ns = max(ran.ended_ns - outcome.elapsed_ns, 0)
    end_ns = start_ns + outcome.elapsed_ns
    trial = Trial(
        study=study.name,
        study_digest=study.digest(),
        block=slot.block,
        position=slot.position,
        order_seed=slot.order_seed,
        scenario=case.scenario,
        started_at=ran.begun_at,
        plan=plan_of(study, case, f"{asked.job(case).base}{case.path}", asked.cpus),
        start=_start(asked, case, ran),
        intervals=(_interval(outcome, start_ns, end_ns),),
        summary=_summary(outcome, start_ns, end_ns),
        subject=_facts(asked, case, server) if server else None,
        browsed=Browsed(
            program=outcome.agent,
            front=asked.version,
            protocol=outcome.protocol,
            under_way=outcome.under_way,
            connections=outcome.connections,
            revalidated=outcome.revalidated,
            from_cache=outcome.from_cache,
            first_error=outcome.failed[0] if outcome.failed else None,
        ),
        subject_samples=ran.samples,
        window=Window(
            start_ns=start_ns,
            end_ns=end_ns,
            steady=False,
            rule="whole run: its length was given in requests, after the connections stood",
        ),
        judgement=_judgement(case, outcome, ran.died),
        machine=Machine(
            facts={**machine, "cpus_apart": asked.cpus.problem is None, **ran.troubles}
        ),
    )
    return trial.model_copy(update={"warnings": warnings.of_trial(trial)})


def _start(asked: Asking, case: Case, ran: Ran) -> Start:
    base = asked.job(case).base
    return Start(
        engine=ran.outcome.agent,
        pid=os.getpid(),
        url=f"{base}{case.path}",
        addresses=(base.partition("://")[2],),
        started_unix_ns=ran.begun_unix_ns,
        threads=1,
        poller="the browser's own",
        request_payload_bytes=0,
        reply_payload_bytes=None,
        tls="as front and browser agree" if base.startswith("https") else None,
    )


def _counters(outcome: Outcome) -> Counters:
    ok, failed = len(outcome.requests), len(outcome.failed)
    return Counters(sent=ok + failed, ok=ok, errors={FAILED: failed} if failed else {})


def _connections(outcome: Outcome) -> Connections:
    return Connections(attempted=outcome.connections, opened=outcome.connections)


def _times(outcome: Outcome) -> dict[str, str]:
    return {"service_time": hdr.Hdr(outcome.round_trips()).text}


def _interval(outcome: Outcome, start_ns: int, end_ns: int) -> Interval:
    return Interval(
        index=0,
        start_ns=start_ns,
        end_ns=end_ns,
        phase="measure",
        counters=_counters(outcome),
        connections=_connections(outcome),
        bytes=Bytes(),
        generator=Used(),
        disturbed=False,
        histograms=_times(outcome),
    )


def _summary(outcome: Outcome, start_ns: int, end_ns: int) -> Summary:
    setups = {"connect_time": hdr.Hdr(outcome.setups()).text} if outcome.setup_ms else {}
    return Summary(
        end="complete",
        signal=None,
        first_send_ns=start_ns,
        measure_start_ns=start_ns,
        measure_end_ns=end_ns,
        end_ns=end_ns,
        counters=_counters(outcome),
        connections=_connections(outcome),
        bytes=Bytes(),
        generator=Used(),
        blocked=Blocked(),
        disturbed_intervals=0,
        histograms={**_times(outcome), **setups},
    )


def _judgement(case: Case, outcome: Outcome, died: str | None) -> Judgement:
    """Whether it may be published, and who kept the requests waiting, by what the browser tells."""
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
    if died:
        return Judgement(
            verdict="invalid",
            bottleneck=who,
            evidence=f"the server died in the middle: {died}; {evidence}",
        )
    if outcome.failed:
        said = f"{len(outcome.failed)} requests failed, the first: {outcome.failed[0]}"
        return Judgement(verdict="invalid", bottleneck=who, evidence=f"{said}; {evidence}")
    return Judgement(verdict="valid", bottleneck=who, evidence=evidence)


def _facts(asked: Asking, case: Case, server: Server) -> SubjectFacts:
    ready = asked.ready
    assert ready is not None
    return SubjectFacts(
        name=ready.subject.spec.name,
        version=ready.build.version,
        language=ready.subject.spec.language,
        digest=ready.build.digest,
        # As the recipe gives it: ports and folders change from trial to trial.
        command=ready.subject.configuration(case.scenario.configuration).command,
        threads=1,
        cpus=asked.cpus.server,
        isolation=observed.isolation(server),
    )
