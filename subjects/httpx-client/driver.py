"""A client driver around httpx: its synchronous Client, as the quick start's advice on clients.

Knows httpx; must not know how it is measured.
"""

from __future__ import annotations

import platform
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from driver_loop import drive
from driver_options import Options


class HttpClient:
    """One httpx.Client; its connection is opened by the first request."""

    def __init__(self, options: Options) -> None:
        self.opened = 0
        self._url = options.url
        # Proxies of the environment are none of the experiment's.
        self._client = httpx.Client(
            verify=options.trust or False,
            timeout=options.timeout,
            trust_env=False,
            http1=not options.http2,
            http2=options.http2,
        )
        self._http2 = options.http2
        self._stream: object = None

    async def open(self) -> None:
        """httpx has no call that only connects."""

    async def exchange(self, message: bytes) -> bytes:
        """A GET, or a POST of the message."""
        if message:
            response = self._client.post(self._url, content=message)
        else:
            response = self._client.get(self._url)
        stream = response.extensions["network_stream"]
        if stream is not self._stream:
            self._stream = stream
            self.opened += 1
        if response.status_code != httpx.codes.OK:
            raise httpx.HTTPError(f"status {response.status_code} instead of 200")
        if self._http2 and response.http_version != "HTTP/2":
            raise httpx.HTTPError(f"{response.http_version} instead of HTTP/2")
        return response.content

    async def close(self) -> None:
        """Closes the client and its pool."""
        self._client.close()


@asynccontextmanager
async def alarm(seconds: float) -> AsyncIterator[None]:
    """Bounds a blocking call as a whole: httpx's own timeouts bound each read and write."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def on_alarm(*_: object) -> None:
    """Raises where the blocking call is."""
    raise TimeoutError


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, on_alarm)
    drive(
        "httpx-client",
        f"httpx {httpx.__version__} on Python {platform.python_version()}",
        ("http", "https"),
        HttpClient,
        deadline=alarm,
    )
