"""A connection to a store, and what its errors mean to the person at the terminal.

Knows libpq's settings and SQLSTATEs; must not know what is stored.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection, errors

from wiretrial.errors import StoreError
from wiretrial.team.address import Address

Database = Connection[tuple[Any, ...]]

CONNECT_LIMIT_S = 10
# A server whose machine is gone is noticed within about a minute, not after hours.
_KEEPALIVE = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
AGAIN = "run the command again: what is stored already is not sent again"
_GRANT = (
    "ask the store's owner to grant wiretrial_reader (to list and pull) or wiretrial_writer (to"
    " push)"
)
_REMEDIES = (
    ("password", "give the right one in PGPASSWORD, ~/.pgpass or a service file"),
    ("does not exist", "check the names of the role and of the database"),
    ("pg_hba.conf", "the server's pg_hba.conf has to admit this host, role and database"),
    ("SSL", "check sslmode and the certificates"),
    ("too many", "try again later"),
)
_LIBPQ_FAILED = "consuming input failed: "
"""Before the reason, and says no more than that there is one."""
_NOT_THERE = "check that the server runs and that the address is right"


@contextmanager
def connected(address: Address) -> Iterator[Database]:
    """A connection; each statement outside a `transaction()` is one of its own.

    Raises `StoreError` for whatever PostgreSQL refuses within it.
    """
    # Its warnings about a connection that broke would stand beside our one line.
    logging.getLogger("psycopg").addHandler(logging.NullHandler())
    try:
        connection = psycopg.connect(address.conninfo, autocommit=True, **_settings(address))
    except psycopg.Error as error:
        why = _words(error).removeprefix("connection failed: ")
        remedy = next((told for mark, told in _REMEDIES if mark in why), _NOT_THERE)
        raise StoreError(f"can't connect to {address.shown}: {why}", remedy) from error
    # A pooler may give each transaction another session.
    connection.prepare_threshold = None
    try:
        with _told(address):
            yield connection
    finally:
        connection.close()


def _settings(address: Address) -> dict[str, Any]:
    """What libpq is told unless the address or the environment says it."""
    wanted: dict[str, Any] = {"fallback_application_name": "wiretrial", **_KEEPALIVE}
    if "PGCONNECT_TIMEOUT" not in os.environ:
        wanted["connect_timeout"] = CONNECT_LIMIT_S
    known = address.settings
    return {name: value for name, value in wanted.items() if name not in known}


@contextmanager
def _told(address: Address) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise StoreError(f"{address.shown}: {_words(error)}", _remedy(error)) from error


def _remedy(error: psycopg.Error) -> str:
    match error:
        case errors.InsufficientPrivilege():
            return _GRANT
        case errors.ReadOnlySqlTransaction():
            return "name the primary server: a standby takes nothing in"
        case errors.DiskFull():
            return "the server needs more room"
        case errors.UndefinedTable() | errors.UndefinedColumn():
            return "its schema was changed by hand: restore it from a backup"
        case _:
            return AGAIN


def _words(error: psycopg.Error) -> str:
    """The first line of what PostgreSQL or libpq said; hints follow it."""
    said = error.diag.message_primary or str(error).strip() or type(error).__name__
    return said.splitlines()[0].removeprefix(_LIBPQ_FAILED).strip().rstrip(".")
