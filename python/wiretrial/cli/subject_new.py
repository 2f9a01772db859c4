"""A folder to begin an own subject with.

Knows the scaffold; must not know what a subject does.
"""

from __future__ import annotations

import re
import shutil
from importlib import resources
from pathlib import Path

from wiretrial.cli import output
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.subjects.spec import load

SCAFFOLD = "scaffold"
NAME = "own-server"
"""What the scaffold calls itself, until it has the folder's name."""


def new(folder: Path) -> int:
    """Writes a small server with its subject.toml, to be changed."""
    name = re.sub(r"[^a-z0-9.-]+", "-", folder.resolve().name.lower()).strip(".-") or NAME
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageProblem(f"{folder} exists already", "name another folder") from None
    except OSError as error:
        raise UsageProblem(f"{folder}: {error.strerror}", "name another folder") from error
    with resources.as_file(resources.files("wiretrial.subjects") / SCAFFOLD) as scaffold:
        for source in sorted(scaffold.iterdir()):
            if source.is_file():
                shutil.copyfile(source, folder / source.name)
    spec = folder / "subject.toml"
    spec.write_text(spec.read_text(encoding="utf-8").replace(NAME, name), encoding="utf-8")
    load(folder)
    output.emit(
        f"{folder}: now change it, then run: wiretrial subject verify {_path(folder)}", None
    )
    return EXIT_GOOD


def _path(folder: Path) -> str:
    """The folder as a command wants it: a path, not a name of the catalogue."""
    text = str(folder)
    return text if "/" in text else f"./{text}"
