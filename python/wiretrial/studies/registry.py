"""Finds studies: those that come with wiretrial, and documents that a user names.

Knows folders; must not know how a study is run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from wiretrial import suggest
from wiretrial.errors import UsageProblem
from wiretrial.studies import demo
from wiretrial.studies.document import DOCUMENT, Document, read

ENVIRONMENT = "WIRETRIAL_STUDIES"


@dataclass(frozen=True)
class Found:
    """A study's document, the name under which its results are kept, and where it lies."""

    name: str
    document: Document
    folder: Path


def catalogue() -> list[Found]:
    """Every study that comes with wiretrial, by name."""
    folder = root()
    paths = sorted(folder.glob(f"*/{DOCUMENT}")) if folder else []
    return [Found(path.parent.name, read(path), path.parent) for path in paths]


def find(name: str) -> Found:
    """The study called `name`, or the one in the folder or file that `name` is a path to."""
    if "/" in name or name in {".", ".."} or name.endswith(".toml"):
        path = Path(name)
        folder = path.parent if path.suffix == ".toml" else path
        return Found(folder.resolve().name, read(path), folder)
    folder_of_all = root()
    if folder_of_all and (folder_of_all / name / DOCUMENT).is_file():
        return Found(name, read(folder_of_all / name), folder_of_all / name)
    raise UsageProblem(
        f"there is no study {name!r}",
        f"write ./{name} for the folder"
        if (Path(name) / DOCUMENT).is_file()
        else suggest.remedy(
            name,
            (found.name for found in catalogue()),
            f"see `wiretrial study list`, or name a folder such as ./{name}",
        ),
    )


def subjects_of(name: str) -> list[str]:
    """The subjects that a study measures, in its order."""
    if name == demo.NAME:
        cases = demo.study(trials=1, seed=0).cases
        return list(dict.fromkeys(case.scenario.subject for case in cases))
    document = find(name).document
    provoked = [document.provoking(one.name) for one in document.provocation]
    parts = [document, *provoked]
    workloads = [workload for part in parts for workload in part.workload]
    named = [subject for part in parts for subject in part.subjects]
    named += [subject for workload in workloads for subject in workload.subjects or ()]
    named += [workload.server for workload in workloads if workload.server]
    return list(dict.fromkeys(subject.partition(":")[0] for subject in named))


def root() -> Path | None:
    """The folder of the studies that come with wiretrial."""
    named = os.environ.get(ENVIRONMENT)
    package = Path(__file__).resolve().parent.parent
    places = [Path(named)] if named else [package / "_studies", package.parents[1] / "studies"]
    return next((place for place in places if place.is_dir()), None)
