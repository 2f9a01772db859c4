"""Takes in results of other tools, and the trials that a study keeps.

Knows who reads which file; must not know how results are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wiretrial.cli import labels, output
from wiretrial.errors import EXIT_GOOD, UsageProblem
from wiretrial.report import units
from wiretrial.results import histories, imported, kept
from wiretrial.results.histories import About
from wiretrial.results.store import ResultsFolder

FOLDER = "imported"


@dataclass(frozen=True)
class Told:
    """What was typed of the file."""

    name: str | None
    at: str | None
    unit: str
    labels: tuple[str, ...]


def import_(source: Path, told: Told, results: Path) -> int:
    """Unpacks the trials that a study keeps, or keeps figures of another tool."""
    if source.name.endswith(kept.SUFFIX):
        if told != Told(None, None, "ns", ()):
            raise UsageProblem(
                f"{source} tells its names, times and labels itself",
                "leave --name, --at, --unit and --label out",
            )
        folder = kept.unpack(source, results).folder
        output.emit(f"{len(ResultsFolder.open(folder).paths())} trials are in {folder}", None)
        return EXIT_GOOD
    about = About(
        name=told.name,
        at=_instant(told.at) if told.at else None,
        labels=labels.wanted(told.labels, {}),
        unit=told.unit,
    )
    found = histories.read(source, about)
    folder = imported.keep(results, FOLDER, found).folder
    parts = [
        *([units.plural(len(found.series), "benchmark")] if found.series else []),
        *([_counted(found)] if found.histories else []),
    ]
    output.emit(f"{units.listed(parts)} of {imported.TOOLS[found.source]} are in {folder}", None)
    return EXIT_GOOD


def _counted(found: imported.Imported) -> str:
    values = sum(len(one.points) for one in found.histories)
    figures = units.plural(len(found.histories), "figure")
    return figures if values == len(found.histories) else f"{figures} with {values:,} values"


def _instant(text: str) -> datetime:
    found = imported.instant(text)
    if found is None:
        raise UsageProblem(
            f"--at {text!r} is no time", "write it as 2026-01-31 or 2026-01-31T12:00:00"
        )
    return found.astimezone(UTC)
