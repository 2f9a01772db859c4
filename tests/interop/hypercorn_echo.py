"""Echoes over WebSocket behind hypercorn, over HTTP/1.1 and HTTP/2. Run by the Python that has it.

Usage: python hypercorn_echo.py PLAIN_PORT TLS_PORT CERT KEY
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from hypercorn.asyncio import serve  # type: ignore[import-not-found]
from hypercorn.config import Config  # type: ignore[import-not-found]

Event = dict[str, Any]


async def echo(
    scope: Event, receive: Callable[[], Awaitable[Event]], send: Callable[[Event], Awaitable[None]]
) -> None:
    """Each message comes back; there is nothing else."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        told = {name: event[name] for name in ("text", "bytes") if event.get(name) is not None}
        await send({"type": "websocket.send", **told})


def main() -> None:
    """Serves until it is ended."""
    plain, secure, cert, key = sys.argv[1:]
    config = Config()
    config.insecure_bind = [f"127.0.0.1:{plain}"]
    config.bind = [f"127.0.0.1:{secure}"]
    config.certfile, config.keyfile = cert, key
    asyncio.run(serve(echo, config))


if __name__ == "__main__":
    main()
