"""websockets: a WebSocket echo on asyncio, plain and over TLS, both on one event loop."""

from __future__ import annotations

import argparse
import asyncio
import ssl
from typing import Any

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve

LARGEST = 128 << 20

room: set[ServerConnection] = set()


async def talk(connection: ServerConnection) -> None:
    """What is spoken at the path that was asked for."""
    path = connection.request.path if connection.request else "/"
    await (hear_all if path == "/broadcast" else echo)(connection)


async def hear_all(connection: ServerConnection) -> None:
    """The broadcast of the library's page "Broadcasting"."""
    room.add(connection)
    try:
        async for message in connection:
            broadcast(room, message)
    finally:
        room.remove(connection)


async def echo(connection: ServerConnection) -> None:
    """The echo of the library's page "Quick examples"."""
    async for message in connection:
        await connection.send(message)


async def run(options: argparse.Namespace) -> None:
    """Serves until the process is ended."""
    inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    inside.load_cert_chain(options.cert, options.key)
    chosen: dict[str, Any] = {"compression": None} if options.tuned else {}
    async with (
        serve(talk, options.host, options.port, max_size=LARGEST, **chosen),
        serve(talk, options.host, options.tls_port, ssl=inside, max_size=LARGEST, **chosen),
    ):
        await asyncio.get_running_loop().create_future()


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--tuned", action="store_true", help="uvloop, and no compression")
    options = parser.parse_args()
    (uvloop.run if options.tuned else asyncio.run)(run(options))


if __name__ == "__main__":
    main()
