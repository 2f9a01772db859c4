"""Puts a result into the store: in one transaction, each file once, in pieces.

Knows how files lie in the tables; must not know which results are wanted. Files are sent in the
order of their digests, so that two who send the same ones wait for each other and never both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from psycopg.sql import SQL, Identifier, Placeholder
from psycopg.types.json import Jsonb

from wiretrial.errors import StoreError
from wiretrial.redaction import KEEP
from wiretrial.report import indexed
from wiretrial.results.store import read_trial
from wiretrial.team.connection import Database
from wiretrial.team.manifest import Entry, Local

PIECE_BYTES = 1 << 20
"""What is in memory of a file at a time, here and in the server."""
# A client that stands still gives the others way, and a wait for another push has an end.
_LIMITS = """
SET LOCAL idle_in_transaction_session_timeout = '1min';
SET LOCAL lock_timeout = '10min';
"""
_TRIAL = SQL("INSERT INTO wiretrial.trial ({}) VALUES ({})").format(
    SQL(", ").join(map(Identifier, ("sha256", *(one.name for one in fields(indexed.Indexed))))),
    SQL(", ").join(map(Placeholder, ("sha256", *(one.name for one in fields(indexed.Indexed))))),
)
_RESULT = """
INSERT INTO wiretrial.result (sha256, name, kind, study, trials, bytes, first_day, last_day)
SELECT %(sha256)s, %(name)s, %(kind)s, %(study)s, %(trials)s, %(bytes)s, min(day), max(day)
FROM wiretrial.trial WHERE sha256 = ANY(%(files)s)
ON CONFLICT DO NOTHING RETURNING number
"""


@dataclass(frozen=True)
class Pushed:
    """What came of one result."""

    is_new: bool
    """Whether it was not in the store before."""
    sent: int = 0
    """Files that were not there."""
    sent_bytes: int = 0


def push(database: Database, local: Local, *, with_secrets: bool) -> Pushed:
    """Stores the result whole, or not at all; nothing is sent that is there already.

    Raises `StoreError` for a result that can't be read, changed meanwhile, or keeps secrets.
    """
    if local.keeps_secrets and not with_secrets:
        raise StoreError(
            f"{local.path} was measured with {KEEP}: everybody who may read the store would read"
            " them",
            f"give {KEEP} here too if that is meant",
        )
    manifest = local.manifest
    if _is_stored(database, manifest.sha256):
        return Pushed(is_new=False)
    sent: list[Entry] = []
    with database.transaction():
        database.execute(_LIMITS)
        for entry in sorted(manifest.entries, key=lambda one: one.sha256):
            if _send(database, local, entry):
                sent.append(entry)
        is_new = _list(database, local)
    return Pushed(is_new, len(sent), sum(entry.size for entry in sent))


def _is_stored(database: Database, sha256: bytes) -> bool:
    asked = "SELECT FROM wiretrial.result WHERE sha256 = %s"
    return database.execute(asked, (sha256,)).fetchone() is not None


def _send(database: Database, local: Local, entry: Entry) -> bool:
    """Stores one file and its row of the index; False where it was there.

    If another push is sending the same file, this waits for its end.
    """
    added = database.execute(
        "INSERT INTO wiretrial.file (sha256, bytes) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (entry.sha256, entry.size),
    )
    if not added.rowcount:
        return False
    path = local.file(entry)
    sent = hashlib.sha256()
    with (
        database.cursor() as cursor,
        cursor.copy(
            "COPY wiretrial.piece (sha256, number, data) FROM STDIN (FORMAT BINARY)"
        ) as copy,
    ):
        copy.set_types(("bytea", "int4", "bytea"))
        for number, data in enumerate(_pieces(path)):
            sent.update(data)
            copy.write_row((entry.sha256, number, data))
    if sent.digest() != entry.sha256:
        raise StoreError(f"{path} changed while it was sent", "push it again")
    if local.manifest.is_trial(entry):
        database.execute(_TRIAL, _row(path, entry))
    return True


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while data := file.read(PIECE_BYTES):
                yield data
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", "push it again") from error


def _row(path: Path, entry: Entry) -> dict[str, Any]:
    values = asdict(indexed.row(read_trial(path)))
    documents = {name: Jsonb(values[name]) for name in ("versions", "figures", "bounds")}
    return {**values, **documents, "sha256": entry.sha256}


def _list(database: Database, local: Local) -> bool:
    """Stores which files the result has; False where another push did at the same time."""
    manifest = local.manifest
    trials = [entry for entry in manifest.entries if manifest.is_trial(entry)]
    added = database.execute(
        _RESULT,
        {
            "sha256": manifest.sha256,
            "name": manifest.name,
            "kind": manifest.kind,
            "study": local.study,
            "trials": len(trials),
            "bytes": manifest.size,
            "files": [entry.sha256 for entry in trials],
        },
    )
    if added.fetchone() is None:
        return False
    with database.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO wiretrial.result_file (result, path, sha256, is_trial)"
            " VALUES (%s, %s, %s, %s)",
            [
                (manifest.sha256, entry.path, entry.sha256, manifest.is_trial(entry))
                for entry in manifest.entries
            ],
        )
    return True
