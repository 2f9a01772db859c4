"""hypercorn: a bare ASGI application behind HTTP/1.1 and HTTP/2, plain and over TLS on one loop."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hypercorn.asyncio import serve
from hypercorn.config import Config

MESSAGE = b'{"seq":"0000000000000000","text":"one message of 64 bytes....."}'
FRAME = 1 << 20

Event = dict[str, Any]


async def answer(
    scope: Event, receive: Callable[[], Awaitable[Event]], send: Callable[[Event], Awaitable[None]]
) -> None:
    """The routes of the contracts."""
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    asked = scope["method"], scope["path"]
    if asked == ("POST", "/echo"):
        await reply(send, 200, b"application/octet-stream", await body(receive))
    elif asked in (("GET", "/message"), ("HEAD", "/message")):
        await reply(send, 200, b"application/json", MESSAGE, is_head=scope["method"] == "HEAD")
    else:
        await body(receive)
        await reply(send, 404, b"text/plain", b"not found\n")


async def live(
    receive: Callable[[], Awaitable[Event]], send: Callable[[Event], Awaitable[None]]
) -> None:
    """Start and end of the application, which has nothing to do at either."""
    while (event := await receive())["type"] != "lifespan.shutdown":
        await send({"type": f"{event['type']}.complete"})
    await send({"type": "lifespan.shutdown.complete"})


async def body(receive: Callable[[], Awaitable[Event]]) -> bytes:
    """The request's whole body."""
    pieces = []
    while (event := await receive())["type"] == "http.request":
        pieces.append(event.get("body", b""))
        if not event.get("more_body"):
            break
    return b"".join(pieces)


async def reply(
    send: Callable[[Event], Awaitable[None]],
    status: int,
    kind: bytes,
    content: bytes,
    *,
    is_head: bool = False,
) -> None:
    """One whole response."""
    fields = [(b"content-type", kind), (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": b"" if is_head else content})


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--tls-port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--tuned", action="store_true", help="uvloop, and larger limits")
    options = parser.parse_args()

    config = Config()
    config.bind = [f"{options.host}:{options.tls_port}"]
    config.insecure_bind = [f"{options.host}:{options.port}"]
    config.certfile = options.cert
    config.keyfile = options.key
    if options.tuned:
        import uvloop

        config.h2_max_inbound_frame_size = FRAME
        config.h2_max_concurrent_streams = 1000
        config.errorlog = None
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(answer, config))
        return
    asyncio.run(serve(answer, config))


if __name__ == "__main__":
    main()
