"""All results of a folder, as far as they are wanted: what trends are made of.

Knows studies, loads and imported figures; must not know what is compared over time, or how a trial
is made brief.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from wiretrial.errors import StoreError
from wiretrial.results import imported
from wiretrial.results.brief import Brief
from wiretrial.results.imported import Imported
from wiretrial.results.index import Index
from wiretrial.results.model import Trial
from wiretrial.results.store import folders, read_trial

Wanted = Callable[[str, str], bool]
"""Whether a scenario is wanted: its study's name and its own."""


@dataclass(frozen=True)
class Shortening:
    """How a trial is made brief. `form`: another one where that is done in another way."""

    form: str
    of: Callable[[Trial], Brief]


@dataclass(frozen=True)
class Result:
    """One folder of results, or a load's file: what was measured, or what was imported."""

    name: str
    briefs: tuple[Brief, ...] = ()
    imported: Imported | None = None


@dataclass(frozen=True)
class History:
    """The results, and a line for each file that can't be read."""

    results: tuple[Result, ...]
    problems: tuple[str, ...]


def everything(_study: str, _scenario: str) -> bool:
    """All scenarios are wanted."""
    return True


def read(
    base: Path, short: Shortening, wanted: Wanted = everything, since: datetime | None = None
) -> History:
    """What is below `base`, measured at `since` or later. A trial is read whole only once."""
    index = Index(base)
    known, made = index.briefs(short.form), dict[str, str]()
    briefs: dict[str, list[Brief]] = {}
    problems = list(index.problems)
    for row in index.rows():
        if not wanted(row.study, row.scenario) or is_before(row.started_at, since):
            continue
        brief = kept(known.get(row.path, ""))
        if brief is None:
            try:
                brief = short.of(read_trial(base / row.path))
            except StoreError as error:
                problems.append(error.line())
                continue
            made[row.path] = brief.model_dump_json(exclude_defaults=True)
        briefs.setdefault(Path(row.path).parts[0], []).append(brief)
    index.keep_briefs(short.form, made)
    results = [Result(name, tuple(own)) for name, own in briefs.items()]
    for folder in folders(base):
        try:
            found = imported.load(folder.folder)
        except StoreError as error:
            problems.append(error.line())
            continue
        if found and any(wanted(found.source, name) for name in found.names):
            results.append(Result(folder.folder.name, imported=found))
    return History(tuple(results), tuple(problems))


def mark(base: Path) -> tuple[tuple[str, str], ...]:
    """Changes whenever there is another result: the name and the time of each."""
    rows = [(row.path, row.started_at) for row in Index(base).rows()]
    return (*rows, *((folder.folder.name, "") for folder in folders(base)))


def kept(text: str) -> Brief | None:
    """A brief that was kept as text; None where it is of another form."""
    try:
        return Brief.model_validate_json(text)
    except ValidationError:
        return None


def is_before(text: str, since: datetime | None) -> bool:
    """Whether a trial that started at `text` is older than what is wanted."""
    if since is None:
        return False
    at = imported.instant(text)
    return at is not None and at < since
