"""Where results over time are read from: a folder, or a team's store in PostgreSQL.

Knows what was typed for the place; must not know what is followed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from wiretrial.cli import results_team
from wiretrial.errors import UsageProblem
from wiretrial.report.trend.briefs import SHORT
from wiretrial.results import history
from wiretrial.results.history import History, Wanted
from wiretrial.subjects import build


@dataclass(frozen=True)
class Past:
    """A place with results."""

    shown: str
    """As it may be shown."""
    read: Callable[[Wanted, datetime | None], History]
    """The results of which a scenario is wanted, since then."""
    known: Callable[[], list[str]]
    """What could be wanted there: studies, and the tools that figures were imported from."""


def named(place: str, flag: str = "--results") -> Past:
    """The place that was typed after the flag. Raises `UsageProblem` where there is none."""
    folder = Path(place)
    if "://" in place or (place == results_team.ENVIRONMENT and not folder.exists()):
        return _of_store(None if place == results_team.ENVIRONMENT else place)
    if not folder.is_dir():
        raise UsageProblem(
            f"there is no folder {folder}",
            f"measure something first, or name the folder of the results ({flag})",
        )
    return Past(
        str(folder),
        lambda wanted, since: history.read(folder, SHORT, wanted, since),
        lambda: _known(folder),
    )


def _known(folder: Path) -> list[str]:
    every = history.read(folder, SHORT).results
    return [
        name
        for result in every
        for name in (
            *(brief.study for brief in result.briefs),
            *([result.imported.source] if result.imported else []),
        )
    ]


def _of_store(url: str | None) -> Past:
    results_team.require_driver()
    from wiretrial.team import over_time

    def read(wanted: Wanted, since: datetime | None) -> History:
        with results_team.ready(url) as database:
            return over_time.read(database, build.cache(), SHORT, wanted, since)

    def known() -> list[str]:
        with results_team.ready(url) as database:
            return over_time.studies(database)

    return Past(results_team.shown(url), read, known)
