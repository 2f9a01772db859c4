"""The traffic of a load plan, as the engine reads it: routes, right replies, flows, feeds.

Knows names, types and defaults of the member `traffic`; must not know where traffic comes from. All
durations are nanoseconds. A test compares these models with the engine's schema.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from typing_extensions import TypeAliasType

from wiretrial.plan_grpc import MessageShape
from wiretrial.plan_shape import Shape, TypeName


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Words(_Part):
    """A part of a text, as it stands."""

    text: str


class ValueOf(_Part):
    """The value with this name: a column of the flow's feed, or a capture of an earlier step."""

    value: str


class UrlOf(_Part):
    """The same, percent-encoded but for letters, digits and `-._~`: for queries and forms."""

    url: str


class JsonOf(_Part):
    """The same, as it stands inside a string of JSON."""

    name: str = Field(alias="json")


Made = Literal["seq", "user", "iteration", "uuid", "time"]


class MadeOf(_Part):
    """Made by the engine for each message; the same wherever it stands in it and its reply."""

    make: Made


TextPart = Words | ValueOf | UrlOf | JsonOf | MadeOf
Text = tuple[TextPart, ...]


class Feed(_Part):
    """Rows of data, of which each session of a flow gets one.

    `unique`: a row is one user's. Closed loop: each connection keeps its own; open loop: each
    session is another user, and fails where no row is left.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    order: Literal["sequential", "shuffled", "unique"] = "sequential"


class StatusIn(_Part):
    """One of these statuses."""

    statuses: tuple[int, ...] = Field(alias="in")


class JsonAt(_Part):
    """What is at this place of the body; with `[*]` in it the list of all that are there."""

    path: str = Field(alias="json")


class HeaderOf(_Part):
    """The value of this header field, the first one."""

    header: str


class CookieOf(_Part):
    """The value of this cookie, as this reply sets it."""

    cookie: str


class RegexIn(_Part):
    """What this pattern matches first in the body; of its first group, where it has one."""

    regex: str


Scalar = (
    Literal["text", "bool", "unsigned", "signed", "zigzag", "fixed32", "fixed64"]
    | Literal["sfixed32", "sfixed64", "float", "double"]
)
"""What a value of protobuf means on the wire."""


class FieldPlace(_Part):
    """Where a field stands in a message: numbers, each with which of its occurrences it is.

    None: the last one. `has_usual`: where it is not written it is zero, false or empty.
    """

    name: str
    path: tuple[tuple[int, int | None], ...]
    scalar: Scalar = Field(alias="as")
    has_usual: bool = False


class FieldOf(_Part):
    """A field of the first message of a reply of gRPC."""

    place: FieldPlace = Field(alias="field")


Found = Literal["status", "body", "bytes"] | JsonAt | HeaderOf | CookieOf | RegexIn | FieldOf


class PathFilter(_Part):
    """Of JSON, or of a text that is JSON: what is at this path (RFC 9535).

    Of a path that may name several places, the list of all that are there.
    """

    jsonpath: str


class NthFilter(_Part):
    """The element of a list with this index, from 0."""

    nth: int


class RegexFilter(_Part):
    """Of a text: the first group of what this pattern matches first."""

    regex: str


class SplitFilter(_Part):
    """Of a text: the list of its parts between these."""

    split: str


class Replaced(_Part):
    """What stands in a text, and what comes in its place."""

    old: str
    new: str


class ReplaceFilter(_Part):
    """Of a text: each place where one stands has another in its place."""

    replace: Replaced


class PatternReplaced(_Part):
    """What matches in a text, and what comes in its place; `$1` is the first group."""

    pattern: str
    new: str


class PatternFilter(_Part):
    """The same of each place where a pattern matches."""

    replace_regex: PatternReplaced


PlainFilter = Literal[
    "sha256",
    "md5",
    "to_int",
    "to_float",
    "to_string",
    "decode_utf8",
    "url_decode",
    "url_encode",
    "base64_decode",
    "base64_encode",
]

Filter = (
    PlainFilter | PathFilter | NthFilter | RegexFilter | SplitFilter | ReplaceFilter | PatternFilter
)


class JsonOperand(_Part):
    """A value to compare with."""

    value: JsonValue = Field(alias="json")


class TextOperand(_Part):
    """What this comes to be for the message."""

    text: Text


Operand = JsonOperand | TextOperand


class Exists(_Part):
    """It is there."""

    test: Literal["exists"] = Field(default="exists", alias="is")


class Empty(_Part):
    """It has no element, member or character."""

    test: Literal["empty"] = Field(default="empty", alias="is")


class Compared(_Part):
    """It compares so with another value."""

    test: Literal["compared"] = Field(default="compared", alias="is")
    how: Literal["==", "!=", "<", "<=", ">", ">="]
    operand: Operand = Field(alias="with")


class Contains(_Part):
    """A text that has this one in it, or a list that has this element."""

    test: Literal["contains"] = Field(default="contains", alias="is")
    operand: Operand = Field(alias="with")


class Starts(_Part):
    """A text that begins so."""

    test: Literal["starts"] = Field(default="starts", alias="is")
    text: Text = Field(alias="with")


class Ends(_Part):
    """A text that ends so."""

    test: Literal["ends"] = Field(default="ends", alias="is")
    text: Text = Field(alias="with")


class Matches(_Part):
    """A text in which this pattern matches somewhere."""

    test: Literal["matches"] = Field(default="matches", alias="is")
    pattern: str


class IsType(_Part):
    """It is of this type."""

    test: Literal["type"] = Field(default="type", alias="is")
    name: TypeName


class IsShape(_Part):
    """It is of this shape: of the body, which is JSON, or of a place in it."""

    test: Literal["shape"] = Field(default="shape", alias="is")
    shape: Shape


Test = Annotated[
    Exists | Empty | Compared | Contains | Starts | Ends | Matches | IsType | IsShape,
    Field(discriminator="test"),
]


class Check(_Part):
    """A check of a reply. What is not there fails each test but `exists`, also where `not` is set.

    `count`: not the value itself, but how many elements, members or characters it has. `filters`:
    what is made of it first; a check that has any is made of a sample of replies, beside the load.
    """

    of: Found
    filters: tuple[Filter, ...] = ()
    count: bool = False
    negated: bool = Field(default=False, alias="not")
    test: Test


class RouteExpect(_Part):
    """What a right reply is: of this status, with this body (None: any), and with all checks."""

    status: Literal["any", "success"] | StatusIn = "success"
    body: Text | None = None
    checks: tuple[Check, ...] = ()


class Capture(_Part):
    """What later requests need of a reply. `most`: the longest that it may be, bytes."""

    name: str
    of: Found
    most: int = 8192


class BytesPiece(_Part):
    """A piece of a message, as it stands, base64."""

    base64: str = Field(alias="bytes")


class TextPiece(_Part):
    """A text in UTF-8."""

    text: Text


class SizedPiece(_Part):
    """The length of what follows as a varint, and that."""

    sized: tuple[Piece, ...]


class NumberOf(_Part):
    """Which number it is, and how it stands on the wire."""

    of: TextPart
    scalar: Scalar = Field(alias="as")


class NumberPiece(_Part):
    """A number, of its digits."""

    number: NumberOf


# It stands in itself: with a name, its schema refers to it.
Piece = TypeAliasType("Piece", BytesPiece | TextPiece | SizedPiece | NumberPiece)


class Call(_Part):
    """A call of gRPC: its messages in pieces, and what each message of a right reply is.

    `replies`: how many of these there are, from and to; None: any number.
    """

    path: str
    messages: tuple[tuple[Piece, ...], ...]
    deadline_ns: int | None = None
    replies: tuple[int, int | None]
    shape: MessageShape | None = None


class Route(_Part):
    """A request, and what a right reply to it is.

    `follow`: so many redirects to the same origin at most are part of it. `call`: it is one of
    gRPC, without target and body, and its status is one of gRPC.
    """

    name: str
    method: str
    target: Text
    headers: tuple[tuple[str, Text], ...] = ()
    body: Text = ()
    expect: RouteExpect = Field(default_factory=RouteExpect)
    follow: int = 0
    captures: tuple[Capture, ...] = ()
    call: Call | None = Field(default=None, exclude_if=lambda call: call is None)


class Line(_Part):
    """A step of a conversation over a socket, counted as a route is.

    `open` has a target and headers, `send` a text. Which message is awaited say the checks
    `awaits`: the first of which all hold. What else must hold of it say `checks`. Of Socket.IO, a
    text is an event, an array of JSON; of one that is `acknowledged`, that is what is awaited.
    """

    name: str
    does: Literal["open", "send", "await", "close"]
    target: Text = ()
    headers: tuple[tuple[str, Text], ...] = ()
    text: Text = ()
    acknowledged: bool = False
    awaits: tuple[Check, ...] = ()
    checks: tuple[Check, ...] = ()
    captures: tuple[Capture, ...] = ()

    @property
    def listens(self) -> bool:
        """Whether a message is awaited."""
        return self.acknowledged or bool(self.awaits)


class NoThink(_Part):
    """Nobody thinks."""

    kind: Literal["none"] = "none"


class ConstantThink(_Part):
    """Always so long."""

    kind: Literal["constant"] = "constant"
    ns: int


class UniformThink(_Part):
    """Each time between these with the same chance."""

    kind: Literal["uniform"] = "uniform"
    low_ns: int
    high_ns: int


class ExponentialThink(_Part):
    """Exponentially distributed."""

    kind: Literal["exponential"] = "exponential"
    mean_ns: int


class LognormalThink(_Part):
    """Log-normally distributed; `sigma`: standard deviation of the natural logarithm."""

    kind: Literal["lognormal"] = "lognormal"
    median_ns: int
    sigma: float


Think = Annotated[
    NoThink | ConstantThink | UniformThink | ExponentialThink | LognormalThink,
    Field(discriminator="kind"),
]


class Back(_Part):
    """Steps that are done again, so often in all; `times` None: until the load ends.

    `think`: before they are done again, in place of what the first of them has.
    """

    to: int
    times: int | None = None
    think: Think = Field(default_factory=NoThink)


class Step(_Part):
    """A request of a session, or a line of a conversation: `route` is its index.

    `think`: from the end of the step before to when this one is due. `back`: when it is over.
    """

    route: int
    think: Think = Field(default_factory=NoThink)
    back: Back | None = None


class Flow(_Part):
    """A session: requests one after the other. After one that fails the session ends."""

    name: str
    weight: int = 1
    feed: str | None = None
    cookies: bool = True
    unasked: Literal["count", "fail"] = "count"
    steps: tuple[Step, ...]


class Traffic(_Part):
    """Requests to many routes in sessions, instead of one message. Each connection is a user's.

    Either routes or `lines`, of which sessions are conversations. `sample`: the share of replies
    that checks with filters are made of, 0 to 1, beside the first of each route.
    """

    feeds: tuple[Feed, ...] = ()
    routes: tuple[Route, ...]
    lines: tuple[Line, ...] = ()
    flows: tuple[Flow, ...]
    sample: float = 0.01

    @property
    def asked(self) -> tuple[Route | Line, ...]:
        """What `route` of a step counts: the routes, or the lines."""
        return (*self.routes, *self.lines)
