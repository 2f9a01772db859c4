"""Finds studies: those that come with wiretrial, and documents that a user names.

Knows folders; must not know how a study is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wiretrial import suggest
from wiretrial.browser import front
from wiretrial.catalogues import STUDIES
from wiretrial.errors import UsageProblem
from wiretrial.studies import demo, matrix
from wiretrial.studies.by_browser import ByBrowser
from wiretrial.studies.document import DOCUMENT, Document, read
from wiretrial.studies.workload import Driven, Workload


@dataclass(frozen=True)
class Found:
    """A study's document, the name under which its results are kept, and where it lies."""

    name: str
    document: Document
    folder: Path


def catalogue() -> list[Found]:
    """Every study that comes with wiretrial, by name."""
    return [Found(folder.name, _read(folder), folder) for folder in STUDIES.members()]


def find(name: str) -> Found:
    """The study called `name`, or the one in the folder or file that `name` is a path to."""
    if "/" in name or name in {".", ".."} or name.endswith(".toml"):
        path = Path(name)
        folder = path.parent if path.suffix == ".toml" else path
        return Found(folder.resolve().name, _read(path), folder)
    root = STUDIES.root()
    if root and STUDIES.is_one(root / name):
        return Found(name, _read(root / name), root / name)
    raise UsageProblem(
        f"there is no study {name!r}",
        f"write ./{name} for the folder"
        if STUDIES.is_one(Path(name))
        else suggest.remedy(
            name,
            (folder.name for folder in STUDIES.members()),
            f"see `wiretrial study list`, or name a folder such as ./{name}",
        ),
    )


def _read(path: Path) -> Document:
    """The document, with baselines that its scenarios know."""
    document = read(path)
    file = path / DOCUMENT if path.is_dir() else path
    _require_known(document.baseline, str(file), document)
    for workload in document.workload:
        where = f"{file}, workload {workload.name!r}"
        _require_known(workload.baseline, where, document, workload)
    return document


def _require_known(
    baseline: str | None, where: str, document: Document, workload: Workload | None = None
) -> None:
    if baseline is None or "{subject}" in baseline:
        return
    known = matrix.labels(document, workload)
    if baseline not in known:
        raise UsageProblem(
            f"{where}: baseline = {baseline!r} is not among what is compared",
            suggest.remedy(baseline, known, f"use one of {', '.join(known)}"),
        )


def subjects_of(name: str) -> list[str]:
    """The subjects that a study measures, in its order."""
    if name == demo.NAME:
        cases = demo.study(trials=1, seed=0).cases
        return list(dict.fromkeys(case.scenario.subject for case in cases))
    return subjects_in(find(name).document)


def subjects_in(document: Document) -> list[str]:
    """The subjects that a study of this document measures, in its order."""
    provoked = [document.provoking(one.name) for one in document.provocation]
    parts = [document, *provoked]
    workloads = [workload for part in parts for workload in part.workload]
    named = [subject for part in parts for subject in part.subjects]
    named += [subject for workload in workloads for subject in workload.subjects or ()]
    named += [workload.server for workload in workloads if isinstance(workload, Driven)]
    named += [front.SUBJECT for workload in workloads if isinstance(workload, ByBrowser)]
    return list(dict.fromkeys(subject.partition(":")[0] for subject in named))
