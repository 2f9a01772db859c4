"""A real scheduler, real agents and a real server, ended whatever becomes of a test."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import LAUNCHER, ROOT
from tests.waiting import until
from wiretrial import launch
from wiretrial.engine import Engine
from wiretrial.fleet import commands, own
from wiretrial.fleet.security import Address, Certificates

DEADLINE_S = 90.0
wait_until = partial(until, limit_s=DEADLINE_S)
ENGINE = "wiretrial-engine"


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine that belongs to this laboratory."""
    return Engine.find()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """What is entered here is left after the test."""
    with ExitStack() as stack:
        yield stack


def started(
    stack: ExitStack,
    command: Sequence[str],
    *,
    namespace: Path | None = None,
    log: Path | None = None,
) -> subprocess.Popen[bytes]:
    """A program that ends with the test, and with us."""
    output = stack.enter_context(log.open("wb")) if log else subprocess.PIPE
    process = subprocess.Popen(
        launch.command_line(command, namespace=namespace, death_signal=signal.SIGKILL),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output if log else subprocess.DEVNULL,
        env={**commands.environment(), "PYTHONPATH": str(ROOT / "python")},
        start_new_session=True,
    )
    stack.callback(ended, process)
    return process


def ended(process: subprocess.Popen[bytes]) -> None:
    """Ends a program, if it has not ended yet."""
    process.kill()
    process.wait()
    if process.stdout:
        process.stdout.close()


def serve(
    stack: ExitStack, engine: Engine, host: str = "127.0.0.1", *, namespace: Path | None = None
) -> str:
    """A reference server; its WebSocket URL."""
    return stack.enter_context(own.serving(engine, host, namespace=namespace))


class Cluster:
    """A scheduler, and agents at the given addresses; each in its namespace where it has one."""

    def __init__(
        self,
        stack: ExitStack,
        folder: Path,
        host: str,
        agents: Sequence[tuple[str, Path | None]],
        certificates: Certificates | None = None,
        before: Sequence[Sequence[str]] = (),
    ) -> None:
        self.certificates = certificates
        self._stack, self._folder = stack, folder
        self.address = Address("tls" if certificates else "tcp", host, own.free_port(host))
        self.scheduler = started(
            stack, commands.scheduler(self.address, certificates), log=folder / "scheduler.log"
        )
        wait_until(lambda: own.listens(host, self.address.port), "the scheduler listens")
        self.agents = [
            self.agent(address, namespace, before[number] if before else ())
            for number, (address, namespace) in enumerate(agents)
        ]

    def agent(
        self, address: str, namespace: Path | None = None, before: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """One more agent; `before` is what its command line begins with."""
        command = commands.agent(self.address, self.certificates, name=None, host=address)
        log = self._folder / f"agent-{address}.log"
        return started(self._stack, [*before, *command], namespace=namespace, log=log)

    def flags(self, *more: str) -> list[str]:
        """Of `wiretrial load`, to run on this fleet."""
        flags = ["--fleet", str(self.address)]
        if self.certificates:
            flags += ["--fleet-certificates", str(self.certificates.folder)]
        return [*flags, *more]

    def engines(self) -> list[psutil.Process]:
        """The engines of all agents that run right now."""
        return [one for agent in self.agents for one in engines_below(agent.pid)]


def engines_below(pid: int) -> list[psutil.Process]:
    """Engines that a process has begun."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [
            child
            for child in psutil.Process(pid).children(recursive=True)
            if child.name() == ENGINE and child.status() != psutil.STATUS_ZOMBIE
        ]
    return []


def load(stack: ExitStack, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """`wiretrial load`, begun; whoever wants its end waits for it."""
    return wiretrial(stack, "load", *arguments, cwd=cwd)


def wiretrial(stack: ExitStack, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """The command, begun."""
    process = subprocess.Popen(
        [sys.executable, str(LAUNCHER), *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "COLUMNS": "200", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def over() -> None:
        process.kill()
        process.communicate()

    stack.callback(over)
    return process


def is_gone(process: psutil.Process) -> bool:
    """Whether a process has ended."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
