"""What the page is asked to measure, and what it tells of that. Mirrors `assets/measure.js`.

Knows names and types; must not know pages or browsers. The page counts in milliseconds from the
first request, as browsers do; everything here that ends in `_ns` is nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from hdrh.histogram import HdrHistogram
from pydantic import BaseModel, ConfigDict, Field

Transport = Literal["fetch", "websocket", "socket.io"]
Http = Literal["1.1", "1.1 over TLS", "2"]
"""`2` is inside TLS: browsers speak it there only."""
Urls = Literal["same", "unique"]
CacheMode = Literal["default", "no-store"]
Pattern = Literal["parallel", "sequential"]

LIMIT = 6
"""Connections that browsers open to one server over HTTP/1.1. Both of today's engines do; what a
trial had under way is measured, and this stands only for how many are opened before it."""
MOST_REQUESTS = 2000
HIGHEST_NS = 3_600_000_000_000


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Job(_Part):
    """One measurement."""

    transport: Transport
    base: str
    """Scheme, host and port, as of HTTP; a WebSocket's are made from it."""
    path: str
    """Where a GET goes."""
    socket_path: str = "/"
    """Where a WebSocket is opened."""
    urls: Urls = "same"
    """Whether all requests ask for one URL, or each for its own."""
    cache: CacheMode = "default"
    pattern: Pattern = "parallel"
    requests: int = Field(default=50, ge=1, le=MOST_REQUESTS)
    window_ms: int | None = Field(default=None, ge=1, le=600_000)
    """Of a sequence: so long instead of so many; None: so many."""
    warmup: int = Field(default=LIMIT, ge=1)
    """Requests to other URLs before, all at once: they open the connections."""
    timeout_ms: int = 60_000


class Asked(_Part):
    """One request, and when it went out on its connection (`began`) until its reply's last byte was
    there (`ended`), as the browser tells; None: it does not, or the request never went out."""

    sent: float = Field(ge=0)
    began: float | None = None
    ended: float | None = None
    done: float = Field(ge=0)

    @property
    def round_trip_ns(self) -> int:
        """From the call to the verified reply."""
        return max(1, round((self.done - self.sent) * 1e6))


class Outcome(_Part):
    """What became of a job."""

    agent: str
    """The browser, as it calls itself."""
    protocol: str
    """What was spoken: `http/1.1`, `h2`, `websocket`."""
    setup_ms: tuple[float, ...]
    """Of each connection that was opened before: TCP, TLS, and the upgrade of a WebSocket."""
    connections: int = Field(ge=0)
    """Opened in all."""
    requests: tuple[Asked, ...]
    """Those that were answered rightly."""
    failed: tuple[str, ...] = ()
    """Why others were not."""
    revalidated: int = Field(default=0, ge=0)
    """Replies of which only the head came: the browser's cache had the rest."""
    from_cache: int = Field(default=0, ge=0)
    """Replies of which nothing came at all."""

    @property
    def elapsed_ns(self) -> int:
        """From the first request to the last right reply."""
        first = min((one.sent for one in self.requests), default=0.0)
        last = max((one.done for one in self.requests), default=0.0)
        return max(1, round((last - first) * 1e6))

    @property
    def under_way(self) -> int:
        """The most requests that were out at once; 0 where the browser does not tell."""
        steps = sorted(
            step
            for one in self.requests
            if one.began is not None and one.ended is not None and one.ended > one.began
            for step in ((one.began, 1), (one.ended, -1))
        )
        most = now = 0
        for _, change in steps:
            now += change
            most = max(most, now)
        return most

    def round_trips(self) -> HdrHistogram:
        """The distribution of the requests' times, nanoseconds."""
        return _histogram(one.round_trip_ns for one in self.requests)

    def setups(self) -> HdrHistogram:
        """The distribution of the set-ups' times, nanoseconds."""
        return _histogram(max(1, round(ms * 1e6)) for ms in self.setup_ms)


def _histogram(values: Iterable[int]) -> HdrHistogram:
    found = HdrHistogram(1, HIGHEST_NS, 3)
    for value in values:
        found.record_value(value)
    return found
