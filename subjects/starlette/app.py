"""The contract `web` in Starlette: routes, JSONResponse, and a page by Jinja2Templates."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import contract
from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates
from store import Store

pages = Jinja2Templates(
    env=Environment(loader=DictLoader({"fortunes.html": contract.TEMPLATE}), autoescape=True)
)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Holds the pool while the application runs."""
    app.state.store = await Store.open()
    yield
    await app.state.store.close()


async def plaintext(_: Request) -> Response:
    """GET /plaintext."""
    return PlainTextResponse(contract.GREETING)


async def greeting(_: Request) -> Response:
    """GET /json."""
    return JSONResponse({"message": contract.GREETING})


async def one(request: Request) -> Response:
    """GET /db."""
    found = await request.app.state.store.row(int(request.query_params["id"]))
    return JSONResponse(contract.rows([found])[0])


async def queries(request: Request) -> Response:
    """GET /queries."""
    found = await request.app.state.store.rows(contract.ids(request.query_params))
    return JSONResponse(contract.rows(found))


async def updates(request: Request) -> Response:
    """GET /updates."""
    changes = contract.changes(request.query_params)
    await request.app.state.store.change(changes)
    return JSONResponse(contract.rows(changes))


async def cached(request: Request) -> Response:
    """GET /cached."""
    found = await request.app.state.store.cached(contract.ids(request.query_params))
    return JSONResponse(contract.rows(found))


async def fortunes(request: Request) -> HTMLResponse:
    """GET /fortunes."""
    found = contract.fortunes(await request.app.state.store.fortunes())
    return pages.TemplateResponse(request, "fortunes.html", {"fortunes": found})


async def login(request: Request) -> Response:
    """POST /login."""
    said = await request.json()
    token = await request.app.state.store.login(said["name"], said["password"])
    return JSONResponse({"token": token}) if token else JSONResponse({}, 401)


async def items(request: Request) -> Response:
    """GET and POST /items."""
    store = request.app.state.store
    account = await store.account(contract.token(request.headers.get("authorization")))
    if account is None:
        return JSONResponse({}, 401)
    if request.method == "POST":
        said = await request.json()
        return JSONResponse(await store.add(account, said["text"]), 201)
    return JSONResponse(await store.items(account))


app = Starlette(
    routes=[
        Route("/plaintext", plaintext),
        Route("/json", greeting),
        Route("/db", one),
        Route("/queries", queries),
        Route("/updates", updates),
        Route("/cached", cached),
        Route("/fortunes", fortunes),
        Route("/login", login, methods=["POST"]),
        Route("/items", items, methods=["GET", "POST"]),
    ],
    lifespan=lifespan,
)
