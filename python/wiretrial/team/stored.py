"""What a store holds: its results, their files, and the rows of their trials.

Knows how to ask; must not know how an answer is shown. A result that was pushed again after it grew
is shown once, as it was at last; the earlier states stay, and can be had by their digests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from psycopg.rows import class_row

from wiretrial.errors import StoreError
from wiretrial.report.indexed import Filter, Indexed
from wiretrial.results.index import Row
from wiretrial.team.connection import Database
from wiretrial.team.manifest import Entry, Kind, Manifest, short

_DIGEST = re.compile(r"[0-9a-f]{7,64}")
_STORED = (
    "sha256, name, kind, study, trials, bytes AS size, first_day, last_day, pushed_at, pushed_by"
)


@dataclass(frozen=True)
class Stored:
    """One result in the store."""

    sha256: bytes
    name: str
    kind: Kind
    study: str | None
    trials: int
    size: int
    """Bytes of all its files."""
    first_day: date | None
    """None: it holds no trial, but imported figures."""
    last_day: date | None
    pushed_at: datetime
    pushed_by: str

    @property
    def digest(self) -> str:
        """As it is shown, and can be typed."""
        return short(self.sha256)


def results(database: Database, wanted: Filter) -> list[Stored]:
    """The results that are wanted, in the order in which they were pushed."""
    return _asked(
        database,
        f"SELECT {_STORED} FROM wiretrial.current_result"
        " WHERE (%(since)s::date IS NULL OR last_day >= %(since)s)"
        " AND (%(study)s::text IS NULL OR study = %(study)s) ORDER BY number",
        {"since": wanted.since, "study": wanted.study},
    )


def named(database: Database, word: str) -> Stored:
    """The result with this name, or with a digest that begins so.

    Raises `StoreError` where there is none, or where several are meant.
    """
    found = _asked(
        database,
        f"SELECT {_STORED} FROM wiretrial.current_result WHERE name = %(name)s ORDER BY number",
        {"name": word},
    )
    if not found and _DIGEST.fullmatch(word):
        found = _asked(
            database,
            f"SELECT {_STORED} FROM wiretrial.result"
            " WHERE starts_with(encode(sha256, 'hex'), %(digest)s) ORDER BY number",
            {"digest": word},
        )
    if not found:
        raise StoreError(
            f"the store holds no result {word}", "`wiretrial results list --from URL` shows them"
        )
    if len(found) > 1:
        digests = " or ".join(one.digest for one in found)
        raise StoreError(f"the store holds {len(found)} results {word}", f"name {digests}")
    return found[0]


def manifest(database: Database, stored: Stored) -> Manifest:
    """Its files. Raises `StoreError` where they are not those that were pushed."""
    rows = database.execute(
        "SELECT path, sha256, bytes FROM wiretrial.result_file"
        " JOIN wiretrial.file USING (sha256) WHERE result = %s",
        (stored.sha256,),
    )
    entries = sorted((Entry(*row) for row in rows), key=lambda entry: entry.path)
    found = Manifest(stored.name, stored.kind, tuple(entries))
    if found.sha256 != stored.sha256 or not found.is_sound():
        raise StoreError(
            f"{stored.name} ({stored.digest}) in the store has other files than were pushed",
            "its owner deletes it, then push it again from where it was measured",
        )
    return found


def rows(database: Database, found: Sequence[Stored]) -> list[Row]:
    """The trials of these results as `results list` has them of a folder, oldest first."""
    asked = database.execute(
        "SELECT CASE kind WHEN 'load' THEN path ELSE name || '/' || path END, trial.study,"
        " study_digest, block, position, scenario, subject, protocol, started_at, verdict,"
        " bottleneck, ok, errors FROM wiretrial.result"
        " JOIN wiretrial.result_file ON result_file.result = result.sha256"
        " JOIN wiretrial.trial ON trial.sha256 = result_file.sha256"
        ' WHERE result.sha256 = ANY(%s) ORDER BY started_at COLLATE "C", block, position',
        ([one.sha256 for one in found],),
    )
    return [Row(*row) for row in asked]


def verdicts(database: Database, found: Sequence[Stored]) -> dict[bytes, Counter[str]]:
    """How many trials of each result have which verdict."""
    counted: dict[bytes, Counter[str]] = {one.sha256: Counter() for one in found}
    asked = database.execute(
        "SELECT result, verdict, count(*) FROM wiretrial.result_file"
        " JOIN wiretrial.trial USING (sha256) WHERE result = ANY(%s) GROUP BY result, verdict",
        (list(counted),),
    )
    for result, verdict, count in asked:
        counted[result][verdict] = count
    return counted


def trials(database: Database, wanted: Filter) -> Iterator[Indexed]:
    """The index's rows of all trials that are wanted, oldest first; each trial once.

    For series over days, machines and commits: nothing of the trials' files is read.
    """
    columns = ", ".join(Indexed.__dataclass_fields__)
    with database.cursor(row_factory=class_row(Indexed)) as cursor:
        cursor.execute(
            f"SELECT {columns} FROM wiretrial.trial"
            " WHERE (%(since)s::date IS NULL OR day >= %(since)s)"
            " AND (%(study)s::text IS NULL OR study = %(study)s)"
            ' ORDER BY day, started_at COLLATE "C", block, position,'
            ' study COLLATE "C"',
            {"since": wanted.since, "study": wanted.study},
        )
        yield from cursor


def _asked(database: Database, query: str, values: dict[str, Any]) -> list[Stored]:
    with database.cursor(row_factory=class_row(Stored)) as cursor:
        return cursor.execute(query.encode(), values).fetchall()
