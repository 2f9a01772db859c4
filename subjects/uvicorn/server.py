"""uvicorn: an ASGI application that echoes, plain and over TLS, both on one event loop."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

LARGEST = 128 << 20

Event = dict[str, Any]


async def echo(
    scope: Event, receive: Callable[[], Awaitable[Event]], send: Callable[[Event], Awaitable[None]]
) -> None:
    """A bare application, as in the quick start, of the events of the page "WebSockets"."""
    assert scope["type"] == "websocket"
    await receive()  # websocket.connect
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        await send({**event, "type": "websocket.send"})


async def run(*servers: uvicorn.Server) -> None:
    """Serves until the process is ended."""
    await asyncio.gather(*(server.serve() for server in servers))


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--tuned", action="store_true", help="no compression, and no log")
    options = parser.parse_args()

    chosen: dict[str, Any] = {"host": options.host, "ws_max_size": LARGEST}
    if options.tuned:
        chosen |= {"ws_per_message_deflate": False, "log_level": "warning"}
    inside = {"ssl_certfile": options.cert, "ssl_keyfile": options.key}
    plain = uvicorn.Config(echo, port=options.port, **chosen)
    secure = uvicorn.Config(echo, port=options.tls_port, **inside, **chosen)
    # The loop that its own command would make; that command has one port only.
    with asyncio.Runner(loop_factory=plain.get_loop_factory()) as runner:
        runner.run(run(uvicorn.Server(plain), uvicorn.Server(secure)))


if __name__ == "__main__":
    main()
