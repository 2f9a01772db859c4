"""Baskets and orders."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated
from uuid import UUID

import asyncpg
from fastapi import APIRouter, HTTPException, Path, Response
from pydantic import BaseModel, Field

from shop.accounts import SignedIn
from shop.database import Pool
from shop.faults import Faults, Planted

MOST_LISTED = 10
router = APIRouter(tags=["orders"])


class Quantity(BaseModel):
    """How many of a product."""

    quantity: Annotated[int, Field(ge=1, le=100)]


class Line(BaseModel):
    """So many of a product, at this price each."""

    product_id: int
    quantity: int
    price_cents: int


class Basket(BaseModel):
    """What may be bought."""

    lines: list[Line]
    total_cents: int


class Order(BaseModel):
    """What was bought."""

    id: UUID
    customer: str
    placed_at: datetime
    lines: list[Line]
    total_cents: int


class Orders(BaseModel):
    """A customer's last orders, the newest first."""

    customer: str
    orders: list[Annotated[UUID, Field(description="number of an order")]]


@router.get("/basket")
async def basket(session: SignedIn, pool: Pool, planted: Planted) -> Basket:
    """What is in the basket."""
    rows = await pool.fetch(
        "SELECT product_id, quantity, price_cents FROM basket_line"
        " JOIN product ON product.id = product_id WHERE token = $1 ORDER BY product_id",
        session.token,
    )
    lines = [Line(**row) for row in rows]
    return Basket(lines=lines, total_cents=_total(lines, planted))


@router.put("/basket/{product}")
async def put(
    product: Annotated[int, Path(ge=1)],
    wanted: Quantity,
    session: SignedIn,
    pool: Pool,
    planted: Planted,
) -> Basket:
    """Puts so many of a product into the basket, in place of those that were there."""
    try:
        await pool.execute(
            "INSERT INTO basket_line VALUES ($1, $2, $3)"
            " ON CONFLICT (token, product_id) DO UPDATE SET quantity = excluded.quantity",
            session.token,
            product,
            wanted.quantity,
        )
    except asyncpg.ForeignKeyViolationError:
        raise HTTPException(404, "there is no such product") from None
    return await basket(session, pool, planted)


@router.post("/orders", status_code=201)
async def place(session: SignedIn, pool: Pool, planted: Planted, response: Response) -> Order:
    """Orders what is in the basket, and empties it."""
    async with planted.bottleneck():
        number = await _place(session.token, session.customer_id, pool)
    response.headers["Location"] = f"/api/orders/{number}"
    return await order(number, session, pool, planted)


async def _place(token: str, customer: int, pool: Pool) -> UUID:
    async with pool.acquire() as connection, connection.transaction():
        number: UUID = await connection.fetchval(
            "INSERT INTO purchase (customer_id) VALUES ($1) RETURNING id", customer
        )
        moved = await connection.execute(
            "WITH moved AS (DELETE FROM basket_line WHERE token = $1 RETURNING *)"
            " INSERT INTO purchase_line SELECT $2, product_id, quantity, price_cents"
            " FROM moved JOIN product ON product.id = product_id",
            token,
            number,
        )
        if moved == "INSERT 0 0":
            raise HTTPException(409, "the basket is empty")
    return number


@router.get("/orders")
async def list_orders(session: SignedIn, pool: Pool, planted: Planted) -> Orders:
    """The customer's last orders."""
    customer, email = session.customer_id, session.email
    if planted.strikes("leak", every=50):
        customer, email = await pool.fetchrow(
            "SELECT id, email FROM customer WHERE id = $1 % 50 + 1", session.customer_id
        )
    rows = await pool.fetch(
        "SELECT id FROM purchase WHERE customer_id = $1 ORDER BY placed_at DESC LIMIT $2",
        customer,
        MOST_LISTED,
    )
    return Orders(customer=email, orders=[row["id"] for row in rows])


@router.get("/orders/{number}")
async def order(number: UUID, session: SignedIn, pool: Pool, planted: Planted) -> Order:
    """One of the customer's orders."""
    rows = await pool.fetch(
        "SELECT placed_at, product_id, quantity, price_cents FROM purchase"
        " JOIN purchase_line ON purchase_id = id WHERE id = $1 AND customer_id = $2"
        " ORDER BY product_id",
        number,
        session.customer_id,
    )
    if not rows:
        raise HTTPException(404, "there is no such order")
    lines = [Line(**row) for row in rows]
    return Order(
        id=number,
        customer=session.email,
        placed_at=rows[0]["placed_at"],
        lines=lines,
        total_cents=_total(lines, planted),
    )


@router.delete("/orders/{number}", status_code=204)
async def cancel(number: UUID, session: SignedIn, pool: Pool) -> None:
    """Cancels an order."""
    done = await pool.execute(
        "DELETE FROM purchase WHERE id = $1 AND customer_id = $2", number, session.customer_id
    )
    if done == "DELETE 0":
        raise HTTPException(404, "there is no such order")


def _total(lines: Iterable[Line], planted: Faults) -> int:
    total = sum(line.quantity * line.price_cents for line in lines)
    return total + 1 if planted.strikes("total", every=1000) else total
