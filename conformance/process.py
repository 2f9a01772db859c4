"""A program that a suite needs: started on loopback, heard, ended by process id.

Knows processes and their logs; must not know what they do.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from wiretrial import launch

START_LIMIT_S = 30.0
STOP_GRACE_S = 5.0
LOOK_EVERY_S = 0.02


class Unavailable(Exception):
    """A suite cannot run on this machine; says why and what would help."""


class ProcessFailed(Exception):
    """A program did not start, did not end, or ended badly. One line."""


class Process:
    """One running program. A context manager: leaving it ends the program."""

    def __init__(
        self, command: Sequence[str], *, log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.log = log
        self._name = Path(command[0]).name
        with log.open("wb") as sink:
            self._process = subprocess.Popen(
                launch.command_line(command),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=environment,
            )

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def hear(self, pattern: str) -> str:
        """The first group of `pattern`, as soon as the program wrote a line with it."""
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline:
            ended = self._process.poll() is not None
            text = self.log.read_text(encoding="utf-8", errors="replace")
            if found := re.search(pattern, text):
                return found[1]
            if ended:
                raise self._failed("ended at its start")
            time.sleep(LOOK_EVERY_S)
        raise self._failed(f"said nothing like {pattern!r} within {START_LIMIT_S:g} s")

    def finish(self, limit_s: float) -> None:
        """Returns when the program has ended, and ended well."""
        if (status := self.end(limit_s)) != 0:
            raise self._failed(f"ended with {status}")

    def end(self, limit_s: float) -> int:
        """Its exit code, when it has ended."""
        try:
            return self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise self._failed(f"did not end within {limit_s:g} s") from None

    def _failed(self, how: str) -> ProcessFailed:
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        last = f" (its last line: {lines[-1][:200]})" if lines else ""
        return ProcessFailed(f"{self._name} {how}{last}; see {self.log}")
