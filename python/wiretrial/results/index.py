"""A SQLite index over results: quick to ask, safe to delete, made again from the trial files.

Knows a few columns of every trial; must not be the only place of anything.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from wiretrial.errors import StoreError
from wiretrial.results.model import Trial
from wiretrial.results.store import folders, loads, read_trial

INDEX_FILE = "index.sqlite"
_LAYOUT = 1

_TABLE = """
CREATE TABLE IF NOT EXISTS trial (
    path TEXT PRIMARY KEY, modified_ns INTEGER, study TEXT, study_digest TEXT, block INTEGER,
    position INTEGER, scenario TEXT, subject TEXT, protocol TEXT, started_at TEXT, verdict TEXT,
    bottleneck TEXT, ok INTEGER, errors INTEGER
)
"""
_BRIEFS = """
CREATE TABLE IF NOT EXISTS brief (path TEXT PRIMARY KEY, modified_ns INTEGER, form TEXT, text TEXT)
"""


@dataclass(frozen=True)
class Row:
    """One trial, in short. `path` is relative to the folder that the index is in.

    A load's is the name of its file.
    """

    path: str
    study: str
    study_digest: str
    block: int
    position: int
    scenario: str
    subject: str
    protocol: str
    started_at: str
    verdict: str
    bottleneck: str
    ok: int
    errors: int


class Index:
    """The index of all results below one folder, brought up to date when it is opened."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.problems: list[str] = []
        """Trial files that can't be read, each with the reason."""
        with self._connection() as database:
            self._update(database)

    def rows(self, study: str | None = None) -> list[Row]:
        """All trials, or those of one study, oldest first."""
        columns = ", ".join(Row.__dataclass_fields__)
        where = "WHERE study = ?" if study else ""
        with self._connection() as database:
            found = database.execute(
                f"SELECT {columns} FROM trial {where} ORDER BY started_at, block, position",
                (study,) if study else (),
            )
            return [Row(*row) for row in found]

    def briefs(self, form: str) -> dict[str, str]:
        """What is kept of trials as they are now, by path: texts of this form."""
        with self._connection() as database:
            return dict(
                database.execute(
                    "SELECT brief.path, text FROM brief JOIN trial ON trial.path = brief.path"
                    " AND trial.modified_ns = brief.modified_ns WHERE form = ?",
                    (form,),
                )
            )

    def keep_briefs(self, form: str, texts: Mapping[str, str]) -> None:
        """Keeps a text of each of these trials, by path."""
        rows = [(path, form, text, path) for path, text in texts.items()]
        with self._connection() as database:
            database.executemany(
                "INSERT OR REPLACE INTO brief SELECT ?, modified_ns, ?, ? FROM trial"
                " WHERE path = ?",
                rows,
            )

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        path = self.base / INDEX_FILE
        try:
            database = _open(path)
        except sqlite3.DatabaseError:
            # Not a database, or another layout: nothing in it is worth keeping.
            path.unlink(missing_ok=True)
            try:
                database = _open(path)
            except sqlite3.Error as error:
                raise StoreError(f"can't write {path}: {error}", "check the folder") from error
        try:
            with database:
                yield database
        finally:
            database.close()

    def _update(self, database: sqlite3.Connection) -> None:
        known = dict(database.execute("SELECT path, modified_ns FROM trial"))
        seen: set[str] = set()
        of_studies = (path for folder in folders(self.base) for path in folder.paths())
        for path in (*of_studies, *loads(self.base)):
            name = str(path.relative_to(self.base))
            seen.add(name)
            modified = path.stat().st_mtime_ns
            if known.get(name) == modified:
                continue
            try:
                row = _row(name, modified, read_trial(path))
            except StoreError as error:
                self.problems.append(error.line())
                continue
            marks = ", ".join("?" * len(row))
            database.execute(f"INSERT OR REPLACE INTO trial VALUES ({marks})", row)
        gone = [(name,) for name in known if name not in seen]
        database.executemany("DELETE FROM trial WHERE path = ?", gone)
        database.execute("DELETE FROM brief WHERE path NOT IN (SELECT path FROM trial)")


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=10)
    try:
        (layout,) = database.execute("PRAGMA user_version").fetchone()
        if layout not in (0, _LAYOUT):
            raise sqlite3.DatabaseError(f"layout {layout}")
        database.execute(_TABLE)
        database.execute(_BRIEFS)
        database.execute(f"PRAGMA user_version = {_LAYOUT}")
        database.commit()
    except sqlite3.Error:
        database.close()
        raise
    return database


def _row(name: str, modified_ns: int, trial: Trial) -> tuple[str | int, ...]:
    counters = trial.summary.counters
    return (
        name,
        modified_ns,
        trial.study,
        trial.study_digest,
        trial.block,
        trial.position,
        trial.scenario.name,
        trial.scenario.subject,
        trial.scenario.protocol,
        trial.started_at,
        trial.judgement.verdict,
        trial.judgement.bottleneck,
        counters.ok,
        sum(counters.errors.values()),
    )
