"""What is ended when it is left, and programs that end when their standard input does.

Knows pipes and what was written; must not know which program it is. Such a program tells by lines
on standard output.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
from abc import ABC, abstractmethod
from typing import Self

PANIC = " panicked at "
MOST_CHARACTERS = 300


class Closing(ABC):
    """A context manager: leaving it closes it."""

    @abstractmethod
    def close(self) -> None:
        """Lets go of all that it has taken. Nothing of it runs on."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def end_program(process: subprocess.Popen[bytes], limit_s: float) -> None:
    """Ends the program by the end of its input, and by force after `limit_s` seconds."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    if not _ends(process, limit_s):
        process.kill()
    process.wait()
    process.stdout.close()


def _ends(process: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Whether it ends in that time; at once, where `Popen.wait` would look every 50 ms."""
    if process.poll() is not None:
        return True
    descriptor = os.pidfd_open(process.pid)
    try:
        return bool(select.select([descriptor], [], [], limit_s)[0])
    finally:
        os.close(descriptor)


def last_words(text: str) -> str:
    """The last line that a program wrote; of a panic of Rust's, what it was. Empty: none.

    A panic's own words stand in the line after the place, before a trace and advice.
    """
    lines = text.strip().splitlines()
    for place, line in enumerate(lines[:-1]):
        if PANIC in line:
            return f"{line.strip()} {lines[place + 1].strip()}"[:MOST_CHARACTERS]
    return lines[-1][:MOST_CHARACTERS] if lines else ""


def told(process: subprocess.Popen[bytes], limit_s: float) -> str | None:
    """The program's next line, "" at the end of its output; None where none comes in time.

    Its pipe must have no buffer (`bufsize=0`) if more than one line can come before it is asked.
    """
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], limit_s)[0]:
        return None
    return process.stdout.readline().decode().strip()
