"""A client library sends: a process of its driver beside a watched server, and what it told.

Knows how a case becomes a driver's job; must not know what comes before or after it. What is
watched is the server: a driver tells its own cost.
"""

from __future__ import annotations

import contextlib
import socket
import tempfile
import time
from collections.abc import Generator
from pathlib import Path

from wiretrial.errors import SubjectFailed
from wiretrial.machine.silence import Silence
from wiretrial.plan import SECURE
from wiretrial.results.model import Driven
from wiretrial.snapshot import Start
from wiretrial.studies.bench import Stand
from wiretrial.studies.events import Event, Seen
from wiretrial.studies.observed import Origin
from wiretrial.studies.plans import plan_of
from wiretrial.studies.sent import Sent, Troubles, now
from wiretrial.studies.spec import Case, Driving
from wiretrial.studies.told import Told
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.driver import SCHEMA, Driver, Job
from wiretrial.subjects.endpoint import Broken, Endpoint
from wiretrial.subjects.http_connection import HTTP_ERRORS, Request
from wiretrial.subjects.observe import Observer
from wiretrial.words import HTTP

START_LIMIT_S = 60.0
"""What a driver may take beside its iterations: an interpreter's start, a virtual machine's."""
ITERATION_LIMIT_S = 0.5
"""What its iterations may take on average, before it is taken for hanging."""


def send(stand: Stand) -> Generator[Event, None, Sent]:
    """The driver asks the server; what the server does is read each time that it says a line."""
    case, ready, running, cpus = stand.case, stand.ready, stand.running, stand.cpus
    driving = case.driving
    assert driving is not None
    assert ready is not None
    assert running is not None
    server, endpoint, configuration = running.first, running.endpoint, case.scenario.configuration
    driver = Driver(
        ready.subject,
        ready.build,
        configuration,
        engine=stand.bench.engine.binary,
        cpus=cpus.generator,
    )
    answering, instants = running.facts(), list[int]()
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wiretrial-page-")))
        job = _job(case, driving, endpoint, scratch)
        if driving.ipv6 == "silent":
            stack.enter_context(_silence(endpoint.port))
        limit_s = START_LIMIT_S + ITERATION_LIMIT_S * (
            job.warmup + job.iterations * job.repetitions
        )
        troubles, begun_at = Troubles(), now()
        observer = Observer([server.pid], port=endpoint.port, cpus=[*cpus.server, *cpus.generator])
        with observer, driver.start(job, limit_s) as process:
            began_ns, began_unix_ns = time.monotonic_ns(), time.time_ns()
            for instant in process:
                instants.append(instant)
                observer.look()
            # The server is as it was: what follows is no part of it.
        repetitions, since = driver.told(job, process.ended(), limit_s), troubles.since()
        start = _start(case, endpoint, job, process.pid, began_unix_ns, repetitions[0].version)
    origin = Origin(
        begun_ns=began_ns,
        alone=observer.alone,
        interfaces=observer.interfaces,
        tells_memory=False,
    )
    told = Told.of(repetitions, instants, observer.seen, origin, job.warmup)
    for interval in told.intervals:
        yield Seen(interval)
    return Sent(
        started_at=begun_at,
        environment=case.scenario.environment,
        plan=plan_of(stand.bench.study, case, job.url, cpus),
        start=start,
        intervals=told.intervals,
        summary=told.summary,
        window=told.window,
        judgement=told.judgement(server.ended() if observer.died else None),
        subject=ready.facts(configuration, cpus=cpus.generator),
        driven=Driven(
            library=told.library,
            server=running.facts_since(answering),
            mode=driving.mode,
            host=driving.host,
            first_error=told.first_error,
        ),
        subject_samples=told.samples,
        observation=told.observation,
        troubles=since,
    )


def _start(case: Case, endpoint: Endpoint, job: Job, pid: int, unix_ns: int, version: int) -> Start:
    host = case.driving.host if case.driving else None
    return Start(
        engine=f"{SCHEMA} {version}",
        pid=pid,
        url=job.url,
        addresses=_addresses(host or endpoint.host, endpoint.port),
        started_unix_ns=unix_ns,
        threads=1,
        poller="the library's own",
        request_payload_bytes=job.payload,
        reply_payload_bytes=job.expect.stat().st_size if job.expect else job.payload,
        tls="as server and library agree" if case.protocol in SECURE else None,
    )


def _job(case: Case, driving: Driving, endpoint: Endpoint, scratch: Path) -> Job:
    there = endpoint.model_copy(update={"host": driving.host}) if driving.host else endpoint
    page = None
    if case.protocol in HTTP and not driving.payload:
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
        with connect(endpoint) as connection:
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
