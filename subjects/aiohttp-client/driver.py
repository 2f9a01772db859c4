"""A client driver around aiohttp: a ClientSession for HTTP, and its WebSocket.

Knows aiohttp; must not know how it is measured.
"""

from __future__ import annotations

import platform
from typing import Any

import aiohttp
from driver_loop import Client, drive
from driver_options import Options


class Connector(aiohttp.TCPConnector):
    """The usual connector, counting what it opens."""

    def __init__(self, options: Options) -> None:
        super().__init__(ssl=options.trust or True)
        self.opened = 0
        self._transport: object = None

    async def connect(self, *args: Any, **kwargs: Any) -> aiohttp.connector.Connection:
        """A connection from the pool, or a new one."""
        connection = await super().connect(*args, **kwargs)
        if connection.transport is not self._transport:
            self._transport = connection.transport
            self.opened += 1
        return connection


class HttpClient:
    """One session; its connection is opened by the first request."""

    def __init__(self, options: Options) -> None:
        self._url = options.url
        self._connector = Connector(options)
        self._session = aiohttp.ClientSession(connector=self._connector)

    @property
    def opened(self) -> int:
        """Connections that it opened so far."""
        return self._connector.opened

    async def open(self) -> None:
        """aiohttp has no call that only connects."""

    async def exchange(self, message: bytes) -> bytes:
        """A GET, or a POST of the message."""
        method = "POST" if message else "GET"
        async with self._session.request(method, self._url, data=message or None) as response:
            content = await response.read()
        if response.status != 200:
            raise aiohttp.ClientError(f"status {response.status} instead of 200")
        return content

    async def close(self) -> None:
        """Closes the session and its pool."""
        await self._session.close()


class SocketClient:
    """One session with one WebSocket."""

    def __init__(self, options: Options) -> None:
        self.opened = 0
        self._url = options.url
        self._session = aiohttp.ClientSession(connector=Connector(options))
        self._socket: aiohttp.ClientWebSocketResponse | None = None

    async def open(self) -> None:
        """The upgrade; messages of any size are read, where aiohttp's default ends at 4 MiB."""
        self._socket = await self._session.ws_connect(self._url, max_msg_size=0)
        self.opened += 1

    async def exchange(self, message: bytes) -> bytes:
        """The message, and the next one that comes."""
        assert self._socket is not None
        await self._socket.send_bytes(message)
        reply = await self._socket.receive()
        if reply.type is aiohttp.WSMsgType.BINARY:
            return bytes(reply.data)
        why = self._socket.exception() or f"{reply.type.name} instead of a binary message"
        raise aiohttp.ClientError(why)

    async def close(self) -> None:
        """The closing handshake, and the session."""
        try:
            if self._socket:
                await self._socket.close()
        finally:
            await self._session.close()


def make_client(options: Options) -> Client:
    """The client for the URL's protocol."""
    return SocketClient(options) if options.url.startswith("ws") else HttpClient(options)


if __name__ == "__main__":
    drive(
        "aiohttp-client",
        f"aiohttp {aiohttp.__version__} on Python {platform.python_version()}",
        ("http", "https", "ws", "wss"),
        make_client,
    )
