"""A server of the contract `rest` that keeps it, but for the faults that it is told to have.

Usage: rest.py HOST PORT THREADS DELAY_MS [FAULT...]
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

LIMIT = 65_536


@dataclass(frozen=True)
class Request:
    """One request, whole."""

    method: str
    path: str
    body: bytes
    close: bool


class Service:
    """The three routes."""

    def __init__(self, threads: int, delay_ms: int, faults: set[str]) -> None:
        self.faults = faults
        self.delay_s = delay_ms / 1e3 * (0.5 if "hasty" in faults else 1)
        if "unbounded" in faults:
            threads = 64
        if "serial" in faults:
            threads = 1
        self.pool = ThreadPoolExecutor(threads)
        self.turn = asyncio.Lock()

    def _work(self) -> None:
        """What a thread of the pool does for one request."""
        time.sleep(self.delay_s)
        if "deadlock" in self.faults:
            # As a handler that waits for its body's task: another thread of the pool must do this.
            self.pool.submit(time.sleep, 0.001).result()

    def _dozes(self) -> bool:
        """With the fault `dozing=TIMES:FILE`: does it stand still now? So often over all runs."""
        told = next((one for one in self.faults if one.startswith("dozing=")), None)
        if told is None:
            return False
        times, file = told.removeprefix("dozing=").split(":", 1)
        with Path(file).open("ab") as marks:
            dozes = marks.tell() < int(times)
            marks.write(b"." * dozes)
        return dozes

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers a connection until its end."""
        try:
            if "one-by-one" in self.faults:
                async with self.turn:
                    await self._converse(reader, writer)
            else:
                await self._converse(reader, writer)
        except (OSError, EOFError, ValueError):
            pass
        finally:
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await self._read(reader)
            status, kind, body = await self._answer(request)
            closes = request.close and "clinging" not in self.faults
            field = "Connection: close\r\n" if closes else ""
            head = f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\n{field}"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()
            if closes:
                return
            if "forgetful" in self.faults:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(LIMIT), 0.01)

    async def _read(self, reader: asyncio.StreamReader) -> Request:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *lines = head.strip().split("\r\n")
        method, path, _ = line.split(" ")
        pairs = (text.split(": ", 1) for text in lines)
        fields = {name.lower(): value for name, value in pairs}
        body = b""
        if "transfer-encoding" in fields and "unchunked" not in self.faults:
            while size := int(await reader.readline(), 16):
                body += (await reader.readexactly(size + 2))[:-2]
            await reader.readline()
        elif "content-length" in fields:
            body = await reader.readexactly(int(fields["content-length"]))
        return Request(method, path, body, fields.get("connection") == "close")

    async def _answer(self, request: Request) -> tuple[int, str, bytes]:
        labels = "/test/labels/"
        routes = {"/test": "POST", "/test/status": "GET"}
        wanted = "GET" if request.path.startswith(labels) else routes.get(request.path)
        if wanted is None and "fragile" in self.faults:
            os._exit(3)
        if wanted is None and self._dozes():
            await asyncio.sleep(30)
        if wanted is None:
            return (200 if "catch-all" in self.faults else 404), "text/plain", b"-"
        if request.method != wanted and "lenient" not in self.faults:
            return 405, "text/plain", b"-"
        if request.path == "/test/status":
            return 200, "text/plain", b"OK"
        if request.path != "/test":
            label = request.path.removeprefix(labels)
            return (
                200,
                "text/plain",
                (label if "literal" in self.faults else unquote(label)).encode(),
            )
        if not request.body and "hungry" in self.faults:
            return 400, "text/plain", b"-"
        await asyncio.get_running_loop().run_in_executor(self.pool, self._work)
        body = request.body[:LIMIT] if "short" in self.faults else request.body
        kind = "text/html" if "html" in self.faults else "text/plain; charset=utf-8"
        return 200, kind, b"received: " + body


async def main() -> None:
    """Serves until it is ended."""
    host, port, threads, delay_ms, *faults = sys.argv[1:]
    service = Service(int(threads), int(delay_ms), set(faults))
    host = "0.0.0.0" if "everywhere" in faults else host
    server = await asyncio.start_server(service.serve, host, int(port), limit=1 << 22)
    await server.serve_forever()


asyncio.run(main())
