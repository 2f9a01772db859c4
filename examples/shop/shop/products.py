"""What the shop sells: a list in pages, a search, one product."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Annotated

from fastapi import APIRouter, Header, HTTPException, Query, Response
from pydantic import BaseModel

from shop.database import Pool
from shop.faults import Planted

PAGE = 20
router = APIRouter(tags=["products"])


class Product(BaseModel):
    """One product; its price in cents."""

    id: int
    name: str
    category: str
    price_cents: int


class Products(BaseModel):
    """A page of products, and how many there are."""

    products: list[Product]
    page: int
    total: int


@router.get("/products", response_model=Products)
async def list_products(
    pool: Pool,
    page: Annotated[int, Query(ge=1, le=1000)] = 1,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """A page of all products. It seldom changes: whoever has it gets a 304."""
    rows = await pool.fetch(
        "SELECT * FROM product ORDER BY id LIMIT $1 OFFSET $2", PAGE, PAGE * (page - 1)
    )
    total = await pool.fetchval("SELECT count(*) FROM product")
    found = Products(products=[Product(**row) for row in rows], page=page, total=total)
    body = found.model_dump_json().encode()
    # Weak, since the body may be compressed on its way.
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


@router.get("/search")
async def search(pool: Pool, planted: Planted, q: Annotated[str, Query(min_length=2)]) -> Products:
    """The products with this word in their names; at most a page."""
    if planted.strikes("slow"):
        await asyncio.sleep(0.4)
    rows = await pool.fetch(
        "SELECT *, count(*) OVER () AS found FROM product WHERE name ILIKE '%' || $1 || '%'"
        " ORDER BY id LIMIT $2",
        q,
        PAGE,
    )
    total = rows[0]["found"] if rows else 0
    return Products(products=[Product(**row) for row in rows], page=1, total=total)


@router.get("/products/{number}")
async def product(number: int, pool: Pool) -> Product:
    """One product."""
    row = await pool.fetchrow("SELECT * FROM product WHERE id = $1", number)
    if not row:
        raise HTTPException(404, "there is no such product")
    return Product(**row)
