"""A real cAdvisor, built from its modules with Go, and started for a test.

Knows how it is built and started; must not know what a test asks of it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance import modules
from conformance.process import Unavailable
from tests.observers.dockerd import Docker

MODULE = Path(__file__).resolve().parent / "exporter"
BUILT = Path(__file__).resolve().parents[2] / "build" / "tools" / "cadvisor"
EVERY = ("-housekeeping_interval=100ms", "-allow_dynamic_housekeeping=false")
"""How often it reads a container; usually once a second, and an idle one less and less often."""


@contextmanager
def cadvisor(folder: Path, docker: Docker) -> Iterator[str]:
    """One that tells of a Docker; where it listens. Skipped where it can't be built."""
    try:
        modules.build(BUILT, MODULE, ["."])
    except Unavailable as error:
        pytest.skip(str(error))
    command = [str(BUILT / "exporter"), f"-docker={docker.address}", f"-groups={docker.group}"]
    log = folder / "cadvisor.log"
    with (
        log.open("wb") as sink,
        subprocess.Popen(
            [*command, *EVERY], stdout=subprocess.PIPE, stderr=sink, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            ready, _, address = process.stdout.readline().strip().partition(" ")
            assert ready == "ready", log.read_text(encoding="utf-8")[-500:]
            yield address
        finally:
            process.kill()
