"""Makes traffic files of what people already have.

Knows the command's steps; must not know the formats.
"""

from __future__ import annotations

import sys
from pathlib import Path

from wiretrial.cli import output
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.traffic import places, telling
from wiretrial.traffic.compiler import compile_file
from wiretrial.traffic.importing import draft, formats


def from_(kind: str, path: Path, folder: Path, base: str | None) -> int:
    """Writes the files, and reads them once as `check` does."""
    name = "standard input" if str(path) == "-" else str(path)
    made = formats.draft(kind, _source(path), Path(name), base)
    files = draft.save(made, folder, name)
    scenario = compile_file(files[0], {})
    for note in made.notes:
        output.say(note)
    for file in files:
        output.emit(str(file), None)
    output.say(f"{telling.counts(scenario.traffic)}; next: wiretrial traffic check {files[0]}")
    return EXIT_GOOD


def _source(path: Path) -> str:
    if str(path) != "-":
        return places.read(path, "name a file that is there")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageProblem("standard input is not UTF-8 text", "convert it") from error
