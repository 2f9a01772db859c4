"""One trial of a client library: a fresh server, the library's driver, the record of both.

Knows how a case becomes a driver's job, and its lines a record; must not know what comes before or
after it. What is watched is the server: a driver tells its own cost.
"""

from __future__ import annotations

import contextlib
import socket
import tempfile
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from wiretrial import warnings
from wiretrial.errors import SubjectFailed
from wiretrial.machine import pinning
from wiretrial.machine.silence import Silence
from wiretrial.plan import SECURE
from wiretrial.results.model import Driven, Machine, SubjectFacts, Trial
from wiretrial.snapshot import Start
from wiretrial.studies import environments, observed
from wiretrial.studies.events import Event, Seen
from wiretrial.studies.observed import Origin
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready
from wiretrial.studies.recording import Troubles
from wiretrial.studies.spec import Case, Driving
from wiretrial.studies.told import Told
from wiretrial.studies.trial import Bench, plan_of
from wiretrial.subjects.driver import SCHEMA, Driver, Job, Repetition
from wiretrial.subjects.endpoint import Broken, Endpoint
from wiretrial.subjects.http_connection import HTTP_ERRORS, HttpConnection, Request
from wiretrial.subjects.observe import Observer
from wiretrial.subjects.process import Server

START_LIMIT_S = 60.0
"""What a driver may take beside its iterations: an interpreter's start, a virtual machine's."""
ITERATION_LIMIT_S = 0.5
"""What its iterations may take on average, before it is taken for hanging."""


def measure(bench: Bench, case: Case, slot: Slot, ready: Ready) -> Generator[Event, None, Trial]:
    """The trial of `case`. Raises `SubjectFailed` where server or driver fail altogether."""
    study, engine = bench.study, bench.engine
    assert case.driving is not None
    assert case.contract is not None
    assert ready.server is not None
    threads = study.threads_of(case)
    cpus = pinning.choose(threads, study.generator_threads)
    with contextlib.ExitStack() as stack:
        isolation = stack.enter_context(
            environments.make(case.scenario.environment, engine.binary, slot.order_seed)
        )
        server = stack.enter_context(
            Server(
                ready.server.subject,
                ready.server.build,
                case.driving.configuration,
                engine=engine.binary,
                threads=threads,
                cpus=cpus.server,
                isolation=isolation,
                delay_ms=case.delay_ms,
            )
        )
        server.wait_ready([(case.contract, case.protocol)])
        endpoint = server.endpoint(case.protocol)
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wiretrial-page-")))
        job = _job(case, endpoint, scratch)
        if case.driving.ipv6 == "silent":
            stack.enter_context(_silence(endpoint.port))
        driver = Driver(
            ready.subject,
            ready.build,
            case.scenario.configuration,
            engine=engine.binary,
            cpus=cpus.generator,
        )
        work = _Work(
            case=case,
            driving=case.driving,
            driver=driver,
            job=job,
            endpoint=endpoint,
            server=server,
        )
        ran = _run(work, cpus)
        for interval in ran.told.intervals:
            yield Seen(interval)
        environments.require_whole(isolation)
        subject = _facts(ready, case.scenario.configuration, None, cpus.generator)
        answering = _facts(ready.server, case.driving.configuration, threads, cpus.server)
        answering = answering.model_copy(update={"isolation": observed.isolation(server)})
        trial = Trial(
            study=study.name,
            study_digest=study.digest(),
            block=slot.block,
            position=slot.position,
            order_seed=slot.order_seed,
            scenario=case.scenario,
            started_at=ran.begun_at,
            plan=plan_of(study, case, job.url, cpus),
            start=ran.start,
            intervals=ran.told.intervals,
            summary=ran.told.summary,
            subject=subject,
            driven=Driven(
                library=ran.told.library,
                server=answering,
                mode=case.driving.mode,
                host=case.driving.host,
                first_error=ran.told.first_error,
            ),
            subject_samples=ran.told.samples,
            observation=ran.told.observation,
            window=ran.told.window,
            judgement=ran.told.judgement(server.ended() if ran.server_died else None),
            machine=Machine(
                facts={**bench.machine, "cpus_apart": cpus.problem is None, **ran.troubles}
            ),
        )
    return trial.model_copy(update={"warnings": warnings.of_trial(trial)})


@dataclass(frozen=True)
class _Work:
    """What a driver is to do, and where."""

    case: Case
    driving: Driving
    driver: Driver
    job: Job
    endpoint: Endpoint
    server: Server


@dataclass(frozen=True)
class _Ran:
    """A driver that has done it."""

    begun_at: str
    start: Start
    told: Told
    troubles: dict[str, int | None]
    server_died: bool


def _run(work: _Work, cpus: pinning.Pinning) -> _Ran:
    """Runs the driver to its end, and reads the server's counters each time that it says a line."""
    job, troubles = work.job, Troubles()
    limit_s = START_LIMIT_S + ITERATION_LIMIT_S * (job.warmup + job.iterations * job.repetitions)
    begun_at = datetime.now().astimezone().isoformat(timespec="milliseconds")
    instants: list[int] = []
    observer = Observer(
        [work.server.pid], port=work.endpoint.port, cpus=[*cpus.server, *cpus.generator]
    )
    with observer, work.driver.start(job, limit_s) as running:
        began_ns, began_unix_ns = time.monotonic_ns(), time.time_ns()
        for instant in running:
            instants.append(instant)
            observer.look()
        # The server is as it was: what follows is no part of it.
    ended = running.ended()
    repetitions = work.driver.told(job, ended, limit_s)
    return _Ran(
        begun_at=begun_at,
        start=_start(work, running.pid, began_unix_ns, repetitions),
        told=Told.of(
            repetitions,
            instants,
            observer.seen,
            Origin(
                begun_ns=began_ns,
                alone=observer.alone,
                interfaces=observer.interfaces,
                tells_memory=False,
            ),
            job.warmup,
        ),
        troubles=troubles.since(),
        server_died=observer.died,
    )


def _start(work: _Work, pid: int, unix_ns: int, repetitions: Sequence[Repetition]) -> Start:
    expected = work.job.expect.stat().st_size if work.job.expect else work.job.payload
    host = work.driving.host or work.endpoint.host
    return Start(
        engine=f"{SCHEMA} {repetitions[0].version}",
        pid=pid,
        url=work.job.url,
        addresses=_addresses(host, work.endpoint.port),
        started_unix_ns=unix_ns,
        threads=1,
        poller="the library's own",
        request_payload_bytes=work.job.payload,
        reply_payload_bytes=expected,
        tls="as server and library agree" if work.case.protocol in SECURE else None,
    )


def _job(case: Case, endpoint: Endpoint, scratch: Path) -> Job:
    driving = case.driving
    assert driving is not None
    there = endpoint.model_copy(update={"host": driving.host}) if driving.host else endpoint
    page = None
    if case.protocol in ("http", "https") and not driving.payload:
        page = scratch / "page"
        page.write_bytes(_page(endpoint, case.path))
    return Job(
        url=there.url(case.path),
        payload=driving.payload,
        mode=driving.mode,
        iterations=driving.iterations,
        warmup=driving.warmup,
        repetitions=driving.repetitions,
        authority=endpoint.authority if case.protocol in SECURE else None,
        expect=page,
    )


def _page(endpoint: Endpoint, path: str) -> bytes:
    """What the server has there, and every reply must be."""
    try:
        with HttpConnection(endpoint) as connection:
            return connection.exchange(Request("GET", path)).content
    except (OSError, Broken, *HTTP_ERRORS) as error:
        raise SubjectFailed(f"{endpoint.url(path)} can't be fetched: {error}") from error


def _silence(port: int) -> Silence:
    try:
        return Silence(port)
    except OSError as error:
        raise SubjectFailed(
            f"port {port} of ::1 can't be made silent: {error.strerror}",
            "run it again; where there is no IPv6, leave it out",
        ) from error


def _addresses(host: str, port: int) -> tuple[str, ...]:
    """Where the name leads, in the order in which the system gives it."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return tuple(
        f"[{address[0]}]:{port}" if family == socket.AF_INET6 else f"{address[0]}:{port}"
        for family, _, _, _, address in found
    )


def _facts(
    ready: Ready, configuration: str, threads: int | None, cpus: tuple[int, ...]
) -> SubjectFacts:
    return SubjectFacts(
        name=ready.subject.spec.name,
        version=ready.build.version,
        language=ready.subject.spec.language,
        digest=ready.build.digest,
        # As the recipe gives it: ports and folders change from trial to trial.
        command=ready.subject.configuration(configuration).command,
        threads=threads,
        cpus=cpus,
    )
