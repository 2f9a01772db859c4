"""The servers under load: subjects of the catalogue, one thread on one CPU.

Knows the catalogue; must not know who generates the load.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.workloads import Workload
from wiretrial.subjects import build, registry
from wiretrial.subjects.process import Server


@contextmanager
def serving(load: Workload, engine: Path, cpu: int) -> Iterator[Server]:
    """The workload's server, ready for it, until the block ends."""
    subject = registry.find(load.server)
    built = build.install(subject, engine)
    with Server(subject, built, "tuned", engine=engine, cpus=(cpu,)) as server:
        server.wait_ports()
        yield server
