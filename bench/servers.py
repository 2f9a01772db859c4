"""The servers under load: subjects of the catalogue, one thread on one CPU, and the reference.

Knows the catalogue; must not know who generates the load.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.workloads import Workload
from wiretrial.engine import Engine
from wiretrial.subjects import build, registry
from wiretrial.subjects.ports import free_ports
from wiretrial.subjects.process import Server


@contextmanager
def serving(load: Workload, engine: Path, cpu: int) -> Iterator[Server]:
    """The workload's server, ready for it, until the block ends."""
    subject = registry.find(load.server)
    built = build.install(subject, engine)
    with Server(subject, built, "tuned", engine=engine, cpus=(cpu,)) as server:
        server.wait_ports()
        yield server


@contextmanager
def reference(engine: Engine, *options: str) -> Iterator[int]:
    """The port on which the reference server serves HTTP and WebSocket, until the block ends."""
    (port,) = free_ports(["127.0.0.1"], ["http"], None).values()
    words = [str(engine.binary), "respond", "--http", f"127.0.0.1:{port}", *options]
    started = psutil.Popen(words, stdout=subprocess.PIPE)
    try:
        # The first line is its address: it listens.
        started.stdout.readline()
        yield port
    finally:
        started.terminate()
        started.wait()
