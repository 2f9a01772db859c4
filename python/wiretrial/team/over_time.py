"""What a store holds over time: its results with their trials made brief, as a folder gives them.

Knows the tables, and where briefs are kept; must not know what is compared. A trial's file is
brought only once: its brief is kept under the digest of the file, in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from wiretrial.errors import StoreError
from wiretrial.results import history, imported
from wiretrial.results.brief import Brief
from wiretrial.results.history import History, Result, Shortening, Wanted
from wiretrial.results.store import read_trial
from wiretrial.team import pulling
from wiretrial.team.connection import Database
from wiretrial.team.manifest import Entry, short

CACHE = "briefs.sqlite"
_TABLE = "CREATE TABLE IF NOT EXISTS brief (sha256 BLOB PRIMARY KEY, form TEXT, text TEXT)"
_TRIALS = """
SELECT result.sha256, path, trial.sha256, file.bytes, trial.study, scenario, started_at
FROM wiretrial.current_result AS result
JOIN wiretrial.result_file ON result_file.result = result.sha256
JOIN wiretrial.trial ON trial.sha256 = result_file.sha256
JOIN wiretrial.file ON file.sha256 = trial.sha256
ORDER BY result.number, path
"""
_IMPORTED = """
SELECT result.sha256, path, file.sha256, file.bytes
FROM wiretrial.current_result AS result
JOIN wiretrial.result_file ON result_file.result = result.sha256
JOIN wiretrial.file ON file.sha256 = result_file.sha256
WHERE path = %s ORDER BY result.number
"""


@dataclass(frozen=True)
class _Kept:
    """Briefs by the digest of their trial's file; none where there is no place for them."""

    database: sqlite3.Connection | None
    form: str

    def get(self, sha256: bytes) -> Brief | None:
        """The brief of this form."""
        if self.database is None:
            return None
        row = self.database.execute(
            "SELECT text FROM brief WHERE sha256 = ? AND form = ?", (sha256, self.form)
        ).fetchone()
        return history.kept(row[0]) if row else None

    def keep(self, sha256: bytes, brief: Brief) -> None:
        """Keeps it, in place of one of another form."""
        if self.database is not None:
            text = brief.model_dump_json(exclude_defaults=True)
            with contextlib.suppress(sqlite3.Error):
                self.database.execute(
                    "INSERT OR REPLACE INTO brief VALUES (?, ?, ?)", (sha256, self.form, text)
                )


def read(
    database: Database,
    cache: Path,
    short_: Shortening,
    wanted: Wanted = history.everything,
    since: datetime | None = None,
) -> History:
    """What the store holds, measured at `since` or later; a trial that stands in two results
    counts in the one that was pushed first.

    `cache`: the folder in which briefs are kept.
    """
    names, problems = _names(database), list[str]()
    briefs: dict[bytes, list[Brief]] = {}
    seen: set[bytes] = set()
    with _kept(cache, short_.form) as kept, TemporaryDirectory(prefix="wiretrial-") as folder:
        for result, path, sha256, size, study, scenario, at in database.execute(_TRIALS):
            if sha256 in seen or not wanted(study, scenario) or history.is_before(at, since):
                continue
            seen.add(sha256)
            brief = kept.get(sha256)
            if brief is None:
                try:
                    file = _brought(database, Entry(path, sha256, size), Path(folder))
                    brief = short_.of(read_trial(file))
                except StoreError:
                    problems.append(_unreadable(names[result], path))
                    continue
                kept.keep(sha256, brief)
            briefs.setdefault(result, []).append(brief)
        results = [Result(names[result], tuple(own)) for result, own in briefs.items()]
        for result, path, sha256, size in database.execute(_IMPORTED, (imported.FILE,)):
            try:
                file = _brought(database, Entry(path, sha256, size), Path(folder))
                found = imported.load(file.parent)
            except StoreError:
                problems.append(_unreadable(names[result], path))
                continue
            if found and any(wanted(found.source, name) for name in found.names):
                results.append(Result(names[result], imported=found))
    return History(tuple(results), tuple(problems))


def studies(database: Database) -> list[str]:
    """The names of all studies of which there is a trial."""
    return [row[0] for row in database.execute("SELECT DISTINCT study FROM wiretrial.trial")]


def _names(database: Database) -> dict[bytes, str]:
    """The name of each result; where others have it, too, with its digest."""
    rows = database.execute("SELECT sha256, name FROM wiretrial.current_result").fetchall()
    every = [name for _, name in rows]
    return {
        sha256: name if every.count(name) == 1 else f"{name} ({short(sha256)})"
        for sha256, name in rows
    }


def _brought(database: Database, entry: Entry, folder: Path) -> Path:
    """The file, until the next one is brought. Raises `StoreError` where it is damaged."""
    data = b"".join(pulling.pieces(database, entry))
    if hashlib.sha256(data).digest() != entry.sha256:
        raise StoreError(f"{entry.path} in the store is damaged", "push it again")
    path = folder / Path(entry.path).name
    path.write_bytes(data)
    return path


def _unreadable(result: str, path: str) -> str:
    return f"{path} of {result} in the store can't be read: it is damaged, or of another version"


@contextlib.contextmanager
def _kept(folder: Path, form: str) -> Iterator[_Kept]:
    """The briefs in that folder. It may not be writable, or hold something else of that name."""
    path = folder / CACHE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # What a team measured is for this user alone.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        database = sqlite3.connect(path, isolation_level=None)
    except (OSError, sqlite3.Error):
        yield _Kept(None, form)
        return
    try:
        yield _Kept(database if _is_ready(database) else None, form)
    finally:
        with contextlib.suppress(sqlite3.Error):
            database.execute("COMMIT")
        database.close()


def _is_ready(database: sqlite3.Connection) -> bool:
    try:
        database.execute(_TABLE)
        database.execute("SELECT sha256, form, text FROM brief LIMIT 1")
        database.execute("BEGIN")
    except sqlite3.Error:
        return False
    return True
