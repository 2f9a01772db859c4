"""The program that observes, as a watch sees it: it is begun, told and heard through pipes.

Knows how one on this machine is started and how it ended; must not know what it says.
"""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from wiretrial import launch
from wiretrial.closing import Closing, last_words
from wiretrial.errors import ObserverFailed

Words = Sequence[str]


class Program(Protocol):
    """What runs the observer, on this machine or on another one."""

    def begin(self, words: Words) -> subprocess.Popen[bytes]:
        """Starts it with these words, which follow the engine's name.

        What it is told and what it says goes through the pipes of the process, which can't outlive
        us. Raises `errors.ObserverFailed`.
        """

    def why_ended(self, status: int) -> str:
        """Why it ended by itself, by its own words or else by how the process ended."""

    def close(self) -> None:
        """Leaves nothing running, whether it was begun or not."""


class Here(Closing):
    """The observer of this machine. See `Program`."""

    def __init__(self, engine: Path) -> None:
        self._engine = engine
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, words: Words) -> subprocess.Popen[bytes]:
        """Starts it."""
        command = [str(self._engine), *words]
        try:
            self._process = subprocess.Popen(
                launch.command_line(command, death_signal=signal.SIGKILL),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                # A session of its own: Ctrl-C ends the load, and us at its end.
                start_new_session=True,
            )
        except OSError as error:
            raise ObserverFailed(f"this machine can't be watched ({error})") from error
        return self._process

    def why_ended(self, status: int) -> str:
        """Its last words."""
        self._errors.seek(0)
        return own_words(self._errors.read().decode(errors="replace"), status)

    def close(self) -> None:
        """Ends it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._errors.close()


def own_words(said: str, status: int) -> str:
    """What an observer that ended by itself wrote last, or how it ended."""
    last = last_words(said)
    if last:
        return last.removeprefix("wiretrial-engine: ").removeprefix("error: ")
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"the observer ended by {how}"
