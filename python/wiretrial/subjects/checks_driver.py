"""Checks of a client driver, against the reference server: does it do and count what it says?

Knows the drivers' contract and what the server does wrong on purpose; must not know who is driven.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from wiretrial.errors import SubjectFailed
from wiretrial.plan import SECURE
from wiretrial.subjects import build, certificates, registry
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.build import Build
from wiretrial.subjects.driver import Driver, Ended, Job, Repetition
from wiretrial.subjects.echo_parts import SERVICE
from wiretrial.subjects.endpoint import Broken, Endpoint, expect
from wiretrial.subjects.http_connection import Request
from wiretrial.subjects.process import Server
from wiretrial.subjects.relay import Relay
from wiretrial.subjects.spec import (
    HTTP2,
    ConfigurationName,
    Mode,
    Part,
    Protocol,
    Subject,
)
from wiretrial.subjects.verify import Outcome, outcome_of
from wiretrial.words import CALLS, HTTP

REFERENCE = "reference"
OTHERS: dict[Protocol, str] = {
    **dict.fromkeys(HTTP2, "reference-http2"),
    **dict.fromkeys(CALLS, "reference-grpc"),
}
"""The same where it offers HTTP/2 inside TLS."""
PATHS: dict[Protocol, str] = {
    **dict.fromkeys((*HTTP, *HTTP2), "/echo"),
    **dict.fromkeys(("ws", "wss"), "/"),
    **dict.fromkeys(CALLS, f"/{SERVICE}/Unary"),
}
PAGE_PATH = "/bytes/612"
SMALL = 64
LARGE = 65_536
DEADLINE_S = 60.0
"""No run of a check may take longer; each is over in a second or two."""
ROUNDING = 1.001
"""What a histogram of three digits may be off by."""
OTHER_ADDRESS = "127.0.0.2"
"""An address of this machine that the server's certificate does not name."""


@dataclass(frozen=True)
class _Place:
    """One driver, one protocol, one mode."""

    driver: Driver
    protocol: Protocol
    mode: Mode
    endpoint: Endpoint
    """Where the reference server answers rightly."""
    engine: Path
    faulty: Callable[[str], AbstractContextManager[Server]]
    """Starts one that does wrong, by the name of a fault."""

    def job(self, endpoint: Endpoint, *, iterations: int = 20) -> Job:
        """Small messages to be echoed."""
        return Job(
            url=endpoint.url(PATHS.get(self.protocol, "")),
            payload=SMALL,
            mode=self.mode,
            iterations=iterations,
            authority=endpoint.authority if self.protocol in SECURE else None,
            http="2" if self.protocol in HTTP2 else "1.1",
        )


@dataclass(frozen=True)
class _Check:
    part: Part
    name: str
    function: Callable[[_Place], None]
    protocols: frozenset[str] | None = None
    """None: all."""


def verify(
    subject: Subject, built: Build, configuration: ConfigurationName, engine: Path
) -> Iterator[Outcome]:
    """Every check of a driver on every protocol in every mode that it has, as each is done.

    Where not even one exchange is right, that protocol and mode are not asked further.
    """
    driver = Driver(subject, built, configuration, engine=engine)
    for protocol in subject.spec.speaks:
        name = OTHERS.get(protocol, REFERENCE)
        with _reference(engine, name) as server:
            for mode in subject.spec.modes:
                faulty = partial(_faulty, engine, name)
                place = _Place(driver, protocol, mode, server.endpoint(protocol), engine, faulty)
                for check in _CHECKS:
                    if check.protocols and protocol not in check.protocols:
                        continue
                    what = f"{check.name}, {mode}"
                    problem = _problem(check, place)
                    claim = (None, protocol)
                    yield outcome_of(subject.spec, configuration, claim, check.part, what, problem)
                    if problem and check.part == "exchange":
                        break


def _problem(check: _Check, place: _Place) -> str | None:
    try:
        check.function(place)
    except Broken as broken:
        return str(broken)
    except SubjectFailed as failed:
        return failed.message
    return None


def _exchange(place: _Place) -> None:
    _right(place, replace(place.job(place.endpoint), warmup=2, repetitions=2))


def _page(place: _Place) -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page"
        page.write_bytes(_content(place.endpoint))
        job = replace(
            place.job(place.endpoint),
            url=place.endpoint.url(PAGE_PATH),
            payload=0,
            expect=page,
        )
        _right(place, job)
        page.write_bytes(page.read_bytes()[:-1] + b"\n")
        _goes_no_further(place, job, "every page was another than expected")


def _many(place: _Place) -> None:
    told = _right(place, replace(place.job(place.endpoint, iterations=200), repetitions=2))
    cpu_ns = sum(one.cpu_user_ns + one.cpu_system_ns for one in told)
    expect(cpu_ns > 0, "400 iterations took no CPU time")


def _large(place: _Place) -> None:
    _right(place, replace(place.job(place.endpoint), payload=LARGE))


def _wrong_reply(place: _Place, fault: str) -> None:
    with place.faulty(fault) as server:
        job = place.job(server.endpoint(place.protocol))
        for one in place.driver.run(job, DEADLINE_S):
            expect(one.errors > 0, f"none of {one.iterations} replies was found wrong")


def _other_authority(place: _Place) -> None:
    with tempfile.TemporaryDirectory() as folder:
        other = certificates.make(Path(folder), place.endpoint.host)
        job = replace(place.job(place.endpoint), authority=other.authority)
        _goes_no_further(place, job, "nobody vouched for the server")


def _other_name(place: _Place) -> None:
    with Relay(place.endpoint.host, place.endpoint.port, OTHER_ADDRESS) as relay:
        there = place.endpoint.model_copy(update={"host": OTHER_ADDRESS, "port": relay.port})
        _goes_no_further(place, place.job(there), "the certificate was another host's")


def _other_version(place: _Place) -> None:
    with _reference(place.engine, REFERENCE) as server:
        there = server.endpoint(place.protocol)
        _goes_no_further(place, place.job(there), "the server offers no HTTP/2")


def _refused(place: _Place) -> None:
    with socket.socket() as nobody:
        # Bound, and so nobody else's; not listening, and so refused.
        nobody.bind((place.endpoint.host, 0))
        there = place.endpoint.model_copy(update={"port": nobody.getsockname()[1]})
        _goes_no_further(place, place.job(there), "the connection was refused")


def _silence(place: _Place) -> None:
    with place.faulty("silent") as server:
        job = replace(place.job(server.endpoint(place.protocol), iterations=1), timeout_s=1.0)
        ended = place.driver.execute(job, DEADLINE_S)
        if ended.status == 0:
            for one in place.driver.repetitions(job, ended):
                expect(one.errors == one.iterations, "silence was taken for a reply")
        else:
            _one_line(ended, "the server was silent")


def _connections(place: _Place) -> None:
    with Relay(place.endpoint.host, place.endpoint.port) as relay:
        there = place.endpoint.model_copy(update={"port": relay.port})
        job = replace(place.job(there), warmup=5, repetitions=2)
        told = _right(place, job)
    kept = job.mode == "kept"
    wanted = 1 if kept else job.warmup + job.repetitions * job.iterations
    expect(relay.accepted == wanted, f"opened {relay.accepted} connections, not {wanted}")
    for one in told:
        right = 1 if kept else job.iterations
        expect(
            one.connections in (None, right), f"told of {one.connections} connections, not {right}"
        )


_CHECKS: tuple[_Check, ...] = (
    _Check("exchange", "right replies", _exchange),
    _Check("exchange", "a page", _page, frozenset((*HTTP, *HTTP2))),
    _Check("many", "many iterations", _many),
    _Check("large", "64 KiB", _large),
    _Check("connections", "connections", _connections),
    _Check("wrong-reply", "altered replies", partial(_wrong_reply, fault="wrong@7")),
    _Check("wrong-reply", "broken connections", partial(_wrong_reply, fault="reset@7")),
    _Check("authority", "another authority", _other_authority, SECURE),
    _Check("authority", "another host's certificate", _other_name, SECURE),
    _Check("version", "a server of HTTP/1.1", _other_version, frozenset({"h2"})),
    _Check("refused", "a closed port", _refused),
    _Check("silence", "a silent server", _silence),
)


def _right(place: _Place, job: Job) -> tuple[Repetition, ...]:
    """Does the job and holds what is told against what was seen from outside."""
    ended = place.driver.execute(job, DEADLINE_S)
    expect(ended.status is not None, f"it did not end in {DEADLINE_S:g} s")
    expect(ended.status == 0, f"it ended with {ended.status} ({ended.last_words()})")
    told = place.driver.repetitions(job, ended)
    for one in told:
        expect(not one.errors, f"{one.errors} errors of {one.iterations}, first: {one.first_error}")
        inside_ns = one.round_trips.get_mean_value() * one.iterations
        expect(
            inside_ns <= one.wall_ns * ROUNDING,
            f"its round trips sum up to {inside_ns:.0f} ns, and its clock to {one.wall_ns} ns",
        )
        cpu_ns = one.cpu_user_ns + one.cpu_system_ns
        most_ns = ended.elapsed_ns * len(os.sched_getaffinity(0))
        expect(cpu_ns <= most_ns, f"it told of {cpu_ns} ns of CPU time in {most_ns} ns")
    wall_ns = sum(one.wall_ns for one in told)
    expect(wall_ns <= ended.elapsed_ns, f"it told of {wall_ns} ns in {ended.elapsed_ns} ns")
    return told


def _goes_no_further(place: _Place, job: Job, though: str) -> None:
    ended = place.driver.execute(job, DEADLINE_S)
    expect(ended.status != 0, f"{though}, and it ended with 0")
    _one_line(ended, though)


def _one_line(ended: Ended, though: str) -> None:
    expect(ended.status is not None, f"{though}, and it did not end in {DEADLINE_S:g} s")
    expect(ended.status == 1, f"{though}, and it ended with {ended.status}, not 1")
    lines = ended.errors.strip().splitlines()
    expect(len(lines) == 1, f"{though}, and it said so in {len(lines)} lines, not in one")


def _content(endpoint: Endpoint) -> bytes:
    with connect(endpoint) as connection:
        return connection.exchange(Request("GET", PAGE_PATH)).content


@contextmanager
def _reference(engine: Path, name: str, *flags: str) -> Iterator[Server]:
    """The reference server, with flags for what it does wrong."""
    subject = registry.find(name)
    made = build.install(subject, engine)
    with Server(subject.with_flags(flags), made, "default", engine=engine) as server:
        server.wait_ports()
        yield server


def _faulty(engine: Path, name: str, fault: str) -> AbstractContextManager[Server]:
    return _reference(engine, name, "--fault", fault)
