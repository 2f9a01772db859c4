"""The kinds of workload in which our own engine asks servers, and which of all kinds one is.

Pure. Its fields tell: `server` makes it one of client drivers, `browser` one of a browser's
requests, `traffic` one of a file's sessions, `hold` one of held connections, `publish` one of
pushed events, `knee` a search, `rate` an open loop, and what is left is a closed one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from wiretrial.plan import AfterResponse, ClosedLoop, Hold, OpenLoop, RandomBurst
from wiretrial.studies import pushed, wording
from wiretrial.studies.by_browser import ByBrowser
from wiretrial.studies.contracts import held_sources
from wiretrial.studies.decided import Common, Highest
from wiretrial.studies.fields import (
    AFTER_RESPONSE,
    COMMON,
    OPENED,
    STEADY,
    Count,
    Counts,
    Kept,
    Knee,
    Layout,
    Length,
    Levels,
    Pacing,
    Pattern,
    pair,
)
from wiretrial.studies.played import Played
from wiretrial.studies.served import CONNECT_RATE, Executor, Served
from wiretrial.studies.sized import UNKNOWN_RATE, Shared, own_rate, share_of
from wiretrial.studies.workload import Driven, Factors, Workload, several
from wiretrial.words import CALLS

_REPLACED = frozenset({"connections", "streams", "depth", "pack"})
"""What a layout says."""


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


class Pushed(Served):
    """Receivers are held, and each of them is told what is published at a rate."""

    marks = frozenset({"publish"})
    called = "published events (`publish`)"

    publish: Levels[pushed.Rate]
    streams: Counts | None = None
    """Receivers on each connection, over HTTP/2, HTTP/3 and gRPC; None: one."""

    @model_validator(mode="after")
    def _can_be_told(self) -> Self:
        if self.contract == pushed.POLLED and self.http != ("1.1",):
            raise ValueError("long polls are of HTTP/1.1: leave `http` out")
        least = pushed.LEAST_BYTES
        if self.payload == "json" or min(self.payload or (least,)) < least:
            raise ValueError(
                f"an event says its number and its instant: `payload` is {least} bytes or more"
            )
        shares = "1.1" not in self.http or set(self.spoken) <= set(CALLS)
        if self.streams is not None and not shares:
            raise ValueError(
                '`streams` are of HTTP/2, HTTP/3 and gRPC: write http = "2", http = "3" or'
                ' protocol = "grpc", or leave `streams` out'
            )
        return self

    def levels(self) -> Factors:
        # Receivers send nothing.
        unsent: Factors = {"depth": (None,), "pack": (None,)}
        found = super().levels() | unsent | {"publish": self.publish}
        return found if self.streams is None else found | {"streams": self.streams}

    def executor(self, _levels: Mapping[str, Any]) -> Executor:
        return ClosedLoop()

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().asked(levels), "publishing": pushed.Publishing.of(self.contract, levels)}

    def load_words(self, levels: Mapping[str, Any]) -> list[str]:
        told = "long polls" if self.contract == pushed.POLLED else "held"
        return [f"{told}, {wording.words('publish', levels['publish'])}"]


class Flowing(Served):
    """Messages go on and on."""

    depth: Counts = (1,)
    streams: Counts | None = None
    """In the place of `depth` over HTTP/2 and HTTP/3, and of calls: so many in flight on each
    connection."""
    layout: Levels[Layout] | None = None
    """In the place of `connections` and `streams`: pairs of both, where a list of each makes a
    grid."""
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
            raise ValueError('`streams` are of HTTP/2 and HTTP/3: write http = "2" or http = "3"')
        if not is_plain:
            raise ValueError("`streams` take the place of `depth` and `pack`: leave these out")
        return self

    @model_validator(mode="after")
    def _has_layouts(self) -> Self:
        if self.layout is None:
            return self
        if _REPLACED & self.model_fields_set:
            raise ValueError(
                "`layout` takes the place of `connections`, `streams`, `depth` and `pack`: leave"
                " these out"
            )
        if self.contract == "ws-broadcast":
            raise ValueError("a broadcast has no streams: write `connections` instead of `layout`")
        has_streams = self.makes_calls or "1.1" not in self.http
        if not has_streams and any(pair(layout)[1] > 1 for layout in self.layout):
            raise ValueError(
                'a `layout` of several streams is of HTTP/2 and HTTP/3: write http = "2" or "3"'
            )
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
        if self.layout is not None:
            unsaid: Factors = dict.fromkeys(_REPLACED, (None,))
            found |= unsaid | {"layout": self.layout}
        return found | {"requests_per_connection": several(self.requests_per_connection)}

    def fitted(self, subject: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
        levels = super().fitted(subject, chosen)
        if "layout" in levels:
            levels["connections"], many = pair(levels["layout"])
            on_streams = self.makes_calls or levels.get("http", "1.1") != "1.1"
            levels |= {"streams": many} if on_streams else {"depth": many, "pack": 1}
        return levels


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


class Searched(_Paced, Highest, Shared):
    """The highest rate is searched for that is sustained."""

    marks = frozenset({"knee"})
    called = "a search (`knee`)"

    knee: Knee

    def executor(self, levels: Mapping[str, Any]) -> Executor:
        return OpenLoop(rate=UNKNOWN_RATE, pacing=self._pacing(levels))

    def asked(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        below = own_rate(levels)
        return {**super().asked(levels), **(below or {"knee": self.knee})}

    def load_words(self, levels: Mapping[str, Any]) -> list[str]:
        if share := share_of(levels):
            return [f"open loop {wording.words('share', share)}"]
        return [self.knee_words()]


_SERVED: tuple[type[Served], ...] = (Held, Pushed, Searched, Open, Closed)
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
