"""What goes to the terminal, to a file, to a pipe.

Knows streams, colour and width; must not know what is written.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Any

from wiretrial.errors import StoreError, UsageProblem
from wiretrial.results.files import write_whole

WIDEST = 120


class Format(StrEnum):
    """How a result is written."""

    TEXT = "text"
    JSON = "json"


def colour(stream: Any = sys.stdout) -> bool:
    """Whether colour is wanted there."""
    return (
        bool(stream.isatty()) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    )


def width() -> int:
    """Columns to write in."""
    return min(shutil.get_terminal_size((100, 24)).columns, WIDEST)


def require_writable(path: Path, flag: str = "-o") -> None:
    """Raises before any work is done for a file that couldn't be written after it."""
    if path.is_dir():
        raise UsageProblem(f"{flag} {path} is a folder", "name a file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise UsageProblem(
            f"{flag} {path} can't be written: {error.strerror}", "name another file"
        ) from error
    if path.exists() and not os.access(path, os.W_OK):
        raise UsageProblem(f"{flag} {path} can't be written: it is read-only", "name another file")


def as_json(document: Any) -> str:
    """A document for machines."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def emit(text: str, path: Path | None) -> None:
    """Writes a result to the file, or to standard output."""
    if path is None:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
        return
    try:
        _write(path, text.encode())
    except OSError as error:
        # What was measured must not be lost to a full disk.
        emit(text, None)
        raise StoreError(
            f"-o {path} can't be written: {error.strerror}", "the result is printed instead"
        ) from error


def write_page(page: str, path: Path, flag: str) -> None:
    """Writes a page beside the result, and says where it is."""
    try:
        _write(path, page.encode())
    except OSError as error:
        raise StoreError(
            f"{flag} {path} can't be written: {error.strerror}", "the result is not lost: see above"
        ) from error
    say(f"page: {path}")


def _write(path: Path, data: bytes) -> None:
    """Replaces a file whole or not at all; a device or a pipe takes what comes."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    write_whole(path.resolve(), data)


def say(line: str) -> None:
    """A line for people, beside the result."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
