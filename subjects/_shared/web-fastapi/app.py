"""The contract `web` in FastAPI: models of requests and replies, and dependencies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import contract
from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import HTMLResponse, PlainTextResponse
from fastapi.templating import Jinja2Templates
from jinja2 import DictLoader, Environment
from pydantic import BaseModel
from store import Store

pages = Jinja2Templates(
    env=Environment(loader=DictLoader({"fortunes.html": contract.TEMPLATE}), autoescape=True)
)


class Message(BaseModel):
    """The reply of /json."""

    message: str


class Row(BaseModel):
    """A row of `world` or `cached_world`."""

    id: int
    number: int


class Login(BaseModel):
    """What comes to /login."""

    name: str
    password: str


class Token(BaseModel):
    """What /login answers."""

    token: str


class Text(BaseModel):
    """What is posted to /items."""

    text: str


class Item(BaseModel):
    """An item of an account."""

    id: int
    text: str


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Holds the pool while the application runs."""
    app.state.store = await Store.open()
    yield
    await app.state.store.close()


async def tables(request: Request) -> Store:
    """The pool."""
    return request.app.state.store


Tables = Annotated[Store, Depends(tables)]


async def known(store: Tables, authorization: Annotated[str | None, Header()] = None) -> int:
    """Whose token it is; nobody gets further."""
    account = await store.account(contract.token(authorization))
    if account is None:
        raise HTTPException(401)
    return account


Account = Annotated[int, Depends(known)]
app = FastAPI(lifespan=lifespan)


@app.get("/plaintext", response_class=PlainTextResponse)
async def plaintext() -> str:
    """GET /plaintext."""
    return contract.GREETING


@app.get("/json")
async def greeting() -> Message:
    """GET /json."""
    return Message(message=contract.GREETING)


@app.get("/db")
async def one(store: Tables, id: int) -> Row:
    """GET /db."""
    row, number = await store.row(id)
    return Row(id=row, number=number)


@app.get("/queries")
async def queries(store: Tables, id: int, count: str | None = None) -> list[Row]:
    """GET /queries."""
    return rows(await store.rows(contract.chain(id, contract.clamped(count))))


@app.get("/updates")
async def updates(store: Tables, id: int, number: int, count: str | None = None) -> list[Row]:
    """GET /updates."""
    changes = contract.changes({"id": id, "number": number, "count": count})
    await store.change(changes)
    return rows(changes)


@app.get("/cached")
async def cached(store: Tables, id: int, count: str | None = None) -> list[Row]:
    """GET /cached."""
    return rows(await store.cached(contract.chain(id, contract.clamped(count))))


@app.get("/fortunes", response_class=HTMLResponse)
async def fortunes(request: Request, store: Tables) -> HTMLResponse:
    """GET /fortunes."""
    found = contract.fortunes(await store.fortunes())
    return pages.TemplateResponse(request, "fortunes.html", {"fortunes": found})


@app.post("/login")
async def login(store: Tables, said: Login) -> Token:
    """POST /login."""
    token = await store.login(said.name, said.password)
    if token is None:
        raise HTTPException(401)
    return Token(token=token)


@app.get("/items")
async def items(store: Tables, account: Account) -> list[Item]:
    """GET /items."""
    return [Item.model_validate(one) for one in await store.items(account)]


@app.post("/items", status_code=201)
async def add(store: Tables, account: Account, said: Text) -> Item:
    """POST /items."""
    return Item.model_validate(await store.add(account, said.text))


def rows(found: list[tuple[int, int]]) -> list[Row]:
    """What a reply says of rows."""
    return [Row(id=row, number=number) for row, number in found]
