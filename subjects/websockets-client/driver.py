"""A client driver around websockets: its asyncio client.

Knows websockets; must not know how it is measured.
"""

from __future__ import annotations

import platform
from importlib.metadata import version

import uvloop
import websockets
from driver_loop import drive
from driver_options import Options
from websockets.asyncio.client import ClientConnection, connect


class SocketClient:
    """One WebSocket."""

    def __init__(self, options: Options) -> None:
        self.opened = 0
        self._options = options
        self._connection: ClientConnection | None = None

    async def open(self) -> None:
        """The upgrade; messages of any size are read, where the default ends at 1 MiB."""
        self._connection = await connect(
            self._options.url,
            ssl=self._options.trust,
            # Proxies of the environment are none of the experiment's.
            proxy=None,
            max_size=None,
            compression=None if self._options.tuned else "deflate",
        )
        self.opened += 1

    async def exchange(self, message: bytes) -> bytes:
        """The message, and the next one that comes."""
        assert self._connection is not None
        await self._connection.send(message)
        reply = await self._connection.recv()
        if isinstance(reply, str):
            raise websockets.InvalidMessage("a text message instead of a binary one")
        return reply

    async def close(self) -> None:
        """The closing handshake."""
        if self._connection:
            await self._connection.close()


if __name__ == "__main__":
    drive(
        "websockets-client",
        f"websockets {version('websockets')} on Python {platform.python_version()}",
        ("ws", "wss"),
        SocketClient,
        tuned_loop=uvloop.new_event_loop,
    )
