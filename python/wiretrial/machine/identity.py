"""Which process something belongs to, told apart from a later one that has the same number.

Knows /proc; must not know what belongs to a process, nor what becomes of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Identity(NamedTuple):
    """A process: its words can stand in the name of a file, or in a file."""

    pid: int
    start: str
    """When it began, in ticks since the machine did: numbers come again."""
    numbering: str
    """The namespace in which it has that number: in another, the number is another process's."""

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended. One of another numbering can't be looked for: False."""
        return self.numbering == _numbering() and self.start != _start(self.pid)


def own() -> Identity:
    """That of this process."""
    pid = os.getpid()
    return Identity(pid, _start(pid) or "", _numbering())


def read(words: Sequence[str]) -> Identity:
    """From its words. Raises ValueError where they are not those of an identity."""
    pid, start, numbering = words
    return Identity(int(pid), start, numbering)


def _start(pid: int) -> str | None:
    """None: there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    # The name of the program may hold spaces and brackets; the fields follow its last bracket.
    return stat.rpartition(")")[2].split()[19]


def _numbering() -> str:
    return str(Path("/proc/self/ns/pid").stat().st_ino)
