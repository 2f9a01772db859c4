"""The load plan, as the engine reads it. Mirrors the JSON Schema of `wiretrial-engine schema plan`.

Knows names, types and defaults; must not know how an engine is started. All durations are
nanoseconds, all sizes bytes. A test compares these models with the engine's schema.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from wiretrial.plan_grpc import Grpc, MessageShape
from wiretrial.plan_publish import Publish
from wiretrial.plan_shape import Shape
from wiretrial.plan_traffic import Traffic

PLAN_SCHEMA: Final = "wiretrial-plan"
PLAN_VERSION: Final = 1

SECURE: Final = frozenset(
    {"https", "h2", "h3", "wss", "tls", "grpcs", "socketio+wss", "styx+wss", "styx+json+wss"}
)
"""The protocols that are spoken inside TLS, or inside QUIC, of which TLS is a part."""


HttpVersion = Literal["1.1", "2", "auto"]
"""auto: over TLS the one that the server picks (ALPN), else 1.1."""
AnyHttpVersion = Literal["1.1", "2", "3", "auto"]
"""3: over QUIC, for requests to https."""
Congestion = Literal["cubic", "new-reno", "bbr"]
"""Who decides how much may be on its way: RFC 9438, RFC 9002 appendix B, BBR 1."""
KERNEL_NAMES: Final[dict[Congestion, str]] = {"cubic": "cubic", "new-reno": "reno", "bbr": "bbr"}
"""What the kernel calls them, of TCP."""
HeaderProfile = Literal["constant", "partly", "unique"]
"""Which of ten header fields, like those of a browser, are new in each request: none; the cookie
and the request's id; all."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Windows(_Part):
    """What the server may send over HTTP/2 before it is allowed more, bytes; None: the usual size.

    `are_factor`: those that are given are what the load is about, so that it is not void where they
    hold the server back.
    """

    stream: int | None = None
    connection: int | None = None
    are_factor: bool = False


class Http(_Part):
    """HTTP parts of a request. `method` None: GET without a payload, POST with one."""

    version: AnyHttpVersion = "1.1"
    """2 and 3: streams are `load.depth`. The usual version and windows are not written, so that
    plans and the digests of studies are what they were before there were others."""
    windows: Windows | None = None
    congestion: Congestion | None = None
    """Of any protocol; None, and not written: over TCP the kernel's default, over HTTP/3 cubic."""
    early_data: bool = False
    """Requests of HTTP/3 go before the handshake's end where they can (0-RTT). Not written where
    they don't."""
    method: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    header_profile: HeaderProfile | None = None
    """Ten fields beside these, but for those of the same name; None, and not written: none."""
    sse: bool = False
    """Each reply is a stream of events, which is held; a message is an event. Not written either
    where it is not so."""

    @property
    def over_udp(self) -> bool:
        """Whether it goes over QUIC, so that a URL's port is one of UDP."""
        return self.version == "3"

    @model_serializer(mode="wrap")
    def _without_what_is_usual(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if self.version == "1.1":
            written.pop("version", None)
        if not self.sse:
            written.pop("sse", None)
        if self.header_profile is None:
            written.pop("header_profile", None)
        if self.windows is None:
            written.pop("windows", None)
        if self.congestion is None:
            written.pop("congestion", None)
        if not self.early_data:
            written.pop("early_data", None)
        return written


class Tls(_Part):
    """TLS settings of https, wss and tls targets."""

    insecure: bool = False
    ca_file: str | None = None
    server_name: str | None = None
    resumption: bool = True


class Deflate(_Part):
    """What to ask for with permessage-deflate (RFC 7692). `level`: 1 (fast) to 9 (small)."""

    server_no_context_takeover: bool = False
    client_no_context_takeover: bool = False
    server_max_window_bits: int = 15
    client_max_window_bits: int = 15
    level: int = 6


class WebSocket(_Part):
    """WebSocket settings of ws and wss targets. `deflate` None: messages go as they are.

    `greetings`: messages that the server sends by itself on each connection; no replies.
    """

    deflate: Deflate | None = None
    greetings: int = 0


class Styx(_Part):
    """Players and tables of styx targets. `delay_ms`: how long a table waits before it responds.

    `lobby`: each player looks at the lobby; its snapshots are verified and counted apart.
    """

    table_size: int = 1
    first_table: int = 1
    user: str = "bot"
    first_player: int = 1001
    password: str = "bot"
    delay_ms: int = 0
    lobby: bool = False


RULE = r"^(json|regex):"
"""How a rule about a reply's content begins."""


class NoPayload(_Part):
    """A request without a payload (a GET, an action of styx); of socketio the usual event."""

    source: Literal["none"] = Field(default="none", alias="from")


class SequencePayload(_Part):
    """`bytes` bytes that differ from message to message: 16 hexadecimal digits, then a pattern."""

    source: Literal["sequence"] = Field(default="sequence", alias="from")
    bytes: int


class FixedPayload(_Part):
    """The same bytes each time, base64."""

    source: Literal["fixed"] = Field(default="fixed", alias="from")
    base64: str


class ListPayload(_Part):
    """The given payloads in turn, base64."""

    source: Literal["list"] = Field(default="list", alias="from")
    base64: tuple[str, ...]


class TemplatePayload(_Part):
    """Text in which each `{seq}` becomes the message's number, in 16 hexadecimal digits."""

    source: Literal["template"] = Field(default="template", alias="from")
    text: str


class NumberedPayload(_Part):
    """Bytes, base64, with the message's number at each of `places`, in 16 hexadecimal digits."""

    source: Literal["numbered"] = Field(default="numbered", alias="from")
    base64: str
    places: tuple[int, ...]


Payload = Annotated[
    NoPayload | SequencePayload | FixedPayload | ListPayload | TemplatePayload | NumberedPayload,
    Field(discriminator="source"),
]


class Message(_Part):
    """What each request carries. `kind` is the WebSocket frame type.

    `is_json`: refused where it is not; in a template, `{seq}` outside of strings is a number.
    """

    kind: Literal["text", "binary"] = "binary"
    is_json: bool = False
    source: Payload = Field(default_factory=NoPayload)


class AutoContent(_Part):
    """`echo` for ws, wss, tcp, tls; `learned` for http, socketio; of styx each copy is checked."""

    rule: Literal["auto"] = Field(default="auto", alias="is")


class EchoContent(_Part):
    """The request's own payload."""

    rule: Literal["echo"] = Field(default="echo", alias="is")


class LearnedContent(_Part):
    """What the first reply of the run, before any load, carried."""

    rule: Literal["learned"] = Field(default="learned", alias="is")


class BroadcastContent(_Part):
    """The server sends each message to all connections (ws, wss), and each copy is checked."""

    rule: Literal["broadcast"] = Field(default="broadcast", alias="is")


class FixedContent(_Part):
    """These bytes, base64."""

    rule: Literal["fixed"] = Field(default="fixed", alias="is")
    base64: str


class StatusContent(_Part):
    """Anything that the protocol allows; of http and https, with the right status."""

    rule: Literal["status"] = Field(default="status", alias="is")


class MatchingContent(_Part):
    """Content that varies, and in which each rule holds.

    A rule is `json:PATH=VALUE`, `json:PATH` (it is there) or `regex:PATTERN`.
    """

    rule: Literal["matching"] = Field(default="matching", alias="is")
    rules: Annotated[tuple[Annotated[str, Field(pattern=RULE)], ...], Field(min_length=1)]


class ShapedContent(_Part):
    """JSON of this shape (http, https, ws, wss, socketio)."""

    rule: Literal["shaped"] = Field(default="shaped", alias="is")
    shape: Shape


class MessagesContent(_Part):
    """The messages of a reply of gRPC, exactly these in this order, base64."""

    rule: Literal["messages"] = Field(default="messages", alias="is")
    base64: tuple[str, ...]


class FieldsContent(_Part):
    """Messages of protobuf of this shape (grpc): each message of a reply is held against it."""

    rule: Literal["fields"] = Field(default="fields", alias="is")
    shape: MessageShape


Content = Annotated[
    AutoContent
    | EchoContent
    | LearnedContent
    | BroadcastContent
    | FixedContent
    | StatusContent
    | MatchingContent
    | ShapedContent
    | MessagesContent
    | FieldsContent,
    Field(discriminator="rule"),
]


class Expect(_Part):
    """What a right reply is."""

    content: Content = Field(default_factory=AutoContent)
    status: int = 200


class Target(_Part):
    """Address and request."""

    url: str
    addresses: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    http: Http = Field(default_factory=Http)
    grpc: Grpc = Field(default_factory=Grpc)
    """Of grpc and grpcs; left out where it says nothing, as it is for all others."""
    tls: Tls = Field(default_factory=Tls)
    websocket: WebSocket = Field(default_factory=WebSocket)
    styx: Styx = Field(default_factory=Styx)
    message: Message = Field(default_factory=Message)
    expect: Expect = Field(default_factory=Expect)

    @model_serializer(mode="wrap")
    def _without_usual_call(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if self.grpc == Grpc():
            written.pop("grpc", None)
        return written


class ClosedLoop(_Part):
    """The next message goes when a reply has come."""

    kind: Literal["closed"] = "closed"


class OpenLoop(_Part):
    """Messages are due at instants that no reply moves. `rate`: messages per second in all.

    `phased`: each connection has its own instants, at a phase of its own.
    """

    kind: Literal["open"] = "open"
    rate: float
    pacing: Literal["constant", "poisson", "phased"] = "constant"
    overflow: Literal["wait", "drop"] = "wait"


class Hold(_Part):
    """Nothing for `idle_ns`, a message on each connection, then `rate` messages per second."""

    kind: Literal["hold"] = "hold"
    rate: float = 0
    idle_ns: int = 0


class RandomBurst(_Part):
    """A pack for each connection, on connections drawn at random; when all came, the next ones."""

    kind: Literal["random-burst"] = "random-burst"


class AfterResponse(_Part):
    """The next message goes so long after a reply has come: a closed loop with a pause."""

    kind: Literal["after-response"] = "after-response"
    pause_ns: int


class Stage(_Part):
    """A time in which the load changes evenly, or stays. `start`, `to`: shares, 0 to 1.

    Open loop: of the executor's rate; closed loop: of the connections.
    """

    for_ns: int
    start: float = Field(alias="from")
    to: float


class Load(_Part):
    """How many connections, and who sends next. `stages`: load over time; none: all, all the time.

    Behind the last stage it stays as it is.
    """

    connections: int
    users: int | None = None
    """Of traffic: they share the connections as a pool. None: each connection is one user's."""
    depth: int = 1
    pack: int = 1
    requests_per_connection: int | None = None
    executor: Annotated[
        ClosedLoop | OpenLoop | AfterResponse | Hold | RandomBurst, Field(discriminator="kind")
    ] = Field(default_factory=ClosedLoop)
    stages: tuple[Stage, ...] = ()
    seed: int = 0

    @property
    def slots(self) -> int:
        """How many messages may be in flight at once, or receivers held."""
        return self.connections * self.depth

    @property
    def population(self) -> int:
        """How many users of traffic there are."""
        return self.connections if self.users is None else self.users

    @property
    def times_from_due(self) -> bool:
        """Whether response times are told: a message may be due before it can be sent."""
        return isinstance(self.executor, OpenLoop) or self.users is not None


class Stop(_Part):
    """When the run stops: whatever comes first."""

    duration_ns: int | None = None
    requests: int | None = None
    requests_each: int | None = None
    """Of each connection, which is closed for good then."""
    sessions: int | None = None
    """Of traffic; each is carried to its end."""

    @property
    def is_counted(self) -> bool:
        """Whether the run's length is given in messages, or in sessions."""
        return any(of is not None for of in (self.requests, self.requests_each, self.sessions))


class Phases(_Part):
    """Durations around the measure phase, nanoseconds."""

    connect_ns: int = 10_000_000_000
    warmup_ns: int = 0
    drain_ns: int = 2_000_000_000
    timeout_ns: int = 10_000_000_000
    interval_ns: int = 100_000_000


class GeneratorSettings(_Part):
    """What the generator itself may use."""

    threads: int = 1
    cpus: tuple[int, ...] = ()
    poller: Literal["auto", "uring", "epoll"] = "auto"
    spin: bool = False


class Share(_Part):
    """One engine's part of a load that several make together, as one with the workers of all."""

    first_worker: int
    workers: int
    first_connection: int
    connections: int
    start_monotonic_ns: int | None = None
    awaits_begin: bool = False


class Plan(_Part):
    """One load plan: what to send where, how, and for how long."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_name: Literal["wiretrial-plan"] = Field(default=PLAN_SCHEMA, alias="schema")
    version: Literal[1] = PLAN_VERSION
    target: Target
    traffic: Traffic | None = None
    load: Load
    stop: Stop
    phases: Phases = Field(default_factory=Phases)
    generator: GeneratorSettings = Field(default_factory=GeneratorSettings)
    share: Share | None = None
    publish: Publish | None = None

    @model_serializer(mode="wrap")
    def _without_publisher(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if self.publish is None:
            written.pop("publish", None)
        return written

    @property
    def hears_events(self) -> bool:
        """Whether what comes are events of streams or WebSockets, which answer nothing."""
        return self.target.http.sse or self.publish is not None

    @property
    def times_setup(self) -> bool:
        """Whether connections are opened within the time, each for all of its messages."""
        each = self.stop.requests_each
        return each is not None and self.load.requests_per_connection == each

    def to_json(self) -> str:
        """The plan as the engine reads it."""
        return self.model_dump_json(by_alias=True)
