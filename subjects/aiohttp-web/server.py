"""The contract `web` in aiohttp: a table of routes, json_response, and a page by aiohttp_jinja2."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator

import aiohttp_jinja2
import contract
from aiohttp import web
from jinja2 import DictLoader
from store import Store

STORE = web.AppKey("store", Store)
routes = web.RouteTableDef()


async def connected(app: web.Application) -> AsyncIterator[None]:
    """Holds the pool while the application runs."""
    app[STORE] = await Store.open()
    yield
    await app[STORE].close()


@routes.get("/plaintext")
async def plaintext(_: web.Request) -> web.Response:
    """GET /plaintext."""
    return web.Response(text=contract.GREETING)


@routes.get("/json")
async def greeting(_: web.Request) -> web.Response:
    """GET /json."""
    return web.json_response({"message": contract.GREETING})


@routes.get("/db")
async def one(request: web.Request) -> web.Response:
    """GET /db."""
    found = await request.app[STORE].row(int(request.query["id"]))
    return web.json_response(contract.rows([found])[0])


@routes.get("/queries")
async def queries(request: web.Request) -> web.Response:
    """GET /queries."""
    found = await request.app[STORE].rows(contract.ids(request.query))
    return web.json_response(contract.rows(found))


@routes.get("/updates")
async def updates(request: web.Request) -> web.Response:
    """GET /updates."""
    changes = contract.changes(request.query)
    await request.app[STORE].change(changes)
    return web.json_response(contract.rows(changes))


@routes.get("/cached")
async def cached(request: web.Request) -> web.Response:
    """GET /cached."""
    found = await request.app[STORE].cached(contract.ids(request.query))
    return web.json_response(contract.rows(found))


@routes.get("/fortunes")
@aiohttp_jinja2.template("fortunes.html")
async def fortunes(request: web.Request) -> dict[str, object]:
    """GET /fortunes."""
    return {"fortunes": contract.fortunes(await request.app[STORE].fortunes())}


@routes.post("/login")
async def login(request: web.Request) -> web.Response:
    """POST /login."""
    said = await request.json()
    token = await request.app[STORE].login(said["name"], said["password"])
    return web.json_response({"token": token}) if token else refused()


@routes.get("/items")
async def items(request: web.Request) -> web.Response:
    """GET /items."""
    account = await known(request)
    if account is None:
        return refused()
    return web.json_response(await request.app[STORE].items(account))


@routes.post("/items")
async def add(request: web.Request) -> web.Response:
    """POST /items."""
    said = await request.json()
    account = await known(request)
    if account is None:
        return refused()
    return web.json_response(await request.app[STORE].add(account, said["text"]), status=201)


async def known(request: web.Request) -> int | None:
    """Whose token it is; None: nobody's."""
    return await request.app[STORE].account(contract.token(request.headers.get("Authorization")))


def refused() -> web.Response:
    """Nobody gets further."""
    return web.json_response({}, status=401)


def main() -> None:
    """Reads the command line, and serves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tuned", action="store_true", help="uvloop, and no access log")
    options = parser.parse_args()
    app = web.Application()
    app.add_routes(routes)
    app.cleanup_ctx.append(connected)
    aiohttp_jinja2.setup(app, loader=DictLoader({"fortunes.html": contract.TEMPLATE}))
    more = {}
    if options.tuned:
        import uvloop

        more = {"loop": uvloop.new_event_loop(), "access_log": None}
    web.run_app(app, host=options.host, port=options.port, **more)


if __name__ == "__main__":
    main()
