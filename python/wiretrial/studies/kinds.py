"""The kinds of workload in which our own engine asks servers, and which of all kinds one is.

Pure. Its fields tell: `server` makes it one of client drivers, `browser` one of a browser's
requests, `traffic` one of a file's sessions, `hold` one of held connections, `knee` a search,
`rate` an open loop, and what is left is a closed one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from wiretrial.plan import (
    SECURE,
    AfterResponse,
    ClosedLoop,
    Deflate,
    HeaderProfile,
    Hold,
    HttpVersion,
    Load,
    OpenLoop,
    RandomBurst,
    StatusContent,
    Styx,
    WebSocket,
)
from wiretrial.studies import environments, wording
from wiretrial.studies.by_browser import ByBrowser
from wiretrial.studies.calling import Calling
from wiretrial.studies.contracts import FRESH_SOURCES, Request, held_sources
from wiretrial.studies.decided import Common, Highest
from wiretrial.studies.fields import (
    AFTER_RESPONSE,
    COMMON,
    KEPT,
    OPENED,
    STEADY,
    Count,
    Counts,
    Fit,
    Kept,
    Knee,
    Length,
    Levels,
    Nanoseconds,
    Pacing,
    Pattern,
    Rules,
)
from wiretrial.studies.played import Played
from wiretrial.studies.sized import UNKNOWN_RATE, Limited, Shared, own_rate, share_of
from wiretrial.studies.workload import Driven, Factors, Workload, several
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
    http: Levels[HttpVersion] = ("1.1",)
    """Versions of HTTP, of http and https."""
    header_profile: Levels[HeaderProfile] | None = None
    """Ten header fields like those of a browser, and which of them are new in each request, of http
    and https; None: none of them."""
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
    duration: Nanoseconds | None = None
    warmup: Nanoseconds | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        spoken = set(self.spoken)
        if not spoken <= set(HTTP) and (self.method or self.expect_status):
            called = "; which method of gRPC is called, `call` says" if self.makes_calls else ""
            raise ValueError(f"`method` and `expect_status` are for http and https{called}")
        if any(version != "1.1" for version in self.http) and not spoken <= set(HTTP):
            why = "servers of ws and wss are compared by `wiretrial compare URL URL --http 2`"
            if self.makes_calls:
                why = "gRPC is HTTP/2 always: leave it out"
            raise ValueError(f'`http = "2"` is for http and https; {why}')
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
        if self.header_profile is not None:
            found["header_profile"] = self.header_profile
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
        if "header_profile" in levels:
            http["header_profile"] = levels["header_profile"]
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
            depth=levels["depth"] or levels["streams"],
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
            "delay_ms": 0 if is_table else levels["delay_ms"],
            "styx": Styx(
                table_size=levels["table_size"],
                lobby=levels["lobby"] == "on",
                delay_ms=levels["delay_ms"],
            )
            if is_table
            else Styx(),
        }


class Held(Served):
    """Connections are opened, stand idle, and are then asked one message each."""

    marks = frozenset({"hold"})
    called = "held connections (`hold`)"

    hold: Length
    """How long they stand idle."""

    @property
    def ranked_by(self) -> str | None:
        return CONNECT_RATE

    @property
    def is_steady(self) -> bool:
        return False

    def executor(self, _levels: Mapping[str, Any]) -> Executor:
        return Hold(idle_ns=self.hold)

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().asked(levels), "sources": held_sources(levels["connections"])}

    def load_words(self, _levels: Mapping[str, Any]) -> list[str]:
        return [f"held idle for {self.hold / 1e9:g} s, then a message each"]


class Flowing(Served):
    """Messages go on and on."""

    depth: Counts = (1,)
    streams: Counts | None = None
    """In the place of `depth` over HTTP/2, and of calls: so many in flight on each connection."""
    pack: Counts = (1,)
    """Messages per send; no fewer are in flight on each connection."""
    requests_per_connection: Levels[Count | Kept] | None = None
    """Requests after which a connection is opened anew; `kept` or None: never. `opened`: never
    either, and its set-up is part of the time (with `requests_each`)."""

    @model_validator(mode="after")
    def _has_streams(self) -> Self:
        is_plain = self.depth == (1,) and self.pack == (1,)
        if self.streams is None and self.makes_calls and not is_plain:
            raise ValueError(
                "calls in flight on each connection are `streams`: write those instead"
            )
        if self.streams is None:
            return self
        if "1.1" in self.http and not self.makes_calls:
            raise ValueError('`streams` are of HTTP/2: write http = "2"')
        if not is_plain:
            raise ValueError("`streams` take the place of `depth` and `pack`: leave these out")
        return self

    @model_validator(mode="after")
    def _stays(self) -> Self:
        if self.requests_per_connection is not None and self.contract in ("table", "ws-broadcast"):
            raise ValueError(
                f"connections of the contract {self.contract} stay: leave"
                " `requests_per_connection` out"
            )
        if OPENED in (self.requests_per_connection or ()) and not self.ends_each:
            raise ValueError('requests_per_connection = "opened" needs `requests_each`')
        return self

    @property
    def ends_each(self) -> bool:
        """Whether each connection comes to its own end."""
        return False

    def levels(self) -> Factors:
        found = super().levels() | {"depth": self.depth, "pack": self.pack}
        streams = self.streams or ((1,) if self.makes_calls else None)
        if streams is not None:
            found |= {"depth": (None,), "pack": (None,), "streams": streams}
        return found | {"requests_per_connection": several(self.requests_per_connection)}


class Closed(Flowing, Shared):
    """Each connection goes on with the reply, for a time or for a number of messages."""

    called = "a closed loop"

    pattern: Levels[Pattern] = (STEADY,)
    requests: Counts | None = None
    """Stop after so many messages, instead of after the study's duration."""
    requests_each: Counts | None = None
    """The same for each connection, which is closed then: producers that come to their end."""
    together: Count = 1
    """So many of its trials run at the same time: for those that mostly wait, and have a floor."""

    @model_validator(mode="after")
    def _goes_on(self) -> Self:
        if self.requests and self.requests_each:
            raise ValueError("`requests` and `requests_each` exclude each other")
        if self.shares and (self.requests or self.requests_each or not self.is_steady):
            raise ValueError(
                "`shares` are of a rate over time: leave `requests`, `requests_each` and `pattern`"
                " out"
            )
        dense = self.depth != (1,) or self.requests_per_connection is not None
        if dense and not self.is_steady:
            raise ValueError(
                "a burst is one pack for each kept connection: leave `depth` and"
                " `requests_per_connection` out"
            )
        return self

    @property
    def at_a_time(self) -> int:
        return self.together

    @property
    def is_closed(self) -> bool:
        return True

    @property
    def ends_each(self) -> bool:
        return self.requests_each is not None

    def levels(self) -> Factors:
        found = super().levels() | {"requests": several(self.requests)}
        found["requests_each"] = several(self.requests_each)
        return found if self.is_steady else found | {"pattern": self.pattern}

    @property
    def is_steady(self) -> bool:
        return self.pattern == (STEADY,)

    def executor(self, levels: Mapping[str, Any]) -> Executor:
        if share_of(levels):
            return OpenLoop(rate=UNKNOWN_RATE)
        return ClosedLoop() if levels.get("pattern", STEADY) == STEADY else RandomBurst()

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().asked(levels), **own_rate(levels)}

    def load_words(self, levels: Mapping[str, Any]) -> list[str]:
        if share := share_of(levels):
            return [f"open loop {wording.words('share', share)}"]
        bursts = levels.get("pattern", STEADY) != STEADY
        return ["closed loop, random bursts" if bursts else "closed loop"]


class _Paced(Flowing):
    pacing: Levels[Pacing] = ("constant",)
    """When messages are due. `phased`: each connection has instants of its own. `after-response`:
    no open loop, each connection's next message goes so long after a reply."""

    def levels(self) -> Factors:
        found = super().levels()
        return found | {"pacing": self.pacing} if len(self.pacing) > 1 else found

    def _pacing(self, levels: Mapping[str, Any]) -> Any:
        return levels.get("pacing", self.pacing[0])


class Open(_Paced, Common):
    """Messages are due at a rate, whoever has replied."""

    marks = frozenset({"rate", "rate_each"})
    called = "an open loop (`rate`, `rate_each`)"

    rate_each: float | None = Field(default=None, gt=0)
    """Of each connection, messages per second: the rate grows with the connections."""
    requests: Counts | None = None
    """Stop after so many messages, instead of after the study's duration."""

    @model_validator(mode="after")
    def _is_due(self) -> Self:
        if (self.rate is None) == (self.rate_each is None):
            raise ValueError("`rate` is of all connections, `rate_each` of one: give one of both")
        if AFTER_RESPONSE in self.pacing and self.rate_each is None:
            raise ValueError('pacing = "after-response" needs `rate_each`')
        return self

    def levels(self) -> Factors:
        own = {"rate": several(self.rate), "requests": several(self.requests)}
        return super().levels() | own

    def executor(self, levels: Mapping[str, Any]) -> Executor:
        pacing, rate = self._pacing(levels), levels["rate"]
        if self.rate_each and pacing == AFTER_RESPONSE:
            return AfterResponse(pause_ns=round(1e9 / self.rate_each))
        if self.rate_each:
            return OpenLoop(rate=levels["connections"] * self.rate_each, pacing=pacing)
        return OpenLoop(rate=UNKNOWN_RATE if rate == COMMON else rate, pacing=pacing)

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().asked(levels), **self.common_rate()}

    def load_words(self, levels: Mapping[str, Any]) -> list[str]:
        if self.rate_each is None:
            return [f"open loop {wording.words('rate', levels['rate'])}"]
        pacing = wording.words("pacing", self._pacing(levels))
        return [f"{self.rate_each:g}/s from each, {pacing}"]


class Searched(_Paced, Highest):
    """The highest rate is searched for that is sustained."""

    marks = frozenset({"knee"})
    called = "a search (`knee`)"

    knee: Knee

    def executor(self, levels: Mapping[str, Any]) -> Executor:
        return OpenLoop(rate=UNKNOWN_RATE, pacing=self._pacing(levels))

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().asked(levels), "knee": self.knee}

    def load_words(self, _levels: Mapping[str, Any]) -> list[str]:
        return [self.knee_words()]


_SERVED: tuple[type[Served], ...] = (Held, Searched, Open, Closed)
_APART: tuple[type[Workload], ...] = (Driven, ByBrowser, Played)
"""Whose marks count before any other's."""


def _of_its_kind(written: Any) -> Any:
    """The workload that these fields describe. One of another kind's is named with those kinds."""
    if not isinstance(written, Mapping):
        return written
    kind = next((one for one in (*_APART, *_SERVED) if one.marks & written.keys()), Closed)
    quick = written.get("quick")
    for field in (*written, *(quick if isinstance(quick, Mapping) else ())):
        homes = [one for one in (*_SERVED, *_APART) if field in one.model_fields]
        if homes and kind not in homes:
            others = " or ".join(one.called for one in homes)
            where = "without `server`" if set(homes) == set(_SERVED) else f"with {others}"
            raise ValueError(f"`{field}` is for workloads {where}; this one has {kind.called}")
    return kind.model_validate(written)


AnyWorkload = Annotated[Workload, BeforeValidator(_of_its_kind)]
