"""The contract `web` in Litestar: handlers with types, and a page by its template engine."""

from __future__ import annotations

import contract
from jinja2 import DictLoader, Environment
from litestar import Litestar, MediaType, Request, get, post
from litestar.contrib.jinja import JinjaTemplateEngine
from litestar.datastructures import State
from litestar.exceptions import NotAuthorizedException
from litestar.response import Template
from litestar.template.config import TemplateConfig
from store import Store

pages = Environment(loader=DictLoader({"fortunes.html": contract.TEMPLATE}), autoescape=True)


async def open_store(app: Litestar) -> None:
    """Connects to the database."""
    app.state.store = await Store.open()


async def close_store(app: Litestar) -> None:
    """Lets go of it."""
    await app.state.store.close()


async def known(request: Request, state: State) -> int:
    """Whose token it is; nobody gets further."""
    account = await state.store.account(contract.token(request.headers.get("authorization")))
    if account is None:
        raise NotAuthorizedException
    return account


@get("/plaintext", media_type=MediaType.TEXT)
async def plaintext() -> str:
    """GET /plaintext."""
    return contract.GREETING


@get("/json")
async def greeting() -> dict[str, str]:
    """GET /json."""
    return {"message": contract.GREETING}


@get("/db")
async def one(state: State, id: int) -> dict[str, int]:
    """GET /db."""
    return contract.rows([await state.store.row(id)])[0]


@get("/queries")
async def queries(state: State, id: int, count: str | None = None) -> list[dict[str, int]]:
    """GET /queries."""
    return contract.rows(await state.store.rows(contract.chain(id, contract.clamped(count))))


@get("/updates")
async def updates(
    state: State, id: int, number: int, count: str | None = None
) -> list[dict[str, int]]:
    """GET /updates."""
    changes = contract.changes({"id": id, "number": number, "count": count})
    await state.store.change(changes)
    return contract.rows(changes)


@get("/cached")
async def cached(state: State, id: int, count: str | None = None) -> list[dict[str, int]]:
    """GET /cached."""
    return contract.rows(await state.store.cached(contract.chain(id, contract.clamped(count))))


@get("/fortunes")
async def fortunes(state: State) -> Template:
    """GET /fortunes."""
    found = contract.fortunes(await state.store.fortunes())
    return Template("fortunes.html", context={"fortunes": found}, media_type=MediaType.HTML)


@post("/login", status_code=200)
async def login(state: State, data: dict[str, str]) -> dict[str, str]:
    """POST /login."""
    token = await state.store.login(data["name"], data["password"])
    if token is None:
        raise NotAuthorizedException
    return {"token": token}


@get("/items")
async def items(request: Request, state: State) -> list[dict[str, object]]:
    """GET /items."""
    return await state.store.items(await known(request, state))


@post("/items")
async def add(request: Request, state: State, data: dict[str, str]) -> dict[str, object]:
    """POST /items."""
    return await state.store.add(await known(request, state), data["text"])


app = Litestar(
    [plaintext, greeting, one, queries, updates, cached, fortunes, login, items, add],
    on_startup=[open_store],
    on_shutdown=[close_store],
    template_config=TemplateConfig(instance=JinjaTemplateEngine.from_environment(pages)),
)
