"""What is sent is called by its name: HTTP has requests, its streams events, gRPC calls, all else
messages.

Knows protocols by the scheme of their URLs; must not know what is said about them. Whoever names
what is sent asks here, so that a run, its verdict and its report have the same word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from wiretrial.plan import Target


@dataclass(frozen=True)
class Noun:
    """One of them, and several."""

    one: str
    many: str

    def in_text(self, template: str) -> str:
        """The text with the noun in place of `{message}` and `{messages}`."""
        return template.replace("{messages}", self.many).replace("{message}", self.one)


MESSAGE: Final = Noun("message", "messages")
REQUEST: Final = Noun("request", "requests")
CALL: Final = Noun("call", "calls")
EVENT: Final = Noun("event", "events")
ROUTE: Final = Noun("route", "routes")
STEP: Final = Noun("step", "steps")
SESSION: Final = Noun("session", "sessions")
HTTP: Final = ("http", "https")
SOCKETS: Final = ("ws", "wss")
MULTIPLEXED: Final = ("h2c", "h2")
"""HTTP/2, without TLS and inside it."""
QUIC: Final = "h3"
"""HTTP/3, as ALPN names it."""
CALLS: Final = ("grpc", "grpcs")


def of(protocol: str) -> Noun:
    """Of one protocol."""
    if protocol in CALLS:
        return CALL
    return REQUEST if protocol in (*HTTP, *MULTIPLEXED, QUIC) else MESSAGE


def carrier(url: str) -> str:
    """What carries one message at a time on a connection of HTTP/2."""
    return "WebSocket" if url.partition("://")[0] in SOCKETS else "stream"


def part_of(what: Noun) -> Noun:
    """What sessions are made of, where this is what is sent."""
    return ROUTE if what == REQUEST else STEP


def counted(what: Noun) -> Noun:
    """What is counted of sessions: requests; of conversations steps, not all of which are sent."""
    return REQUEST if what == REQUEST else STEP


def of_url(url: str) -> Noun:
    """Of what is sent to the URL."""
    return of(url.partition("://")[0].lower())


def of_target(target: Target) -> Noun:
    """Of what a plan counts: of streams of events, what they tell."""
    return EVENT if target.http.sse else of_url(target.url)


def of_all(protocols: Iterable[str]) -> Noun:
    """Of several protocols together: requests only where all of them have requests."""
    nouns = {of(protocol) for protocol in protocols}
    return nouns.pop() if len(nouns) == 1 else MESSAGE
