"""The tables of the contract `web`, asked by psycopg: for frameworks of threads."""

from __future__ import annotations

import os

from contract import pool_size
from psycopg_pool import ConnectionPool

ONE = "SELECT id, number FROM world WHERE id = %s"
CHANGE = "UPDATE world SET number = %s WHERE id = %s"
LOGIN = (
    "SELECT id FROM account WHERE name = %s"
    " AND digest = encode(sha256(convert_to(%s, 'UTF8')), 'hex')"
)


class Store:
    """A pool of connections. Its methods are the contract's, row by row."""

    def __init__(self) -> None:
        size = pool_size()
        # Prepared from the first time on: the default is the fifth.
        more = {"autocommit": True, "prepare_threshold": 0}
        self._pool = ConnectionPool(
            os.environ["DATABASE_URL"], min_size=size, max_size=size, kwargs=more, open=True
        )
        self._cached: dict[int, int] = {}

    def row(self, row: int) -> tuple[int, int]:
        """A row of `world`."""
        with self._pool.connection() as connection:
            return connection.execute(ONE, (row,)).fetchone()

    def rows(self, ids: list[int]) -> list[tuple[int, int]]:
        """Rows of `world`, each by a statement of its own."""
        with self._pool.connection() as connection:
            return [connection.execute(ONE, (row,)).fetchone() for row in ids]

    def change(self, changes: list[tuple[int, int]]) -> None:
        """Reads each row, and gives it its new number."""
        with self._pool.connection() as connection:
            for row, _ in changes:
                connection.execute(ONE, (row,)).fetchone()
            new = [(number, row) for row, number in changes]
            connection.cursor().executemany(CHANGE, new)

    def cached(self, ids: list[int]) -> list[tuple[int, int]]:
        """Rows of `cached_world`, which are read once."""
        if not self._cached:
            with self._pool.connection() as connection:
                found = connection.execute("SELECT id, number FROM cached_world").fetchall()
            self._cached = dict(found)
        return [(row, self._cached[row]) for row in ids]

    def fortunes(self) -> list[tuple[int, str]]:
        """The table `fortune`."""
        with self._pool.connection() as connection:
            return connection.execute("SELECT id, message FROM fortune").fetchall()

    def login(self, name: str, password: str) -> str | None:
        """A new token; None where name and password do not fit."""
        with self._pool.connection() as connection:
            account = connection.execute(LOGIN, (name, password)).fetchone()
            if account is None:
                return None
            made = "INSERT INTO session (account) VALUES (%s) RETURNING token"
            return connection.execute(made, account).fetchone()[0]

    def account(self, token: str) -> int | None:
        """Whose token it is; None: nobody's."""
        asked = "SELECT account FROM session WHERE token = %s"
        with self._pool.connection() as connection:
            found = connection.execute(asked, (token,)).fetchone()
        return found[0] if found else None

    def items(self, account: int) -> list[dict[str, object]]:
        """The newest items of an account."""
        listed = "SELECT id, text FROM item WHERE account = %s ORDER BY id DESC LIMIT 20"
        with self._pool.connection() as connection:
            found = connection.execute(listed, (account,)).fetchall()
        return [{"id": row, "text": text} for row, text in found]

    def add(self, account: int, text: str) -> dict[str, object]:
        """A new item of an account."""
        added = "INSERT INTO item (account, text) VALUES (%s, %s) RETURNING id"
        with self._pool.connection() as connection:
            (row,) = connection.execute(added, (account, text)).fetchone()
        return {"id": row, "text": text}
