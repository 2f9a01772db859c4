"""A bare ASGI application: the routes of the contracts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

MESSAGE = b'{"seq":"0000000000000000","text":"one message of 64 bytes....."}'

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
