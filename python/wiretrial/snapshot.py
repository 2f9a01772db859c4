"""What the engine prints, one JSON object a line. Mirrors `wiretrial-engine schema snapshot`.

Knows names and types; must not know what is done with them. All times are nanoseconds; `start_ns`
and `end_ns` are offsets from the run's start on the engine's monotonic clock.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
)

SNAPSHOT_SCHEMA: Final = "wiretrial-snapshot"
SNAPSHOT_VERSION: Final = 1

Phase = Literal["connect", "warm-up", "measure", "drain"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Learned(_Part):
    """What the first reply carried, taken to be right. `echo`: it was the request's own payload.

    `excerpt`: its first 120 bytes; what can't be printed is escaped. `varies`: others may differ.
    """

    bytes: int
    excerpt: str
    echo: bool
    varies: bool = False

    def words(self) -> str:
        """It in words, on one line."""
        begin = "the first one" if self.varies else "learned"
        if not self.bytes:
            return f"{begin}: no content"
        unit = "byte" if self.bytes == 1 else "bytes"
        echo = " (an echo of the request)" if self.echo else ""
        shown = f", {self.excerpt}" if self.excerpt else ""
        return f"{begin}: {self.bytes:,} {unit}{echo}{shown}"


class TrafficNames(_Part):
    """Names of routes and flows, by whose order figures are given."""

    routes: tuple[str, ...]
    flows: tuple[str, ...]


class RouteFigures(_Part):
    """Messages of a route. Over a whole run: sent = ok + the sum of errors + in_flight.

    `histograms`: `response_time` (open loop) and `service_time`. `examples`: of a whole run only.
    `checked`: replies of the sample, `wrong` of them; `left_out`: too many waited to be checked.
    """

    sent: int = 0
    ok: int = 0
    errors: dict[str, int] = Field(default_factory=dict)
    in_flight: int = 0
    checked: int = 0
    wrong: int = 0
    left_out: int = 0
    followed: int = 0
    """Redirects, which are no messages of their own."""
    blocked: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    examples: dict[str, str] = Field(default_factory=dict)
    histograms: dict[str, str] = Field(default_factory=dict)


class FlowFigures(_Part):
    """Sessions of a flow. Over a whole run: begun = done + the sum of failed + open.

    `failed`: by the class of what failed; `feed` where no row of data was left. `unasked`: of
    conversations, messages that nothing awaited matches, by kind. `histograms`: `iteration_time`
    and `session_wait`.
    """

    begun: int = 0
    done: int = 0
    failed: dict[str, int] = Field(default_factory=dict)
    unasked: dict[str, int] = Field(default_factory=dict)
    open: int = 0
    histograms: dict[str, str] = Field(default_factory=dict)


class TrafficFigures(_Part):
    """Traffic of an interval or a run, routes and flows in the order of the plan.

    Open loop: `waiting` sessions were due and have not begun; `dropped` ones never did.
    """

    routes: tuple[RouteFigures, ...]
    flows: tuple[FlowFigures, ...]
    waiting: int = 0
    dropped: int = 0


class Spoken(_Part):
    """Which HTTP is spoken, and from where that is known.

    `streams`: those that the server lets be open at once on a connection; None: any number, or
    HTTP/3. `window`, `connection_window`: what it may send before it is allowed more, bytes, over
    HTTP/2.
    """

    version: Literal["1.1", "2", "3"]
    by: Literal["alpn", "no-alpn", "prior-knowledge"]
    streams: int | None = None
    window: int | None = None
    connection_window: int | None = None

    def words(self) -> str:
        """`HTTP/2, agreed on by ALPN`."""
        by = {
            "alpn": "agreed on by ALPN",
            "no-alpn": "as the server agrees on nothing by ALPN",
            "prior-knowledge": "without TLS",
        }
        return f"HTTP/{self.version}, {by[self.by]}"


class Http2Figures(_Part):
    """What came in the way of messages over HTTP/2. Times count when they are over.

    `sends_held` messages had content that waited for a window of the server's: for its stream's, or
    for the connection's alone. `streams_exhausted` and `connections_exhausted`: how often replies
    had used up our own windows, and for how long.
    """

    goaways: int = 0
    refused: int = 0
    sends_held: int = 0
    held_by_stream_ns: int = 0
    held_by_connection_ns: int = 0
    streams_exhausted: int = 0
    stream_exhausted_ns: int = 0
    connections_exhausted: int = 0
    connection_exhausted_ns: int = 0


class Http3Figures(_Part):
    """What came in the way of messages over HTTP/3, and how QUIC carried them.

    All but `refused` is counted when a connection ends. `sends`, `receives`: calls to the kernel.
    `datagrams_dropped`: by this machine, whose buffer was full. `black_holes`: how often datagrams
    of the largest size stopped to come through. Of the `ended` connections, at their ends and added
    up: `congestion_windows` and `largest_datagrams` (those that their paths carry), bytes, and
    `round_trips_ns`, smoothed. `sends_held_ns`: for how long messages that were given to QUIC
    waited for a window of the server's. `early_accepted`, `early_refused`: connections on which
    messages went before the handshake's end.
    """

    goaways: int = 0
    refused: int = 0
    datagrams_sent: int = 0
    sends: int = 0
    datagrams_received: int = 0
    receives: int = 0
    datagrams_dropped: int = 0
    packets_sent: int = 0
    packets_lost: int = 0
    congestion_events: int = 0
    black_holes: int = 0
    ended: int = 0
    congestion_windows: int = 0
    round_trips_ns: int = 0
    largest_datagrams: int = 0
    sends_held_ns: int = 0
    early_accepted: int = 0
    early_refused: int = 0


class Profiled(_Part):
    """Header fields like those of a browser, and which of them are new in each request.

    `field_bytes`: names and values of all fields of a request as HTTP/2 has them, but for its
    length, before any compression.
    """

    profile: Literal["constant", "partly", "unique"]
    field_bytes: int


class Start(_Part):
    """The first line: what is about to run."""

    kind: Literal["start"] = "start"
    schema_name: Literal["wiretrial-snapshot"] = Field(default=SNAPSHOT_SCHEMA, alias="schema")
    version: Literal[1] = SNAPSHOT_VERSION
    engine: str
    pid: int
    url: str
    addresses: tuple[str, ...]
    started_unix_ns: int
    threads: int
    poller: str
    poller_shortfall: str | None = None
    request_payload_bytes: int
    reply_payload_bytes: int | None
    tls: str | None
    congestion: str | None = None
    """Of the generator's TCP, as the kernel calls it and told it; None over QUIC."""
    http: Spoken | None = None
    header_profile: Profiled | None = None
    insecure: bool = False
    deflate: str | None = None
    learned: Learned | None = None
    traffic: TrafficNames | None = None


class Connected(_Part):
    """Every connection stands, and the run waits for the word `begin`, as its plan says."""

    kind: Literal["connected"] = "connected"
    at_ns: int


class Deliveries(_Part):
    """Copies of messages that have many receivers, the sender among them.

    Over a whole run: expected = ok + out_of_order + mismatch + missing + in_flight; a duplicate is
    one more than was expected.
    """

    expected: int = 0
    ok: int = 0
    out_of_order: int = 0
    mismatch: int = 0
    missing: int = 0
    duplicate: int = 0
    in_flight: int = 0


class Lobby(_Part):
    """Snapshots of a lobby, as they came to all connections: no answers, and no deliveries."""

    ok: int = 0
    mismatch: int = 0
    out_of_order: int = 0
    missing: int = 0


class Counters(_Part):
    """Messages. Over a whole run: sent = ok + the sum of errors + in_flight.

    `statuses`: replies of gRPC by the name of their status, right ones too. `messages`: those of
    replies that came whole, where a side streams. `empty_polls`: long polls that were answered
    without an event; None where receivers do not poll, and of earlier engines.
    """

    sent: int = 0
    ok: int = 0
    errors: dict[str, int] = Field(default_factory=dict)
    in_flight: int = 0
    waiting: int = 0
    dropped: int = 0
    deliveries: Deliveries = Field(default_factory=Deliveries)
    lobby: Lobby = Field(default_factory=Lobby)
    greetings: int = 0
    empty_polls: int | None = None
    statuses: dict[str, int] = Field(default_factory=dict)
    messages: int = 0

    @model_serializer(mode="wrap")
    def _without_what_is_not_there(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """As it was before there were calls of gRPC and polls, where there are none."""
        written: dict[str, Any] = write(self)
        for name in ("statuses", "messages"):
            if not getattr(self, name):
                written.pop(name, None)
        if self.empty_polls is None:
            written.pop("empty_polls", None)
        return written


class Connections(_Part):
    """Connections: attempts, successes, failures and ends by class, and how many stand."""

    attempted: int = 0
    opened: int = 0
    failed: dict[str, int] = Field(default_factory=dict)
    closed: dict[str, int] = Field(default_factory=dict)
    open: int = 0


class Bytes(_Part):
    """Bytes to and from the kernel, those of the protocol inside TLS, and those of the payloads.

    Payloads are without heads and frames, and as they are before or after any compression.
    """

    sent: int = 0
    received: int = 0
    application_sent: int = 0
    application_received: int = 0
    payload_sent: int = 0
    payload_received: int = 0


class Generator(_Part):
    """The generator's own cost."""

    cpu_user_ns: int = 0
    cpu_system_ns: int = 0
    peak_rss_bytes: int = 0
    loop_utilisation: float = 0.0
    run_queue_ns: int = 0


class Interval(_Part):
    """One interval, all workers merged."""

    kind: Literal["interval"] = "interval"
    index: int
    start_ns: int
    end_ns: int
    phase: Phase
    counters: Counters
    connections: Connections
    bytes: Bytes
    generator: Generator
    disturbed: bool
    histograms: dict[str, str] = Field(default_factory=dict)
    http2: Http2Figures | None = None
    http3: Http3Figures | None = None
    traffic: TrafficFigures | None = None


class Blocked(_Part):
    """What stalls kept a closed loop from sending."""

    exchanges: int = 0
    slot_ns: int = 0
    threshold_ns: int = 0


class Published(_Part):
    """Events that were published while the receivers of a load were held.

    `counters` and `histograms` are of the connection that published; their `ok` are events that
    the server has taken. `undelivered`: copies of these that did not come right. `unconfirmed`:
    copies that did not come of the other events, which it may have taken or not; earlier engines
    counted them as `missing`.
    """

    receivers: int
    counters: Counters
    undelivered: int
    unconfirmed: int = 0
    examples: dict[str, str] = Field(default_factory=dict)
    histograms: dict[str, str] = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _without_none_unconfirmed(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """As it was before they were told apart, where there are none."""
        written: dict[str, Any] = write(self)
        if not self.unconfirmed:
            written.pop("unconfirmed", None)
        return written


class Summary(_Part):
    """The whole run, from the first message to the end of the drain."""

    kind: Literal["summary"] = "summary"
    end: Literal["complete", "interrupted"]
    signal: int | None
    connect_start_ns: int | None = None
    connected_ns: int | None = None
    first_send_ns: int
    measure_start_ns: int
    measure_end_ns: int
    end_ns: int
    counters: Counters
    connections: Connections
    bytes: Bytes
    generator: Generator
    blocked: Blocked
    disturbed_intervals: int
    examples: dict[str, str] = Field(default_factory=dict)
    histograms: dict[str, str] = Field(default_factory=dict)
    http2: Http2Figures | None = None
    http3: Http3Figures | None = None
    traffic: TrafficFigures | None = None
    published: Published | None = None


class Failure(_Part):
    """A run that could not begin or go on."""

    kind: Literal["failure"] = "failure"
    schema_name: Literal["wiretrial-snapshot"] = Field(default=SNAPSHOT_SCHEMA, alias="schema")
    version: Literal[1] = SNAPSHOT_VERSION
    class_name: str = Field(alias="class")
    message: str
    exit_code: int


Snapshot = Annotated[Start | Connected | Interval | Summary | Failure, Field(discriminator="kind")]

SNAPSHOT: TypeAdapter[Snapshot] = TypeAdapter(Snapshot)
