"""Parts of a fleet that we start ourselves, for a demonstration or a measurement: they end with us.

Knows how its programs are started and when they are there; must not know what they are asked.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wiretrial import launch
from wiretrial.engine import Engine
from wiretrial.errors import FleetFailed
from wiretrial.fleet import commands
from wiretrial.fleet.security import Address, Certificates

LISTEN_S = 20.0
END_S = 10.0


@contextmanager
def scheduling(
    address: Address, certificates: Certificates | None
) -> Iterator[subprocess.Popen[Any]]:
    """A scheduler that takes connections there. Raises `FleetFailed`."""
    with started(commands.scheduler(address, certificates)) as scheduler:
        deadline = time.monotonic() + LISTEN_S
        while not listens(address.host, address.port):
            if time.monotonic() >= deadline:
                raise FleetFailed(
                    f"the scheduler does not listen on {address.host}:{address.port}"
                    f" after {LISTEN_S:g} s"
                )
            time.sleep(0.05)
        yield scheduler


@contextmanager
def serving(engine: Engine, host: str, *, namespace: Path | None = None) -> Iterator[str]:
    """A reference server there; its WebSocket URL. Raises `FleetFailed`."""
    command = [str(engine.binary), "respond", "--http", f"{host}:0"]
    with started(command, namespace=namespace, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        line = server.stdout.readline().decode().strip()
        name, _, address = line.partition("http=")
        if not name.startswith("ready"):
            raise FleetFailed(f"the reference server does not start on {host}")
        yield f"ws://{address}/"


@contextmanager
def started(
    command: Sequence[str],
    *,
    namespace: Path | None = None,
    stdout: int = subprocess.DEVNULL,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[Any]]:
    """A program with these variables beside its own."""
    process: subprocess.Popen[Any] = subprocess.Popen(
        launch.command_line(command, namespace=namespace, death_signal=signal.SIGKILL),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env={**commands.environment(), **(environment or {})},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def free_port(host: str) -> int:
    """A port that nobody has at this address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def listens(host: str, port: int) -> bool:
    """Whether somebody takes connections there."""
    with contextlib.suppress(OSError):
        socket.create_connection((host, port), timeout=1.0).close()
        return True
    return False
