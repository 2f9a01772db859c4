"""The shop: a page for the browser, and the API that the page calls.

DATABASE_URL names the PostgreSQL database; FAULT puts faults in (`faults.py`).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

from shop import accounts, database, faults, orders, products

STATIC = Path(__file__).parent / "static"
DATABASE = "postgresql://127.0.0.1:5432/shop"


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Keeps the connections to the database open while the shop is."""
    app.state.faults = faults.Faults(os.environ.get("FAULT", ""))
    async with database.opened(os.environ.get("DATABASE_URL", DATABASE)) as pool:
        app.state.pool = pool
        yield


app = FastAPI(title="Shop", lifespan=lifespan)
app.add_middleware(GZipMiddleware, minimum_size=500)
app.include_router(accounts.router, prefix="/api")
app.include_router(products.router, prefix="/api")
app.include_router(orders.router, prefix="/api")
app.mount("/static", StaticFiles(directory=STATIC), name="static")


@app.get("/", include_in_schema=False)
def page() -> FileResponse:
    """The only page; its script does the rest."""
    return FileResponse(STATIC / "index.html")


@app.get("/health", include_in_schema=False)
def health() -> dict[str, str]:
    """Answers when the database is filled: the lifespan is over that by then."""
    return {"status": "up"}
