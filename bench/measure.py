"""One run of one generator, on its CPU, with what the kernel says it has used.

Knows processes; must not know what they print.
"""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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


def run(command: Sequence[str], *, cpu: int | None, seconds: float, folder: Path) -> Run:
    """Runs a command to its end, on one CPU where one is named.

    Raises RunFailed where it ends badly, or not at all.
    """
    pinned = [] if cpu is None else ["taskset", "--cpu-list", str(cpu)]
    with tempfile.TemporaryFile(mode="w+b") as output:
        began = time.monotonic()
        child = subprocess.Popen(
            [*pinned, *command],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        used = _await(child, began + seconds + CLOSING_S)
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


def _await(
    child: subprocess.Popen[bytes], deadline: float
) -> tuple[int, resource.struct_rusage] | None:
    """The exit status and the account of exactly this child; None: it had to be killed."""
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage
        time.sleep(0.05)
    child.kill()
    child.wait()
    return None
