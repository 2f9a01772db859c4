"""aiohttp: a WebSocket echo, plain and over TLS, both on one event loop."""

from __future__ import annotations

import argparse
import asyncio
import ssl
from collections.abc import Awaitable, Callable

from aiohttp import WSMsgType, web

# The library refuses what reaches its limit, not only what exceeds it.
LARGEST = (128 << 20) + 1


def echo(*, compress: bool) -> Callable[[web.Request], Awaitable[web.WebSocketResponse]]:
    """The handler of the library's page "Web Server Quickstart", "WebSockets"."""

    async def handle(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=LARGEST, compress=compress)
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await socket.send_str(message.data)
            elif message.type is WSMsgType.BINARY:
                await socket.send_bytes(message.data)
        return socket

    return handle


async def run(options: argparse.Namespace) -> None:
    """Serves until the process is ended."""
    inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    inside.load_cert_chain(options.cert, options.key)
    application = web.Application()
    application.add_routes([web.get("/", echo(compress=not options.tuned))])
    logs = {"access_log": None} if options.tuned else {}
    runner = web.AppRunner(application, **logs)
    await runner.setup()
    await web.TCPSite(runner, options.host, options.port).start()
    await web.TCPSite(runner, options.host, options.tls_port, ssl_context=inside).start()
    await asyncio.get_running_loop().create_future()


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--tuned", action="store_true", help="no compression, and no log")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
