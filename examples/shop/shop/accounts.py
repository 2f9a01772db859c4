"""Who is asking: login, logout, and the session that a cookie names."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Cookie, Depends, HTTPException, Response
from pydantic import BaseModel, Field

from shop import passwords
from shop.database import Pool

COOKIE = "session"
router = APIRouter(tags=["accounts"])


class Credentials(BaseModel):
    """What a customer types."""

    email: Annotated[str, Field(examples=["customer1@example.org"])]
    password: Annotated[str, Field(examples=["open sesame"])]


class Account(BaseModel):
    """A customer, as the customer sees it."""

    email: str


@dataclass(frozen=True)
class Session:
    """A customer who has signed in."""

    token: str
    customer_id: int
    email: str


async def signed_in(pool: Pool, session: Annotated[str | None, Cookie()] = None) -> Session:
    """The session of the request; 401 where there is none."""
    row = session and await pool.fetchrow(
        "SELECT customer.id, email FROM session JOIN customer ON customer.id = customer_id"
        " WHERE token = $1",
        session,
    )
    if not session or not row:
        raise HTTPException(401, "sign in first")
    return Session(session, row["id"], row["email"])


SignedIn = Annotated[Session, Depends(signed_in)]


@router.post("/login")
async def login(credentials: Credentials, response: Response, pool: Pool) -> Account:
    """Begins a session and sets its cookie."""
    row = await pool.fetchrow(
        "SELECT id, password FROM customer WHERE email = $1", credentials.email
    )
    if not row or not await asyncio.to_thread(
        passwords.matches, credentials.password, row["password"]
    ):
        raise HTTPException(401, "unknown email or wrong password")
    token = secrets.token_urlsafe(24)
    await pool.execute("INSERT INTO session (token, customer_id) VALUES ($1, $2)", token, row["id"])
    response.set_cookie(COOKIE, token, httponly=True, samesite="lax")
    return Account(email=credentials.email)


@router.post("/logout", status_code=204)
async def logout(session: SignedIn, response: Response, pool: Pool) -> None:
    """Ends the session; its basket goes with it."""
    await pool.execute("DELETE FROM session WHERE token = $1", session.token)
    response.delete_cookie(COOKIE)
