"""All cases against the reference server, one after the other.

Knows who connects to whom; must not know what the results should be.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conformance.http3 import report
from conformance.http3.cases import Found
from conformance.http3.suite import Suite
from conformance.process import Process
from wiretrial.subjects import certificates

LOOPBACK = "127.0.0.1"
LIMIT_S = 240.0


@dataclass(frozen=True)
class Bench:
    """What is tested, with what, and where logs go."""

    suite: Suite
    engine: Path
    folder: Path


@contextmanager
def serving(engine: Path, folder: Path) -> Iterator[str]:
    """The address of the reference server; the folder is made anew for its log."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    own = certificates.make(folder, LOOPBACK)
    command = [str(engine), "respond", "--http3", "--https", f"{LOOPBACK}:0"]
    command += ["--cert", str(own.chain), "--key", str(own.key)]
    with Process(command, log=folder / "engine.log") as server:
        yield server.hear(r"https=(\S+)")


def run_all(bench: Bench) -> Found:
    """Every case."""
    log = bench.folder / "h3spec.log"
    with (
        serving(bench.engine, bench.folder) as address,
        bench.suite.try_server(address, log) as suite,
    ):
        # Its exit code says no more than its lines do.
        suite.end(LIMIT_S)
    return {"server": {"quic": report.read(log.read_text(encoding="utf-8", errors="replace"))}}
