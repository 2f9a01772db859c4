"""From the steps of a flow of calls to routes: methods, their messages, and what is right.

Knows steps of gRPC; must not know other flows, nor how TOML is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from wiretrial import quantities
from wiretrial.calls import metadata, statuses
from wiretrial.errors import UsageProblem
from wiretrial.plan_grpc import STATUSES
from wiretrial.plan_traffic import (
    Call,
    Capture,
    Feed,
    FieldOf,
    NoThink,
    Route,
    RouteExpect,
    Scalar,
    StatusIn,
    Step,
    Text,
    Think,
)
from wiretrial.traffic import quantities as written
from wiretrial.traffic import routes
from wiretrial.traffic.document import FlowPart, StepPart, TrafficFile
from wiretrial.traffic.filling import Scope, fill, known
from wiretrial.traffic.places import Place, TrafficProblem, standing_at
from wiretrial.traffic.routes import HTTP, MOST_NAME, Compiled
from wiretrial.traffic.sessions import Routes
from wiretrial.traffic.variables import text_at
from wiretrial.words import CALLS, STEP

if TYPE_CHECKING:
    from wiretrial.calls.methods import Method, Methods

OVER = {"grpc": "http", "grpcs": "https"}
_OF_OTHERS = ("send", "await_", "repeat", "check")
_REMEDY = "write call, data, metadata, deadline, status, reply, capture, name or think"


def is_of_calls(part: FlowPart) -> bool:
    """Whether a flow's steps are calls."""
    return part.file is None and part.url is None and part.step is not None


@dataclass
class Described:
    """The methods of a file's `proto`, compiled once."""

    file: TrafficFile
    _methods: list[Methods] = field(default_factory=list)

    def find(self, path: str, place: Place) -> Method:
        """The method of a step."""
        with standing_at(place):
            return self._all().find(path)

    def _all(self) -> Methods:
        if not self._methods:
            self._methods.append(self._compiled())
        return self._methods[0]

    def _compiled(self) -> Methods:
        part = self.file.part
        if not part.proto:
            raise UsageProblem(
                "calls of gRPC without the files that describe them",
                'write proto = ["FILE.proto"] at the top of the file',
            )
        try:
            from wiretrial.calls import compiling
            from wiretrial.calls.methods import Methods
        except ModuleNotFoundError as error:
            raise UsageProblem(
                "gRPC needs protobuf, which is not installed", "pip install 'wiretrial[grpc]'"
            ) from error
        beside = self.file.path.parent
        with standing_at(self.file.place("proto")):
            return Methods(
                compiling.compiled(
                    [beside / one for one in part.proto], [beside / one for one in part.proto_path]
                )
            )


@dataclass(frozen=True)
class Calling:
    """A flow of calls."""

    file: TrafficFile
    index: int
    part: FlowPart
    variables: Mapping[str, str]
    feed: Feed | None
    described: Described
    thinks_first: bool

    @property
    def name(self) -> str:
        """The flow's name, or the method that it calls first."""
        called = next((one.call for one in self.part.step or [] if one.call), None)
        return self.part.name or (called or "calls").rpartition("/")[2]

    def steps(self, all_routes: Routes) -> Iterator[Step]:
        """The steps, each with its route in `all_routes`."""
        scope, captured = self._scope(), dict[str, Scalar]()
        usual = written.think(self.part.think, self._place("think")) if self.part.think else None
        pending: Think | None = None
        is_first = not self.thinks_first
        for number, part in enumerate(self.part.step or []):
            place = self._place("step", number)
            if part.think is not None:
                self._require_alone(part, place)
                if pending is not None:
                    raise TrafficProblem(
                        place, "two think times in a row", "write their sum in one"
                    )
                pending = written.think(part.think, place)
                continue
            route = self._index(number, part, scope, captured, all_routes)
            think = pending or (None if is_first else usual) or NoThink()
            yield Step(route=route, think=think)
            pending, is_first = None, False
            found = all_routes.found[route].route.captures
            captured |= dict(_scalars(found))
            scope = _after(found, scope)

    def _place(self, *location: str | int) -> Place:
        return self.file.place("flow", self.index, *location)

    def _require_alone(self, part: StepPart, place: Place) -> None:
        others = part.model_dump(exclude={"think"}, exclude_none=True)
        if others:
            raise TrafficProblem(
                place, f"think and {next(iter(others))} in one step", "write a step for each"
            )

    def _scope(self) -> Scope:
        later: dict[str, Place] = {}
        for number, part in enumerate(self.part.step or []):
            for name in part.capture or {}:
                place = self._place("step", number, "capture", name)
                if self.feed and name in self.feed.columns:
                    raise TrafficProblem(
                        place,
                        f"{name} is a column of {self.feed.name}, too",
                        "give the capture another name",
                    )
                later.setdefault(name, place)
        return Scope(
            variables=self.variables,
            columns=frozenset(self.feed.columns) if self.feed else frozenset(),
            feed=self.feed.name if self.feed else None,
            later=later,
            part=STEP,
        )

    def _index(
        self,
        number: int,
        part: StepPart,
        scope: Scope,
        captured: Mapping[str, Scalar],
        all_routes: Routes,
    ) -> int:
        place = self._place("step", number)
        for word in _OF_OTHERS:
            if getattr(part, word) is not None:
                raise TrafficProblem(place, f"{word.strip('_')} in a flow of calls", _REMEDY)
        if part.call is None:
            raise TrafficProblem(
                place, "a step that calls nothing", 'write call = "pkg.Service/Method"'
            )
        method = self.described.find(part.call, self._place("step", number, "call"))
        name = part.name or method.path
        if not 0 < len(name.encode()) <= MOST_NAME:
            raise TrafficProblem(
                self._place("step", number, "name"),
                f"a name has 1 to {MOST_NAME} bytes",
                "write another one",
            )
        route = self._route(number, part, method, scope, captured)
        origin = self._origin(scope, place)

        def compiled(tried: str) -> Compiled:
            named = route.model_copy(update={"name": tried})
            return Compiled(named, origin, (), is_unchecked=False, place=place, method=method)

        return all_routes.index_of(name, compiled, "name" if part.name else None)

    def _origin(self, scope: Scope, place: Place) -> str:
        base = known(text_at("{{base}}", place), scope, "base").rstrip("/")
        found = routes.origin(base, place, (*HTTP, *CALLS))
        scheme, rest = found.split("://", 1)
        return f"{OVER.get(scheme, scheme)}://{rest}"

    def _route(
        self,
        number: int,
        part: StepPart,
        method: Method,
        scope: Scope,
        captured: Mapping[str, Scalar],
    ) -> Route:
        from wiretrial.traffic import call_messages, call_replies

        def place(word: str) -> Place:
            return self._place("step", number, word)

        data = part.data if isinstance(part.data, list) else [part.data or {}]
        if len(data) != 1 and not method.is_sent_as_stream:
            raise TrafficProblem(
                place("data"),
                f"{len(data)} messages, and {method.path} takes one",
                "write one in braces",
            )
        writer = call_messages.Writer(scope, self.feed, place("data"), captured)
        with standing_at(place("data")):
            sent = tuple(writer.pieces(one, method.request) for one in data)
        status = 0
        if part.status is not None:
            with standing_at(place("status")):
                status = statuses.number(part.status, "status")
        with standing_at(place("reply")):
            asked = self._reply(part, number)
            right = call_replies.right(asked, method, scope, place("reply"))
        kept = call_replies.captures(part.capture or {}, method.reply, place("capture"))
        if status and (part.reply or kept):
            raise TrafficProblem(
                place("status"),
                f"a reply with {STATUSES[status]} has no message to look at",
                "leave reply and capture out",
            )
        deadline_ns = None
        if part.deadline is not None:
            with standing_at(place("deadline")):
                deadline_ns = quantities.duration_ns(part.deadline, "deadline", 1)
        is_stream = method.is_answered_as_stream
        return Route(
            name="call",
            method="POST",
            target=(),
            headers=tuple(self._metadata(number, part, scope)),
            expect=RouteExpect(status=StatusIn(statuses=(status,)), checks=right.checks),
            captures=kept,
            call=Call(
                path=f"/{method.path}",
                messages=sent,
                deadline_ns=deadline_ns,
                replies=(0, None) if is_stream else (1, 1),
                shape=None if status else right.shape,
            ),
        )

    def _reply(self, part: StepPart, number: int) -> Mapping[str, JsonValue]:
        """Fields by their paths."""
        if part.reply is None:
            return {}
        of_others = part.reply.model_dump(exclude={"json_"}, exclude_none=True)
        if of_others or not part.reply.json_:
            raise TrafficProblem(
                self._place("step", number, "reply"),
                f"{next(iter(of_others), 'nothing')} of a reply to a call, which has fields",
                'write {json = {"$.name" = "tea"}}',
            )
        return part.reply.json_

    def _metadata(self, number: int, part: StepPart, scope: Scope) -> Iterator[tuple[str, Text]]:
        for name, value in (part.metadata or {}).items():
            place = self._place("step", number, "metadata", name)
            with standing_at(place):
                lower = metadata.name_of(name, "metadata")
                if lower.endswith(metadata.BINARY) and "{{" not in value:
                    _require_base64(name, value)
            yield lower, fill(text_at(value, place), scope)


def _require_base64(name: str, value: str) -> None:
    try:
        metadata.binary(value)
    except ValueError as error:
        raise UsageProblem(f"metadata {name} is no base64", "write its bytes in base64") from error


def _scalars(captures: tuple[Capture, ...]) -> Iterator[tuple[str, Scalar]]:
    for one in captures:
        if isinstance(one.of, FieldOf):
            yield one.name, one.of.place.scalar


def _after(captures: tuple[Capture, ...], scope: Scope) -> Scope:
    names = {one.name for one in captures}
    kept = {name: value for name, value in scope.variables.items() if name not in names}
    return replace(scope, variables=kept, captures=scope.captures | names)
