"""One run of one generator, on its CPU, with what the kernel says it has used.

Knows processes; must not know what they print.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from wiretrial.errors import WiretrialError

CLOSING_S = 30.0
"""How much longer than its load a generator may take."""


class RunFailed(WiretrialError):
    """A generator gave no figures."""


@dataclass(frozen=True)
class Run:
    """What a generator printed and used."""

    text: str
    wall_s: float
    user_s: float
    system_s: float
    peak_bytes: int

    @property
    def cpu_s(self) -> float:
        """User and system time of the process and its children."""
        return self.user_s + self.system_s


def run(
    command: Sequence[str],
    *,
    cpu: int | None,
    seconds: float,
    folder: Path,
    told: str = "",
    environment: Mapping[str, str] | None = None,
    watch: Callable[[int], None] | None = None,
) -> Run:
    """Runs a command to its end, on one CPU where one is named.

    `told`: its standard input; `environment`: added to ours; `watch` gets its process id some
    times a second.
    Raises RunFailed where it ends badly, or not at all.
    """
    pinned = [] if cpu is None else ["taskset", "--cpu-list", str(cpu)]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as spoken:
        spoken.write(told.encode())
        spoken.seek(0)
        began = time.monotonic()
        child = subprocess.Popen(
            [*pinned, *command],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=spoken,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        used = _await(child, began + seconds + CLOSING_S, watch)
        wall = time.monotonic() - began
        output.seek(0)
        text = output.read().decode(errors="replace")
    if used is None:
        raise RunFailed(f"{command[0]} did not end")
    status, usage = used
    if status != 0:
        last = text.strip().splitlines()[-1:] or ["nothing said"]
        raise RunFailed(f"{Path(command[0]).name} ended with {status}: {last[0][:200]}")
    return Run(
        text=text,
        wall_s=wall,
        user_s=usage.ru_utime,
        system_s=usage.ru_stime,
        peak_bytes=usage.ru_maxrss * 1024,
    )


def cpu_s(root: int) -> float:
    """User and system time of a process and its children so far."""
    used = (one.cpu_times() for one in _family(root))
    return sum(times.user + times.system for times in used)


def memory_bytes(root: int) -> int:
    """What a process and its children have in memory, of shared pages their share."""
    whole = 0
    for one in _family(root):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            whole += one.memory_full_info().pss
    return whole


def _family(root: int) -> list[psutil.Process]:
    first = psutil.Process(root)
    return [first, *first.children(recursive=True)]


def _await(
    child: subprocess.Popen[bytes], deadline: float, watch: Callable[[int], None] | None
) -> tuple[int, resource.struct_rusage] | None:
    """The exit status and the account of exactly this child; None: it had to be killed."""
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage
        if watch:
            watch(child.pid)
        time.sleep(0.05)
    # With what it started itself.
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return None
