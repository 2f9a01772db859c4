"""A client driver around grpcio: unary calls on a channel, blocking ones, or tuned, on asyncio.

Knows grpcio; must not know how it is measured.
"""

from __future__ import annotations

import platform
from typing import Any
from urllib.parse import urlsplit

import grpc
from driver_loop import drive
from driver_options import Options
from echo_pb2 import Message
from echo_pb2_grpc import EchoStub

OWN = (("grpc.use_local_subchannel_pool", 1),)
"""Else a channel takes the connection of one that was closed."""


class EchoClient:
    """One channel, and a stub on it. A channel's first call opens its connection."""

    def __init__(self, options: Options) -> None:
        self.opened = 0
        self._options = options
        self._channel: Any = None
        self._echo: Any = None

    async def open(self) -> None:
        """Makes the channel, which belongs to the loop that runs now."""
        of = grpc.aio if self._options.tuned else grpc
        target = urlsplit(self._options.url).netloc
        if self._options.authority:
            trust = grpc.ssl_channel_credentials(self._options.authority)
            self._channel = of.secure_channel(target, trust, options=OWN)
        else:
            self._channel = of.insecure_channel(target, options=OWN)
        self._echo = EchoStub(self._channel)

    async def exchange(self, message: bytes) -> bytes:
        """A unary call, bounded by its own deadline."""
        try:
            called = self._echo.Unary(Message(content=message), timeout=self._options.timeout)
            reply = await called if self._options.tuned else called
        except grpc.RpcError as error:
            raise ConnectionError(f"{error.code().name}: {error.details()}") from None
        self.opened = 1
        content: bytes = reply.content
        return content

    async def close(self) -> None:
        """Closes the channel and its connection."""
        closed = self._channel.close()
        if self._options.tuned:
            await closed


if __name__ == "__main__":
    drive(
        "grpcio-client",
        f"grpcio {grpc.__version__} on Python {platform.python_version()}",
        ("grpc", "grpcs"),
        EchoClient,
    )
