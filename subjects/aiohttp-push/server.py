"""aiohttp: what one has posted is told to many, by events, over WebSockets and to who polls."""

from __future__ import annotations

import argparse
import asyncio
import ssl
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice

from aiohttp import web

SUBSCRIBERS: set[asyncio.Queue[str]] = set()
"""What each one who subscribes has still to be told."""
KEPT = 1000
"""Events that are kept for those who ask next."""
LONGEST_POLL_S = 25.0
"""A poll is answered by then, even where nothing was published: proxies wait for longer."""


class History:
    """The last events, by number."""

    def __init__(self) -> None:
        self.last = 0
        self.events: deque[str] = deque(maxlen=KEPT)
        self.changed = asyncio.Event()

    def add(self, event: str) -> None:
        """Keeps an event, and wakes all who wait for it."""
        self.last += 1
        self.events.append(event)
        self.changed.set()
        self.changed = asyncio.Event()

    async def behind(self, number: int) -> list[str]:
        """What came behind this number, as soon as something did."""
        if self.last <= number:
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_POLL_S):
                    await self.changed.wait()
        missing = max(self.last - number, 0)
        return [*islice(reversed(self.events), missing)][::-1]


HISTORY = History()


@contextmanager
def subscribed() -> Iterator[asyncio.Queue[str]]:
    """What is published while somebody listens."""
    events: asyncio.Queue[str] = asyncio.Queue()
    SUBSCRIBERS.add(events)
    try:
        yield events
    finally:
        SUBSCRIBERS.discard(events)


async def publish(request: web.Request) -> web.Response:
    """Tells everybody."""
    event = await request.text()
    HISTORY.add(event)
    for events in SUBSCRIBERS:
        events.put_nowait(event)
    return web.Response(text="OK")


async def poll(request: web.Request) -> web.Response:
    """What came behind a number; without one, the last number."""
    after = request.query.get("after")
    events = [] if after is None else await HISTORY.behind(int(after))
    return web.json_response({"last": HISTORY.last, "events": events})


async def subscribe(request: web.Request) -> web.StreamResponse:
    """A WebSocket where one is asked for, else a stream of events."""
    socket = web.WebSocketResponse(compress=False)
    if socket.can_prepare(request):
        return await over_websocket(socket, request)
    stream = web.StreamResponse(headers={"Cache-Control": "no-store"})
    stream.content_type = "text/event-stream"
    with subscribed() as events:
        await stream.prepare(request)
        while True:
            event = await events.get()
            await stream.write(f"data: {event}\n\n".encode())


async def over_websocket(
    socket: web.WebSocketResponse, request: web.Request
) -> web.WebSocketResponse:
    """A message for each event, until the client leaves."""
    with subscribed() as events:
        await socket.prepare(request)
        telling = asyncio.create_task(tell(socket, events))
        async for _ in socket:
            pass
        telling.cancel()
    return socket


async def tell(socket: web.WebSocketResponse, events: asyncio.Queue[str]) -> None:
    """Sends events as they come."""
    while True:
        await socket.send_str(await events.get())


async def run(options: argparse.Namespace) -> None:
    """Serves until the process is ended."""
    inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    inside.load_cert_chain(options.cert, options.key)
    application = web.Application()
    application.add_routes(
        [
            web.post("/publish", publish),
            web.get("/subscribe", subscribe),
            web.get("/next", poll),
        ]
    )
    logs = {"access_log": None} if options.tuned else {}
    runner = web.AppRunner(application, **logs)
    await runner.setup()
    await web.TCPSite(runner, options.host, options.port).start()
    await web.TCPSite(runner, options.host, options.tls_port, ssl_context=inside).start()
    await asyncio.get_running_loop().create_future()


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser()
    for name in ("--host", "--cert", "--key"):
        parser.add_argument(name, required=True)
    for name in ("--port", "--tls-port"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--tuned", action="store_true", help="no log")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
