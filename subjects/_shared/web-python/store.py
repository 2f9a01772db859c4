"""The tables of the contract `web`, asked by asyncpg: for frameworks on an event loop."""

from __future__ import annotations

import os

import asyncpg
from contract import pool_size

ONE = "SELECT id, number FROM world WHERE id = $1"
CHANGE = "UPDATE world SET number = $2 WHERE id = $1"
LOGIN = (
    "SELECT id FROM account WHERE name = $1"
    " AND digest = encode(sha256(convert_to($2, 'UTF8')), 'hex')"
)


class Store:
    """A pool of connections. Its methods are the contract's, row by row."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self._cached: dict[int, int] = {}

    @classmethod
    async def open(cls) -> Store:
        """With all its connections."""
        size = pool_size()
        pool = await asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=size, max_size=size)
        return cls(pool)

    async def close(self) -> None:
        """Lets go of the connections."""
        await self._pool.close()

    async def row(self, row: int) -> tuple[int, int]:
        """A row of `world`."""
        return tuple(await self._pool.fetchrow(ONE, row))

    async def rows(self, ids: list[int]) -> list[tuple[int, int]]:
        """Rows of `world`, each by a statement of its own."""
        async with self._pool.acquire() as connection:
            one = await connection.prepare(ONE)
            return [tuple(await one.fetchrow(row)) for row in ids]

    async def change(self, changes: list[tuple[int, int]]) -> None:
        """Reads each row, and gives it its new number."""
        async with self._pool.acquire() as connection:
            one = await connection.prepare(ONE)
            for row, _ in changes:
                await one.fetchrow(row)
            await connection.executemany(CHANGE, changes)

    async def cached(self, ids: list[int]) -> list[tuple[int, int]]:
        """Rows of `cached_world`, which are read once."""
        if not self._cached:
            found = await self._pool.fetch("SELECT id, number FROM cached_world")
            self._cached = dict(tuple(one) for one in found)
        return [(row, self._cached[row]) for row in ids]

    async def fortunes(self) -> list[tuple[int, str]]:
        """The table `fortune`."""
        return [tuple(one) for one in await self._pool.fetch("SELECT id, message FROM fortune")]

    async def login(self, name: str, password: str) -> str | None:
        """A new token; None where name and password do not fit."""
        async with self._pool.acquire() as connection:
            account = await connection.fetchval(LOGIN, name, password)
            if account is None:
                return None
            made = "INSERT INTO session (account) VALUES ($1) RETURNING token"
            return await connection.fetchval(made, account)

    async def account(self, token: str) -> int | None:
        """Whose token it is; None: nobody's."""
        return await self._pool.fetchval("SELECT account FROM session WHERE token = $1", token)

    async def items(self, account: int) -> list[dict[str, object]]:
        """The newest items of an account."""
        listed = "SELECT id, text FROM item WHERE account = $1 ORDER BY id DESC LIMIT 20"
        return [dict(one) for one in await self._pool.fetch(listed, account)]

    async def add(self, account: int, text: str) -> dict[str, object]:
        """A new item of an account."""
        added = "INSERT INTO item (account, text) VALUES ($1, $2) RETURNING id"
        return {"id": await self._pool.fetchval(added, account, text), "text": text}
