"""Makes subjects runnable, one after the other.

Knows what is shown meanwhile; must not know how a subject is built. What can't be had here is
said with its reason, and stops nothing else.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.status import Status

from wiretrial.cli import output
from wiretrial.cli.output import Format
from wiretrial.cli.subject_names import Wanted
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_FAILED, EXIT_GOOD, SubjectUnavailable, UsageProblem
from wiretrial.subjects import build
from wiretrial.subjects.build import Build
from wiretrial.subjects.spec import Subject


def install(wanted: Wanted, prefix: list[str] | None, format_: Format) -> int:
    """Installs and builds; those that can't be installed are shown with the reason."""
    use_prefix(prefix)
    engine = Engine.find()
    subjects = wanted.subjects()
    rows: list[dict[str, Any]] = []
    for number, subject in enumerate(subjects, 1):
        rows.append(_install(subject, f"{number}/{len(subjects)}", engine, format_))
    if format_ is Format.JSON:
        document = {"schema": "wiretrial-installation", "version": 1, "subjects": rows}
        output.emit(output.as_json(document), None)
    return EXIT_FAILED if any(row["reason"] for row in rows) else EXIT_GOOD


def use_prefix(folders: list[str] | None) -> None:
    """Lets every build of this command look there first."""
    for folder in folders or ():
        if not Path(folder).is_dir():
            raise UsageProblem(f"--prefix {folder}: there is no such folder", "correct it")
    if folders:
        # Builds run in folders of their own.
        folders = [str(Path(folder).resolve()) for folder in folders]
        before = os.environ.get(build.PREFIX)
        os.environ[build.PREFIX] = ":".join([*folders, *([before] if before else [])])


def make(subject: Subject, place: str, engine: Engine) -> Build:
    """The subject's build; while it is made, a line says what runs."""
    label = f"{place}  {subject.spec.name}"
    if not sys.stderr.isatty():
        return build.install(subject, engine.binary)
    console = Console(stderr=True, highlight=False)
    with console.status(label, spinner="line") as status:
        return build.install(subject, engine.binary, lambda command: _show(status, label, command))


def _install(subject: Subject, place: str, engine: Engine, format_: Format) -> dict[str, Any]:
    begun = time.monotonic()
    row: dict[str, Any] = {"name": subject.spec.name, "installed": None, "reason": None}
    try:
        built = make(subject, place, engine)
    except SubjectUnavailable as error:
        row["reason"] = error.line()
        output.say(error.line())
        return row
    row |= {"installed": built.version, "folder": str(built.folder)}
    if format_ is Format.TEXT:
        took = time.monotonic() - begun
        output.emit(f"{place}  {subject.spec.name} {built.version}   {took:.1f} s", None)
    return row


def _show(status: Status, label: str, command: str) -> None:
    room = output.width() - len(label) - 8
    words = command if len(command) <= room else f"{command[: max(room - 1, 0)]}…"
    # What a command says may hold brackets, which rich would take for markup.
    status.update(f"{label}: {words}".replace("[", "\\["))
