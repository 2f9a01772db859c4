"""The database: its tables, what it is filled with, and connections to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import asyncpg
from fastapi import Depends, Request

from shop import passwords

SCHEMA = Path(__file__).with_name("schema.sql")
CUSTOMERS, PRODUCTS = 50, 200
PASSWORD = "open sesame"
THINGS = ("Lamp", "Chair", "Kettle", "Rug", "Clock", "Shelf", "Mug", "Mirror", "Basket", "Table")
LOOKS = ("Plain", "Blue", "Tall", "Old", "Round", "Light", "Folding", "Striped", "Oak", "Wide")


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[asyncpg.Pool]:
    """A pool of connections to a database that has the shop's tables and goods."""
    async with asyncpg.create_pool(url, min_size=2, max_size=10) as pool:
        await pool.execute(SCHEMA.read_text(encoding="utf-8"))
        if not await pool.fetchval("SELECT count(*) FROM product"):
            await _fill(pool)
        yield pool


def pool_of(request: Request) -> asyncpg.Pool:
    """The pool of the application that got this request."""
    pool: asyncpg.Pool = request.app.state.pool
    return pool


Pool = Annotated[asyncpg.Pool, Depends(pool_of)]


async def _fill(pool: asyncpg.Pool) -> None:
    """The same customers and goods each time, so that a test can know a price."""
    password = passwords.hashed(PASSWORD)
    customers = [
        (number, f"customer{number}@example.org", password) for number in range(1, CUSTOMERS + 1)
    ]
    await pool.executemany("INSERT INTO customer VALUES ($1, $2, $3)", customers)
    await pool.executemany("INSERT INTO product VALUES ($1, $2, $3, $4)", list(_products()))


def _products() -> Iterator[tuple[int, str, str, int]]:
    for number in range(1, PRODUCTS + 1):
        look, thing = LOOKS[number // 10 % 10], THINGS[number % 10]
        yield number, f"{look} {thing} No. {number}", thing.lower(), 500 + 37 * number
