"""One group of cases against one side of the engine, and all groups of both sides at once.

Knows who connects to whom; must not know what the results should be.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from conformance import together
from conformance.http2 import report
from conformance.http2.cases import GROUPS, SIDES, WAYS, Found, Side, Way
from conformance.http2.suite import Suite, free_ports
from conformance.process import Process, ProcessFailed
from wiretrial.subjects import certificates

LOOPBACK = "127.0.0.1"
# A chapter of the client's suite has fewer cases, and each has a port.
MOST_CASES = 40
GROUP_LIMIT_S = 120.0
ATTEMPTS = 3


@dataclass(frozen=True)
class Bench:
    """What is tested, with what, and where logs go."""

    suite: Suite
    engine: Path
    testee: Path
    folder: Path


@dataclass(frozen=True)
class _Job:
    number: int
    side: Side
    way: Way
    sections: tuple[str, ...]

    @property
    def log(self) -> str:
        name = self.sections[0].replace("/", "-")
        return f"{self.side}-{self.way}-{name}.log"


def run_all(bench: Bench) -> Found:
    """Every case on both sides, over TLS and without."""
    shutil.rmtree(bench.folder, ignore_errors=True)
    bench.folder.mkdir(parents=True)
    todo = [(side, way, group) for side in SIDES for group in GROUPS[side] for way in WAYS]
    jobs = [_Job(number, *one) for number, one in enumerate(todo)]
    found: Found = {side: {way: {} for way in WAYS} for side in SIDES}
    certificate = certificates.make(bench.folder, LOOPBACK)
    command = [str(bench.engine), "respond", "--http", f"{LOOPBACK}:0", "--https", f"{LOOPBACK}:0"]
    command += ["--http2", "--cert", str(certificate.chain), "--key", str(certificate.key)]
    with Process(command, log=bench.folder / "engine.log") as server:
        addresses: dict[Way, str] = {
            "plain": server.hear(r"ready http=(\S+)"),
            "tls": server.hear(r"https=(\S+)"),
        }

        def run(job: _Job) -> report.Results:
            if job.side == "server":
                return _try_server(bench, job, addresses[job.way])
            return _try_client(bench, job, certificate)

        for job, results in together.run(run, jobs):
            found[job.side][job.way] |= results
    return found


def _try_server(bench: Bench, job: _Job, address: str) -> report.Results:
    log = bench.folder / job.log
    secure = job.way == "tls"
    with bench.suite.try_server(address, "/message", job.sections, log, secure=secure) as suite:
        suite.end(GROUP_LIMIT_S)
    return report.read(log.read_text(encoding="utf-8", errors="replace"))


def _try_client(bench: Bench, job: _Job, certificate: certificates.Certificate) -> report.Results:
    log = bench.folder / job.log
    (section,) = job.sections
    shown = certificate if job.way == "tls" else None
    for attempt in range(ATTEMPTS):
        first = free_ports(MOST_CASES, beginning=job.number + attempt * len(GROUPS["client"]) * 8)
        command = f"{bench.testee} http2"
        with bench.suite.try_client(command, first, section, log, shown) as suite:
            suite.end(GROUP_LIMIT_S)
        text = log.read_text(encoding="utf-8", errors="replace")
        # Somebody else may have taken one of them since.
        if "address already in use" not in text:
            return report.read(text)
    raise ProcessFailed(f"no ports for {section} that stay free; see {log}")
