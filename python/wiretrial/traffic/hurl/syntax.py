"""What stands in a `.hurl` file, each part with its place.

Knows entries, texts with holes, queries and predicates; must not know how they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wiretrial.traffic.places import Place


@dataclass(frozen=True)
class Hole:
    """`{{name}}`: a value that is there when the request is sent."""

    name: str
    place: Place

    def __str__(self) -> str:
        return f"{{{{{self.name}}}}}"


@dataclass(frozen=True)
class Text:
    """Text with holes; no two neighbours are both plain."""

    parts: tuple[str | Hole, ...]
    place: Place

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    @property
    def holes(self) -> Iterator[Hole]:
        """What has to be filled in."""
        yield from (part for part in self.parts if isinstance(part, Hole))

    @property
    def plain(self) -> str | None:
        """The text, where it has no holes."""
        return None if any(self.holes) else str(self)


@dataclass(frozen=True)
class Pair:
    """A line `key: value`."""

    key: Text
    value: Text


@dataclass(frozen=True)
class Value:
    """What a predicate compares with; `value` is a `Text` for strings and templates."""

    value: Text | bytes | int | float | bool | None
    place: Place
    is_pattern: bool = False


@dataclass(frozen=True)
class Call:
    """A query, filter or predicate with its arguments."""

    word: str
    place: Place
    arguments: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Assertion:
    """One line of `[Asserts]`."""

    query: Call
    filters: tuple[Call, ...]
    predicate: Call
    negated: bool

    @property
    def place(self) -> Place:
        """Where the line begins."""
        return self.query.place


@dataclass(frozen=True)
class Capture:
    """One line of `[Captures]`."""

    name: str
    query: Call
    filters: tuple[Call, ...]
    place: Place


@dataclass(frozen=True)
class Body:
    """Content of a request or reply; `media_type` is what Hurl says of it where nobody does."""

    content: Text | bytes
    place: Place
    media_type: str | None = None
    is_json: bool = False


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str
    url: Text
    place: Place
    headers: tuple[Pair, ...] = ()
    sections: dict[str, tuple[Pair, ...]] = field(default_factory=dict)
    """By the canonical name: Query, Form, BasicAuth, Options."""
    body: Body | None = None

    def section(self, name: str) -> tuple[Pair, ...]:
        """The lines of a section; none where it isn't there."""
        return self.sections.get(name, ())


@dataclass(frozen=True)
class Response:
    """Which reply is right; `status` None: any."""

    status: int | None
    place: Place
    headers: tuple[Pair, ...] = ()
    captures: tuple[Capture, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    body: Body | None = None


@dataclass(frozen=True)
class Entry:
    """A request and the reply that is right; `response` None: any 2xx is right."""

    request: Request
    response: Response | None
    name: str | None = None

    @property
    def place(self) -> Place:
        """Where the request line stands."""
        return self.request.place


@dataclass(frozen=True)
class HurlFile:
    """A whole file."""

    path: Path
    entries: tuple[Entry, ...]
