"""An HTTP server that works for a set length on each request: a tiny program with a known cost.

Usage: python -m bench.busy PORT LOOPS. It prints a line when it listens.
"""

from __future__ import annotations

import asyncio
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
END = b"\r\n\r\n"


class Busy(asyncio.Protocol):
    """One connection."""

    def __init__(self, loops: int) -> None:
        self._loops = loops
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps what is written to."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Works and answers once for each request that is whole."""
        *whole, self._rest = (self._rest + data).split(END)
        for _ in whole:
            work(self._loops)
            self._transport.write(ANSWER)


def work(loops: int) -> int:
    """Arithmetic that takes as long as there are loops."""
    found = 1
    for number in range(loops):
        found = (found * 31 + number) & 0xFFFF
    return found


async def main(port: int, loops: int) -> None:
    """Serves until it is ended."""
    server = await asyncio.get_running_loop().create_server(lambda: Busy(loops), "127.0.0.1", port)
    async with server:
        print("ready", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
