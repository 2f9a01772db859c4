"""Finds subjects: the catalogue that comes with wiretrial, and folders that a user names.

Knows folders; must not know how a subject is installed or run.
"""

from __future__ import annotations

from pathlib import Path

from wiretrial import suggest
from wiretrial.catalogues import SUBJECTS
from wiretrial.errors import UsageProblem
from wiretrial.subjects import own
from wiretrial.subjects.spec import Subject, load


def catalogue() -> list[Subject]:
    """Every subject of the catalogue, by name."""
    root()  # Raises where there is none.
    return [load(folder) for folder in SUBJECTS.members()]


def find(name: str) -> Subject:
    """The subject called `name`, or the one in the folder that `name` is a path to."""
    if "/" in name or name in {".", ".."}:
        return load(Path(name))
    folder = root() / name
    if SUBJECTS.is_one(folder):
        return load(folder)
    raise UsageProblem(
        f"there is no subject {name!r}",
        f"write ./{name} for the folder"
        if SUBJECTS.is_one(Path(name)) or own.is_one(Path(name))
        else suggest.remedy(
            name,
            (folder.name for folder in SUBJECTS.members()),
            f"see `wiretrial subject list`, or name a folder such as ./{name}",
        ),
    )


def root() -> Path:
    """The catalogue's folder."""
    if found := SUBJECTS.root():
        return found
    raise UsageProblem(
        f"no catalogue of subjects at {' or '.join(map(str, SUBJECTS.places()))}",
        f"reinstall wiretrial, or set {SUBJECTS.variable} to the folder",
    )
