"""The TOML file: how traffic is sent. Flows, load, goals, variables.

Knows keys, types and defaults; must not know what a `.hurl` file says. Texts such as "200/s" are
read in `quantities`, `thinking` and `goals`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError

from wiretrial import suggest
from wiretrial.documents import first_fault
from wiretrial.plan import AnyHttpVersion
from wiretrial.traffic.places import Place, TrafficProblem, read
from wiretrial.traffic.tables import Location, Locations, locate

_AT = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of .*)\)")

_PLAIN = {
    "missing": ("it is missing", "write it"),
    "string_type": ("not a text", 'write it in quotation marks, such as "2s"'),
    "int_type": ("not a whole number", "write a number such as 8"),
    "int_parsing": ("not a whole number", "write a number such as 8"),
    "bool_type": ("neither true nor false", "write true or false"),
    "list_type": ("not a list", "write it in brackets"),
    "tuple_type": ("not a list", "write it in brackets"),
    "dict_type": ("not a table", "write it in braces"),
    "model_type": ("not a table", "write it in braces"),
    "value_error": ('neither "per-user" nor a pool', 'write "per-user" or {pool = 50}'),
}
"""Of pydantic's faults, by their type."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FeedPart(_Part):
    """Rows of data, of which each session gets one."""

    file: str
    order: Literal["sequential", "shuffled", "unique"] = "sequential"


def _feed_of_text(value: object) -> object:
    return {"file": value} if isinstance(value, str) else value


class MatchPart(_Part):
    """Which message it is; what is written must all hold."""

    json_: dict[str, JsonValue] | None = Field(default=None, alias="json")
    text: str | None = None
    contains: str | None = None
    matches: str | None = None


class ReplyPart(MatchPart):
    """Which message answers what was sent; of Socket.IO, the acknowledgement of an event."""

    ack: dict[str, JsonValue] | None = None


class StepPart(_Part):
    """A step of a conversation: it sends, awaits, thinks or goes back. Of calls: it calls."""

    call: str | None = None
    data: dict[str, JsonValue] | list[dict[str, JsonValue]] | None = None
    metadata: dict[str, str] | None = None
    deadline: str | None = None
    status: str | None = None

    send: str | None = None
    reply: ReplyPart | None = None
    await_: MatchPart | None = Field(default=None, alias="await")
    think: str | None = None
    repeat: str | None = None
    name: str | None = None
    check: MatchPart | None = None
    capture: dict[str, str] | None = None


class FlowPart(_Part):
    """Sessions of one kind: the requests of a file, the steps of a conversation at a URL, or calls
    of gRPC."""

    file: str | None = None
    url: str | None = None
    step: Annotated[list[StepPart] | None, Field(min_length=1)] = None
    unasked: Literal["count", "fail"] | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    name: str | None = None
    weight: int = 1
    think: str | None = None
    feed: Annotated[FeedPart | None, BeforeValidator(_feed_of_text)] = None
    cookies: bool | None = None


class StagePart(_Part):
    """A part of the load's time; the value goes evenly from one end to the other."""

    for_: str = Field(alias="for")
    to: str | int
    from_: str | int | None = Field(default=None, alias="from")


class PoolPart(_Part):
    """Connections that all users share; over HTTP/2, each with so many streams."""

    pool: int
    streams: int | None = None


def _pool_of_text(value: object) -> object:
    if value == "per-user":
        return None
    if not isinstance(value, dict):
        raise ValueError("no pool")
    return value


class LoadPart(_Part):
    """When sessions begin, and on which connections."""

    arrivals: str | None = None
    pacing: Literal["constant", "poisson"] | None = None
    users: int | None = None
    connections: Annotated[PoolPart | None, BeforeValidator(_pool_of_text)] = None
    """None: one per user."""
    stages: Annotated[list[StagePart], Field(min_length=1)] | None = None


class CheckPart(_Part):
    """What else every reply of a route must be."""

    schema_: str | None = Field(default=None, alias="schema")


class TrafficPart(_Part):
    """The whole file."""

    base: str | None = None
    proto: list[str] = Field(default_factory=list)
    """Files that describe the services of its calls."""
    proto_path: list[str] = Field(default_factory=list)
    http: AnyHttpVersion | None = None
    """None: 1.1."""
    flow: Annotated[list[FlowPart], Field(min_length=1)]
    load: LoadPart = Field(default_factory=LoadPart)
    goal: dict[str, str] = Field(default_factory=dict)
    variables: dict[str, str | bool | int | float] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    check: dict[str, CheckPart] = Field(default_factory=dict)
    sample: str | None = None


@dataclass(frozen=True)
class TrafficFile:
    """The file's content, with the places of its keys."""

    path: Path
    part: TrafficPart
    places: Locations

    def place(self, *location: str | int) -> Place:
        """Where this key stands."""
        return self.places.of(location)


def read_traffic(path: Path) -> TrafficFile:
    """The file at `path`."""
    return parse(read(path, "name a .toml or .hurl file that is there"), path)


def parse(source: str, path: Path) -> TrafficFile:
    """A file's text."""
    try:
        content = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(str(error), source, path) from error
    places = locate(source, path)
    try:
        return TrafficFile(path, TrafficPart.model_validate(content), places)
    except ValidationError as error:
        raise _wrong(error, places) from error


def _not_toml(told: str, source: str, path: Path) -> TrafficProblem:
    found = _AT.fullmatch(told)
    what = found["what"] if found else told
    place = Place(path).along(source.rstrip("\n"))
    if found and found["line"]:
        place = Place(path, int(found["line"]), int(found["column"]))
    return TrafficProblem(place, what[:1].lower() + what[1:], "correct the TOML")


def _wrong(error: ValidationError, places: Locations) -> TrafficProblem:
    fault = first_fault(error, TrafficPart)
    location = _without_types(fault.location)
    key = ".".join(part for part in location if isinstance(part, str))
    first = error.errors()[0]
    kind = first["type"]
    if kind == "extra_forbidden":
        what, remedy = f"there is no key {location[-1]}", _no_such_key(location)
    elif kind == "too_short":
        what, remedy = f"{key}: it is empty", "write one"
    elif kind == "literal_error":
        what, remedy = f'{key}: "{first["input"]}" is none of them', _other(first)
    elif kind in _PLAIN:
        said, remedy = _PLAIN[kind]
        what = f"{key}: {said}"
    else:
        what, remedy = f"{key}: {fault.what[:1].lower()}{fault.what[1:]}", fault.remedy
    return TrafficProblem(places.of(location), what, remedy)


_TABLES: Mapping[str, type[BaseModel]] = {
    "flow": FlowPart,
    "feed": FeedPart,
    "load": LoadPart,
    "connections": PoolPart,
    "stages": StagePart,
    "step": StepPart,
    "reply": ReplyPart,
    "await": MatchPart,
    "check": MatchPart,
}


def _no_such_key(location: Location) -> str:
    tables = [part for part in location[:-1] if part in _TABLES]
    model = _TABLES[str(tables[-1])] if tables else TrafficPart
    if location[0] == "check":
        model = CheckPart
    known = [field.alias or name for name, field in model.model_fields.items()]
    return suggest.remedy(str(location[-1]), known)


def _other(error: Mapping[str, Any]) -> str:
    """What to write instead of a word that is none of those that may stand there."""
    known = re.findall(r"'([^']*)'", error["ctx"]["expected"])
    return suggest.remedy(str(error["input"]), known)


def _without_types(location: tuple[int | str, ...]) -> Location:
    """The location in the file: pydantic adds the types of a union that it tried."""
    types = {"str", "int", "bool", "float"}
    return tuple(part for index, part in enumerate(location) if not (part in types and index > 1))
