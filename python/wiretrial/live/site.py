"""What the site shows at this moment, from the folder of results.

Knows results and reports; must not know HTTP. A page that was made is kept as long as what it shows
is the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wiretrial.errors import StoreError
from wiretrial.live import pages
from wiretrial.live.pages import Listed
from wiretrial.results import absent, adoption, answers, beacon, history, imported, starts
from wiretrial.results.files import STUDY_FILE
from wiretrial.results.index import Index, Row
from wiretrial.results.store import ResultsFolder, folders, loads
from wiretrial.studies import spec

if TYPE_CHECKING:
    from wiretrial.report.trend.found import Judged

MakeReport = Callable[[ResultsFolder], str]
"""The report's page of what is stored in a folder."""
MakeLoad = Callable[[Path], str]
"""The page of a load's file."""


BESIDE = (STUDY_FILE, absent.FILE, adoption.FILE, starts.FILE)
"""What a report is made from beside the trials. It is written when the last trial is over."""


@dataclass(frozen=True)
class Mark:
    """What a result is like at this moment, as far as its report tells."""

    trials: int
    is_running: bool
    beside: tuple[int, ...]
    """When each of the files beside the trials was written; 0: it is not there."""


class Site:
    """The folder of results, as pages."""

    def __init__(self, base: Path, make_report: MakeReport, make_load: MakeLoad) -> None:
        self.base = base
        self._make_report = make_report
        self._make_load = make_load
        self._made: dict[str, tuple[Mark, str]] = {}
        self._followed: dict[str, tuple[object, tuple[Judged, ...], tuple[str, ...]]] = {}
        self._lock = threading.Lock()

    def index(self, wanted: str = "") -> str:
        """The list of all results, or of those that have each word of `wanted`."""
        return pages.index(self.listed(), str(self.base), wanted)

    def beside(self, names: Sequence[str]) -> str | None:
        """Results beside each other; None where one of them is not there."""
        known = [name for name in names if self._folder(name) or self._load(name)]
        return pages.beside(known) if len(known) == len(names) else None

    def trends(self, wanted: str, metric: str) -> str | None:
        """Results over time that have each word of `wanted`; None: no such figure is followed."""
        # What draws pictures is imported where pictures are wanted.
        from wiretrial.live import trends
        from wiretrial.report.trend import found, points
        from wiretrial.report.trend.briefs import SHORT

        if metric and metric not in points.FIGURES:
            return None
        mark = history.mark(self.base)
        with self._lock:
            known = self._followed.get(metric)
            if known is None or known[0] != mark:
                read = history.read(self.base, SHORT)
                lines = points.lines(read.results, points.Asked(metric=metric or None))
                judged = tuple(found.judge(line) for line in lines)
                known = (mark, judged, read.problems)
                self._followed[metric] = known
        return trends.trends(known[1], known[2], wanted, metric)

    def listed(self) -> list[Listed]:
        """Every result in short."""
        rows: dict[str, list[str]] = {}
        began: dict[str, str] = {}
        subjects: dict[str, dict[str, None]] = {}
        of_loads: list[Listed] = []
        for row in Index(self.base).rows():
            name = Path(row.path).parts[0]
            if name == row.path:
                of_loads.append(_listed_load(row))
                continue
            rows.setdefault(name, []).append(row.verdict)
            began.setdefault(name, row.started_at)
            subjects.setdefault(name, {})[row.subject] = None
        of_studies = [
            Listed(
                name=folder.folder.name,
                title=_title(folder),
                began=began.get(folder.folder.name, ""),
                trials=len(rows.get(folder.folder.name, [])),
                marked=sum(v != "valid" for v in rows.get(folder.folder.name, [])),
                answer=pages.IMPORTED if imported.load(folder.folder) else answers.of(folder),
                running=beacon.read(folder.folder),
                subjects=tuple(subjects.get(folder.folder.name, ())),
            )
            for folder in folders(self.base)
        ]
        return [*of_studies, *of_loads]

    def result(self, name: str) -> str | None:
        """One result: its report, below what it does now if it runs. None: there is none."""
        folder = self._folder(name)
        if folder is None:
            return self.report(name)
        state = beacon.read(folder.folder)
        if state is None:
            return self.report(name) or pages.index([], str(folder.folder))
        return pages.running(name, _title(folder), state, self.report(name))

    def report(self, name: str) -> str | None:
        """The report of what is stored so far; None where nothing is."""
        folder = self._folder(name)
        load = None if folder else self._load(name)
        if load is None and (folder is None or not folder.paths()):
            return None
        mark = self.mark(name)
        with self._lock:
            known = self._made.get(name)
            if known is None or known[0] != mark:
                page = self._make_load(load) if load else None
                known = (mark, page or self._make_report(ResultsFolder(self.base / name)))
                self._made[name] = known
        return known[1]

    def state(self, name: str) -> beacon.State | None:
        """What the study is doing; None where it does not run."""
        folder = self._folder(name)
        return beacon.read(folder.folder) if folder else None

    def mark(self, name: str) -> Mark:
        """Changes whenever the report does."""
        folder = self._folder(name)
        if folder is None:
            load = self._load(name)
            return Mark(1, False, (_written_ns(load),)) if load else Mark(0, False, ())
        return Mark(
            trials=len(folder.paths()),
            is_running=beacon.read(folder.folder) is not None,
            beside=tuple(_written_ns(folder.folder / file) for file in BESIDE),
        )

    def _folder(self, name: str) -> ResultsFolder | None:
        """The result of that name. A name that is a path is none."""
        if not name or Path(name).name != name:
            return None
        try:
            return ResultsFolder.open(self.base / name)
        except StoreError:
            return None

    def _load(self, name: str) -> Path | None:
        """The load's file of that name. A name that is a path is none."""
        if not name or Path(name).name != name:
            return None
        return next((path for path in loads(self.base) if path.name == name), None)


def _listed_load(row: Row) -> Listed:
    errors = f", {row.errors:,} errors" if row.errors else ""
    return Listed(
        name=row.path,
        title=row.scenario,
        began=row.started_at,
        trials=1,
        marked=int(row.verdict != "valid"),
        answer=f"One run, {row.verdict}: {row.ok:,} verified replies{errors}.",
        running=None,
    )


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _title(folder: ResultsFolder) -> str:
    try:
        return spec.parse(folder.document()).title
    except StoreError:
        return folder.folder.name
