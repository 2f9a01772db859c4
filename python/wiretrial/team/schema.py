"""The store's schema, its versions, and how one is brought to the next.

Knows the numbered files in `migrations`; must not know what the tables are for. All that is missing
is applied in one transaction under a lock, so that two who migrate at once do it once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from psycopg import errors

import wiretrial
from wiretrial.errors import StoreError
from wiretrial.team.address import Address
from wiretrial.team.connection import Database

_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
_LOCK = 0x7769_7265_7472_6961
"""The number of the advisory lock: `wiretria`."""
_APPLIED = """
CREATE SCHEMA IF NOT EXISTS wiretrial;
CREATE TABLE IF NOT EXISTS wiretrial.migration (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    applied_by name NOT NULL DEFAULT session_user,
    program text NOT NULL
);
"""


@dataclass(frozen=True)
class Step:
    """What makes one version of the one before it."""

    version: int
    name: str
    sql: str


def steps() -> tuple[Step, ...]:
    """All that this wiretrial knows, oldest first."""
    folder = resources.files("wiretrial.team") / "migrations"
    found = [
        Step(int(named[1]), named[2], file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if (named := _NAME.fullmatch(file.name))
    ]
    return tuple(sorted(found, key=lambda step: step.version))


def version(database: Database) -> int:
    """The version of the store's schema; 0: there is none."""
    exists = database.execute("SELECT to_regclass('wiretrial.migration') IS NOT NULL").fetchone()
    if exists != (True,):
        return 0
    row = database.execute("SELECT coalesce(max(version), 0) FROM wiretrial.migration").fetchone()
    return int(row[0]) if row else 0


def require(database: Database, address: Address) -> None:
    """Raises `StoreError` where the schema is not the one that this wiretrial knows."""
    found, known = version(database), steps()[-1].version
    _refuse_newer(found, known, address)
    if found == known:
        return
    raise StoreError(
        f"{address.shown} has a store of version {found}, this wiretrial needs {known}"
        if found
        else f"{address.shown} holds no store of wiretrial yet",
        "its owner runs `wiretrial results push URL --migrate`",
    )


def migrate(
    database: Database, address: Address, known: Sequence[Step] | None = None
) -> tuple[Step, ...]:
    """Applies what is missing, and returns it. `known`: the steps, if not those of this wiretrial.

    Raises `StoreError` where the store is newer, or where the role may not.
    """
    wanted = steps() if known is None else tuple(known)
    try:
        with database.transaction():
            return _apply(database, address, wanted)
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"{address.shown} can't be migrated by this role: {error.diag.message_primary}",
            "do it as the owner of the database, with CREATEROLE or after an administrator has made"
            " the roles wiretrial_reader and wiretrial_writer",
        ) from error


def _apply(database: Database, address: Address, wanted: Sequence[Step]) -> tuple[Step, ...]:
    database.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    found = version(database)
    _refuse_newer(found, wanted[-1].version, address)
    missing = tuple(step for step in wanted if step.version > found)
    if missing and not found:
        database.execute(_APPLIED)
    for step in missing:
        database.execute(step.sql.encode())
        database.execute(
            "INSERT INTO wiretrial.migration (version, name, program) VALUES (%s, %s, %s)",
            (step.version, step.name, wiretrial.__version__),
        )
    return missing


def _refuse_newer(found: int, known: int, address: Address) -> None:
    if found > known:
        raise StoreError(
            f"{address.shown} has a store of version {found}, this wiretrial knows {known}",
            "use a newer wiretrial",
        )
