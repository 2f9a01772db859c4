"""What all workloads share in which our own engine asks servers.

Pure. Knows what is asked, of whom and over what; must not know who sends next, and when.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from wiretrial.plan import (
    SECURE,
    AfterResponse,
    AnyHttpVersion,
    ClosedLoop,
    Congestion,
    Deflate,
    HeaderProfile,
    Hold,
    Load,
    OpenLoop,
    RandomBurst,
    StatusContent,
    Styx,
    WebSocket,
)
from wiretrial.studies import behind, environments, handshakes, pushed
from wiretrial.studies.calling import Calling
from wiretrial.studies.contracts import FRESH_SOURCES, Request
from wiretrial.studies.fields import KEPT, OPENED, Counts, Fit, Levels, Nanoseconds, Rules, Share
from wiretrial.studies.sized import Limited
from wiretrial.studies.workload import Factors
from wiretrial.subjects.spec import Protocol
from wiretrial.words import CALLS, HTTP

Executor = ClosedLoop | OpenLoop | AfterResponse | Hold | RandomBurst

CONNECT_RATE = "connect_rate"
"""Key of the figure that held connections are ranked by."""
NUMBER_BYTES = 16
MOST_IN_BROADCAST = 1000
"""What the load generator can tell apart of a broadcast."""
_BY_KIND = ("requests_per_connection", "requests_each", "rate", "requests")
"""Factors that only some kinds have."""


class Served(Calling, Limited):
    """The subjects are servers, and our own engine asks them."""

    method: str | None = None
    """HTTP method; None: the contract's own."""
    headers: dict[str, str] = Field(default_factory=dict)
    """HTTP headers, or metadata of calls, beside the study's."""
    expect: Rules | None = None
    """What a right reply carries; None: what the contract says."""
    expect_status: int | None = Field(default=None, ge=100, le=599)
    """The right HTTP status; None: 200."""
    connections: Counts = (32,)
    http: Levels[AnyHttpVersion] = ("1.1",)
    """Versions of HTTP, of http and https; 3 of https alone."""
    header_profile: Levels[HeaderProfile] | None = None
    """Ten header fields like those of a browser, and which of them are new in each request, of http
    and https; None: none of them."""
    handshake: Levels[handshakes.Handshake] | None = None
    """How connections are set up inside TLS; None: earlier sessions are resumed."""
    congestion: Levels[Congestion] | None = None
    """Who decides on both sides how much may be on its way; None: over TCP the kernel's default,
    over HTTP/3 cubic."""
    copies: Annotated[int, Field(ge=1, le=200)] | Fit = 1
    """Starts of the same server on addresses of their own; `fit`: as many as descriptors need."""
    deflate: Levels[bool] = (False,)
    """Whether messages are compressed (permessage-deflate)."""
    protocol_of: dict[str, Protocol] = Field(default_factory=dict)
    """Subjects that carry the contract over another protocol than the others."""
    rank: Literal["bandwidth", "server"] | None = None
    """What scenarios are ranked by; None: what their load suggests."""
    delay_ms: Levels[Annotated[int, Field(ge=0)]] = (0,)
    """How long the server waits in its handler (`rest`), or a table first (`table`)."""
    table_size: Counts = (1,)
    """Players at each table (`table`): so many copies has each message."""
    lobby: Levels[Literal["off", "on"]] = ("off",)
    """Whether the players look at the lobby (`table`), and are sent snapshots of it."""
    backend: Levels[behind.Behaviour] | None = None
    """What the server behind a proxy does wrong, and how often; None: nothing."""
    allow_errors: Share | None = None
    """In place of the study's: the share of messages that may fail."""
    duration: Nanoseconds | None = None
    warmup: Nanoseconds | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        spoken = set(self.spoken)
        if not spoken <= set(HTTP) and (self.method or self.expect_status):
            called = "; which method of gRPC is called, `call` says" if self.makes_calls else ""
            raise ValueError(f"`method` and `expect_status` are for http and https{called}")
        other = next((version for version in self.http if version != "1.1"), None)
        if other and not spoken <= set(HTTP):
            why = "servers of ws and wss are compared by `wiretrial compare URL URL --http 2`"
            if self.makes_calls:
                why = "gRPC is HTTP/2 always: leave it out"
            raise ValueError(f'`http = "{other}"` is for http and https; {why}')
        if "3" in self.http and "http" in spoken:
            raise ValueError('`http = "3"` is for https alone: QUIC is always encrypted')
        if self.makes_calls and not isinstance(self.expect, StatusContent | None):
            raise ValueError(
                "the contract says what a right reply to a call is: leave `expect` out, or write"
                ' expect = "status"'
            )
        if self.header_profile and not spoken <= set(HTTP):
            raise ValueError("`header_profile` is for http and https")
        if self.headers and {"tcp", "tls", "styx"} & spoken:
            raise ValueError(
                "`headers` are for protocols with a request: http, https, ws, wss, grpc, grpcs"
            )
        if any(self.deflate) and not spoken <= {"ws", "wss"}:
            raise ValueError("only ws and wss compress messages")
        elsewhere = self.environment != (environments.LOOPBACK,)
        if self.copies != 1 and (elsewhere or SECURE & spoken):
            raise ValueError("copies are on addresses of loopback, without TLS")
        if self.contract == "table":
            if self.payload is not None:
                raise ValueError("players carry no payload: leave it out")
        elif self.table_size != (1,) or self.lobby != ("off",):
            raise ValueError("`table_size` and `lobby` are for the contract `table`")
        if (self.contract in pushed.CONTRACTS) != ("publish" in self.marks):
            raise ValueError("`publish` and the contracts `push` and `long-poll` go together")
        if self.contract == "ws-broadcast":
            if not self.is_steady:
                raise ValueError(
                    "a broadcast goes to steady connections: leave `hold` and `pattern` out"
                )
            if self.payload == "json" or min(self.payload or (20,)) < NUMBER_BYTES:
                raise ValueError(
                    f"a broadcast carries numbers: `payload` is {NUMBER_BYTES} or more"
                )
            if max(self.connections) > MOST_IN_BROADCAST:
                raise ValueError(f"a broadcast has {MOST_IN_BROADCAST} connections at most")
        return self

    @model_validator(mode="after")
    def _is_carried(self) -> Self:
        if self.handshake:
            handshakes.require(self.handshake, self.spoken, self.http)
        return self

    @property
    def spoken(self) -> tuple[Protocol, ...]:
        return (*self.protocol, *self.protocol_of.values())

    @property
    def ranked_by(self) -> str | None:
        return self.rank

    @property
    def is_steady(self) -> bool:
        """Whether every connection is asked all the time."""
        return True

    def levels(self) -> Factors:
        found = super().levels()
        found |= {"connections": self.connections, "delay_ms": self.delay_ms}
        found |= {"depth": (1,), "pack": (1,)} | dict.fromkeys(_BY_KIND, (None,))
        if self.http != ("1.1",):
            found["http"] = self.http
        said: dict[str, Any] = {
            "header_profile": self.header_profile,
            "handshake": self.handshake,
            "congestion": self.congestion,
            "backend": self.backend,
        }
        found |= {name: levels for name, levels in said.items() if levels is not None}
        if any(self.deflate):
            found["deflate"] = tuple("on" if on else "off" for on in self.deflate)
        if self.contract == "table":
            found |= {"table_size": self.table_size, "lobby": self.lobby}
        return found

    def fitted(self, subject: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
        levels = super().fitted(subject, chosen)
        levels["protocol"] = self.protocol_of.get(subject, levels["protocol"])
        if levels["depth"] is not None:
            levels["depth"] = max(levels["depth"], levels["pack"])
        return levels

    def request(self, levels: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
        usual = super().request(levels, headers)
        http: dict[str, Any] = {"version": levels.get("http", "1.1")}
        if levels["protocol"] in (*HTTP, "ws", "wss", *CALLS):
            # A study's own header replaces the contract's.
            own = {**headers, **self.headers}
            replaced = {name.lower() for name in own}
            kept = [pair for pair in usual.http.headers if pair[0].lower() not in replaced]
            http["headers"] = (*kept, *own.items())
        said = ("header_profile", "congestion")
        http |= {name: levels[name] for name in said if name in levels}
        if handshakes.is_early(levels.get("handshake")):
            http["early_data"] = True
        if self.method:
            http["method"] = self.method.upper()
        expect = {"content": self.expect, "status": self.expect_status}
        told = {name: value for name, value in expect.items() if value is not None}
        return usual._replace(
            http=usual.http.model_copy(update=http), expect=usual.expect.model_copy(update=told)
        )

    def executor(self, levels: Mapping[str, Any]) -> Executor:
        """Who sends next."""
        raise NotImplementedError

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        renewed = levels["requests_per_connection"]
        # So it is opened when the load begins, and closed with its last message.
        after = levels["requests_each"] if renewed == OPENED else renewed
        load = Load(
            connections=levels["connections"],
            depth=levels["depth"] or levels.get("streams", 1),
            pack=levels["pack"] or 1,
            requests_per_connection=None if after == KEPT else after,
            executor=self.executor(levels),
        )
        # Connections that are opened once need no more ports than there are of them.
        opens = load.requests_per_connection is not None and renewed != OPENED
        is_table = self.contract == "table"
        return {
            "load": load,
            "sources": FRESH_SOURCES if opens else (),
            "copies": self.copies,
            "websocket": WebSocket(deflate=Deflate() if levels.get("deflate") == "on" else None),
            "requests": levels["requests"],
            "requests_each": levels["requests_each"],
            "duration_ns": self.duration,
            "warmup_allowance_ns": self.warmup,
            "backend": behind.flags(levels.get("backend")),
            "allow_errors": self.allow_errors,
            "delay_ms": 0 if is_table else levels["delay_ms"],
            "styx": Styx(
                table_size=levels["table_size"],
                lobby=levels["lobby"] == "on",
                delay_ms=levels["delay_ms"],
            )
            if is_table
            else Styx(),
        }
