"""What the contract `web` says of rows, counts and the page, for every Python framework."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

ROWS = 10_000
STEP = 7919
MOST = 100
GREETING = "Hello, World!"
ADDED = (0, "One more fortune, made while you wait.")
HTML = "text/html; charset=utf-8"
TEMPLATE = Path(__file__).with_name("fortunes.html").read_text(encoding="utf-8")


def chain(first: int, count: int) -> list[int]:
    """The ids, or the new numbers, of a request for `count` rows from `first` on."""
    return [(first - 1 + place * STEP) % ROWS + 1 for place in range(count)]


def clamped(count: str | None) -> int:
    """How many rows a request with this `count` is for."""
    try:
        return min(max(int(count or ""), 1), MOST)
    except ValueError:
        return 1


def ids(asked: Any) -> list[int]:
    """The rows that a request's query is for."""
    return chain(int(asked["id"]), clamped(asked.get("count")))


def changes(asked: Any) -> list[tuple[int, int]]:
    """The rows that it changes, each with its new number."""
    rows = ids(asked)
    return list(zip(rows, chain(int(asked["number"]), len(rows)), strict=True))


def rows(found: list[tuple[int, int]]) -> list[dict[str, int]]:
    """What a reply says of rows."""
    return [{"id": row, "number": number} for row, number in found]


def fortunes(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The rows of the page in their order."""
    return sorted([*found, ADDED], key=lambda fortune: fortune[1])


def token(field: str | None) -> str:
    """The token of an Authorization field; empty where there is none."""
    return (field or "").removeprefix("Bearer ")


def pool_size() -> int:
    """The connections of this process: all share those that the server may have."""
    return max(int(os.environ["DATABASE_POOL"]) // int(os.environ.get("WORKERS", "1")), 1)
