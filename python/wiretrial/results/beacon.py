"""What a running study is doing right now, in a small file beside its trials.

Knows the form of the file; must not know who shows it. It is written often and never synced: it
says nothing that is not also in the trials, and whether it still holds is told by the process.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from wiretrial.results.lines import Line

FILE: Final = "running.json"
PERIOD_S = 0.5


class State(BaseModel):
    """One instant of a running study."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    process_started: float
    """When that process began, seconds since boot: a number may be another's by now."""
    scenario: str = ""
    number: int = 0
    """Of the trial in progress, from 1."""
    total: int = 0
    step: str = ""
    """What happens in it: a phase, or `install`, `verify`."""
    rate: float | None = None
    """Verified replies per second in the last interval."""
    p50_ns: float | None = None
    p99_ns: float | None = None
    left_s: float | None = None
    lines: tuple[Line, ...] = ()
    """A line per scenario, over the time of its latest trial."""


class Beacon:
    """Writes the file while the context lasts, at most every `PERIOD_S`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._written = 0.0
        self._state = State(pid=os.getpid(), process_started=_process_started(os.getpid()) or 0.0)

    def __enter__(self) -> Beacon:
        self._write()
        return self

    def __exit__(self, *ignored: object) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    @property
    def is_due(self) -> bool:
        """Whether what is shown next is written."""
        return time.monotonic() - self._written >= PERIOD_S

    def show(self, *, at_once: bool = False, **changed: object) -> None:
        """Changes what is told; fields that are not named stay."""
        self._state = self._state.model_copy(update=changed)
        if at_once or self.is_due:
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        beside = self._path.with_suffix(".part")
        # A full disk must not end a study for the sake of a picture of it.
        with contextlib.suppress(OSError):
            beside.write_text(self._state.model_dump_json(), encoding="utf-8")
            beside.replace(self._path)


def read(folder: Path) -> State | None:
    """What the study in `folder` is doing; None where none runs."""
    try:
        state = State.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    return state if _process_started(state.pid) == state.process_started else None


def _process_started(pid: int) -> float | None:
    """Seconds since boot at which the process began, from the kernel's ticks."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name of the program may hold spaces and brackets; the fields follow its last bracket.
    return int(text.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
