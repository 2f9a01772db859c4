"""The servers of HTTP/3 under load, each on the server's CPU, and the floor's other side.

Knows how each is started; must not know who generates the load.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.places import FLOOR, QUIC_GO, SERVER_CPU
from bench.quic_loads import CONTENT_BYTES, QuicLoad, Shape
from wiretrial.errors import WiretrialError
from wiretrial.subjects.certificates import Certificate

READY = re.compile(r"(?:https=|ready )(\d\S*)")


@contextmanager
def serving(load: QuicLoad, engine: Path, certificate: Certificate) -> Iterator[tuple[str, int]]:
    """The address of the load's server, and its process."""
    chain, key = str(certificate.chain), str(certificate.key)
    if load.server == "reference":
        command = [str(engine), "respond", "--http3", "--https", "127.0.0.1:0"]
        command += ["--cert", chain, "--key", key]
    else:
        command = [str(QUIC_GO), "serve", "127.0.0.1:0", chain, key, str(CONTENT_BYTES)]
    with _started(command) as (line, pid):
        found = READY.search(line)
        if not found:
            raise WiretrialError(f"{load.server} does not say where it is: {line.strip()[:200]!r}")
        yield found[1], pid


@contextmanager
def answering(shape: Shape) -> Iterator[tuple[str, int]]:
    """The address of what answers the floor by datagrams of the same sizes, and its process."""
    numbers = (shape.sent, shape.received, shape.received_segment, SERVER_CPU)
    with _started([str(FLOOR), "answer", "127.0.0.1:0", *map(str, numbers)]) as (line, pid):
        yield json.loads(line)["address"], pid


@contextmanager
def _started(command: Sequence[str]) -> Iterator[tuple[str, int]]:
    """What it says first, and its process, until the block ends."""
    pinned = ["taskset", "--cpu-list", str(SERVER_CPU), *command]
    process = subprocess.Popen(pinned, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline(), process.pid
    finally:
        process.terminate()
        process.communicate()
