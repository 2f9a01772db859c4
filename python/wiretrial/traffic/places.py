"""Where in a file something stands, and the error that names the place.

Knows files, lines and columns, counted from one; must not know what the files mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from wiretrial.errors import UsageProblem


@dataclass(frozen=True)
class Place:
    """A character of a file."""

    file: Path
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def along(self, text: str) -> Place:
        """The place behind `text`, which stands here."""
        newlines = text.count("\n")
        if not newlines:
            return replace(self, column=self.column + len(text))
        return replace(self, line=self.line + newlines, column=len(text) - text.rindex("\n"))


class TrafficProblem(UsageProblem):
    """Something in a traffic file that can't be read or makes no sense."""

    def __init__(self, place: Place, message: str, remedy: str) -> None:
        super().__init__(f"{place}: {message}", remedy)
        self.place = place


@contextmanager
def standing_at(place: Place) -> Iterator[None]:
    """Gives the place to what is wrong with a quantity that stands there."""
    try:
        yield
    except TrafficProblem:
        raise
    except UsageProblem as error:
        raise TrafficProblem(place, error.message, error.remedy) from error


def read(path: Path, remedy: str) -> str:
    """A text file; `remedy` says what to do where it can't be opened."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageProblem(f"{path}: {error.strerror}", remedy) from error
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", "replace")
        raise TrafficProblem(
            Place(path).along(before), "not UTF-8 text", "save the file as UTF-8"
        ) from error
