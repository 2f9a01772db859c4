"""Finds subjects: the catalogue that comes with wiretrial, and folders that a user names.

Knows folders; must not know how a subject is installed or run.
"""

from __future__ import annotations

import os
from pathlib import Path

from wiretrial import suggest
from wiretrial.errors import UsageProblem
from wiretrial.subjects.spec import SPEC_FILE, Subject, load

ENVIRONMENT = "WIRETRIAL_SUBJECTS"


def catalogue() -> list[Subject]:
    """Every subject of the catalogue, by name."""
    return [load(path.parent) for path in sorted(root().glob(f"*/{SPEC_FILE}"))]


def find(name: str) -> Subject:
    """The subject called `name`, or the one in the folder that `name` is a path to."""
    if "/" in name or name in {".", ".."}:
        return load(Path(name))
    folder = root() / name
    if (folder / SPEC_FILE).is_file():
        return load(folder)
    raise UsageProblem(
        f"there is no subject {name!r}",
        f"write ./{name} for the folder"
        if (Path(name) / SPEC_FILE).is_file()
        else suggest.remedy(
            name,
            (subject.spec.name for subject in catalogue()),
            f"see `wiretrial subject list`, or name a folder such as ./{name}",
        ),
    )


def root() -> Path:
    """The catalogue's folder."""
    named = os.environ.get(ENVIRONMENT)
    package = Path(__file__).resolve().parent.parent
    places = [Path(named)] if named else [package / "_subjects", package.parents[1] / "subjects"]
    for place in places:
        if place.is_dir():
            return place
    raise UsageProblem(
        f"no catalogue of subjects at {' or '.join(str(place) for place in places)}",
        f"reinstall wiretrial, or set {ENVIRONMENT} to the folder",
    )
