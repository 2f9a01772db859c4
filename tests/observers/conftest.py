"""Servers and control groups that the tests start and make themselves, and clear away."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.nursery import ROOT, ended
from wiretrial.engine import Engine

BURNER = Path(__file__).with_name("burner.py")
LIMIT_S = 120.0


@dataclass
class Burner:
    """A server with a known cost."""

    process: subprocess.Popen[str]
    port: int

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def ended(self) -> int:
        """Ends it; the CPU time that it had, by its own account, in nanoseconds."""
        self.process.terminate()
        said, _ = self.process.communicate(timeout=10)
        return int(said.split()[-1])


Start = Callable[..., Burner]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def engine() -> Engine:
    return Engine.find()


@pytest.fixture
def burner() -> Iterator[Start]:
    """Starts a server that burns so many microseconds for each request."""
    with contextlib.ExitStack() as stack:

        def start(burn_us: int, port: int = 0, group: Path | None = None) -> Burner:
            process = subprocess.Popen(
                [sys.executable, str(BURNER), str(port), str(burn_us)],
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.callback(_cleared, process)
            if group is not None:
                (group / "cgroup.procs").write_text(str(process.pid), encoding="ascii")
            assert process.stdout is not None
            word, number = process.stdout.readline().split()
            assert word == "ready"
            return Burner(process, int(number))

        yield start


def _cleared(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@dataclass(frozen=True)
class Limited:
    """A control group whose processes have so many CPUs at most."""

    folder: Path
    cpus: float

    def counter(self, name: str) -> int:
        """One of its `cpu.stat`."""
        text = (self.folder / "cpu.stat").read_text(encoding="ascii")
        return {line.split()[0]: int(line.split()[1]) for line in text.splitlines()}[name]


@pytest.fixture
def limited() -> Iterator[Limited]:
    """A control group with a fifth of a CPU; skipped where none can be made."""
    folder, files = _place()
    try:
        folder.mkdir()
        for file, value in files.items():
            (folder / file).write_text(value, encoding="ascii")
    except OSError as error:
        with contextlib.suppress(OSError):
            folder.rmdir()
        pytest.skip(f"no control group with a CPU limit can be made here: {error}")
    yield Limited(folder, 0.2)
    removed(folder)


def removed(folder: Path) -> None:
    """Takes a control group away; what is still in it is ended, and may be on its way out."""
    for _ in range(200):
        with contextlib.suppress(OSError):
            for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split():
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.01)


def _place() -> tuple[Path, dict[str, str]]:
    """Where a group with a CPU limit goes, and the files of the limit."""
    root, name = Path("/sys/fs/cgroup"), f"wiretrial-test-{uuid.uuid4().hex[:8]}"
    if (root / "cpu" / "cpu.shares").exists() or (root / "cpu" / "cgroup.procs").exists():
        files = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "20000"}
        return root / "cpu" / name, files
    return root / name, {"cpu.max": "20000 100000"}


@pytest.fixture
def wiretrial(tmp_path: Path) -> Run:
    """Runs `wiretrial` to its end, in an empty folder."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        python = {"PYTHONPATH": str(ROOT / "python"), "COLUMNS": "80", "NO_COLOR": "1"}
        return ended(arguments, tmp_path, {**os.environ, **python}, LIMIT_S)

    return run
