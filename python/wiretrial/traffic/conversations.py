"""From the steps of a flow to the lines of a conversation over a socket.

Knows steps, matchers and repeats; must not know other flows, nor how TOML is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from wiretrial.plan_traffic import Back, Feed, Line, NoThink, Step, Text, Think
from wiretrial.traffic import matching, quantities, socket_io
from wiretrial.traffic.document import FlowPart, StepPart, TrafficFile
from wiretrial.traffic.filling import Form, Scope, fill
from wiretrial.traffic.places import Place, TrafficProblem
from wiretrial.traffic.routes import MOST_NAME, path_of, split_url
from wiretrial.traffic.variables import text_at
from wiretrial.words import STEP

WEBSOCKETS, SOCKET_IO = ("ws", "wss"), ("socketio+ws", "socketio+wss")
SOCKETS = (*WEBSOCKETS, *SOCKET_IO)
_REPEAT = re.compile(r"from (?P<first>\d+)(?:, *(?P<times>\d+) times?)?")
_TYPE = re.compile(r'"type"\s*:\s*"(?P<name>[^"\\{}]+)"')
_EVENT = re.compile(r'\s*\[\s*"(?P<name>[^"\\{}]+)"')
_MOST_TIMES = 1_000_000_000


@dataclass(frozen=True)
class Spoken:
    """A line, and where it stands."""

    line: Line
    place: Place
    is_named: bool


@dataclass
class Lines:
    """The lines of all flows; what is the same in two of them is one."""

    found: list[Spoken] = field(default_factory=list)

    def index(self, line: Line, place: Place, *, is_named: bool = False) -> int:
        """The line's number; it is added where there is none like it."""
        for number in range(1, len(self.found) + 2):
            name = line.name if number == 1 else f"{line.name} ({number})"
            tried = line.model_copy(update={"name": name})
            same = [at for at, one in enumerate(self.found) if one.line.name == name]
            if not same:
                self.found.append(Spoken(tried, place, is_named))
                return len(self.found) - 1
            old = self.found[same[0]]
            if old.line == tried:
                return same[0]
            if is_named:
                raise TrafficProblem(
                    place,
                    f"{name} is another step's name, too ({old.place})",
                    "give each its own name",
                )
        raise AssertionError("one of the names is free")


@dataclass
class _Script:
    """The steps so far, and what stands before the next one."""

    steps: list[Step]
    pending: Think | None = None
    begins: list[tuple[int, Think | None]] = field(default_factory=list)
    """By written step: the step that it begins with, and the think time where it is one."""
    repeated: int = 0
    """Written steps up to the last repeat."""
    is_endless: bool = False

    def add(self, route: int) -> None:
        """The next step."""
        self.begins.append((len(self.steps), None))
        self.steps.append(Step(route=route, think=self.pending or NoThink()))
        self.pending = None


@dataclass(frozen=True)
class Conversation:
    """A flow of conversations."""

    file: TrafficFile
    index: int
    part: FlowPart
    variables: Mapping[str, str]
    feed: Feed | None
    is_open_loop: bool

    @cached_property
    def address(self) -> tuple[str, Line]:
        """The origin, and what opens the connection."""
        place = self._place("url")
        scope = self._scope()
        url = text_at(self.part.url or "", place)
        origin, target = split_url(url, scope, SOCKETS)
        if origin.startswith(SOCKET_IO):
            target = socket_io.target(target)
        path = re.sub(r"[?#].*", "", path_of(url))
        headers = tuple(
            (name, fill(text_at(value, self._place("headers", name)), scope))
            for name, value in self.part.headers.items()
        )
        name = f"open {path}" if len(path) < MOST_NAME // 2 else "open"
        return origin, Line(name=name, does="open", target=target, headers=headers)

    @property
    def name(self) -> str:
        """The flow's name, or the end of its path."""
        path = re.sub(r"[?#].*", "", path_of(text_at(self.part.url or "", self._place("url"))))
        return self.part.name or path.rstrip("/").rpartition("/")[2] or "conversation"

    def steps(self, lines: Lines) -> tuple[Step, ...]:
        """The steps, each with its line in `lines`."""
        _, opening = self.address
        script = _Script([Step(route=lines.index(opening, self._place("url")))])
        scope = self._scope()
        for number, part in enumerate(self.part.step or []):
            kind, place = self._kind(number, part), self._place("step", number)
            if script.is_endless:
                raise TrafficProblem(
                    place,
                    "a step behind a repeat that never ends",
                    f'write "{self._endless(number)}, 10 times" in the repeat before it',
                )
            match kind:
                case "think":
                    self._think(script, part.think or "", place)
                case "repeat":
                    self._repeat(script, part.repeat or "", number, lines)
                case _:
                    line = self._line(number, part, scope)
                    named = part.name is not None
                    script.add(lines.index(line, place, is_named=named))
                    scope = self._after(line, scope)
        if len(script.steps) == 1:
            raise TrafficProblem(
                self._place("step"), "no step says or awaits anything", "write one: send or await"
            )
        script.add(lines.index(Line(name="close", does="close"), self._place("url")))
        return tuple(script.steps)

    def _place(self, *location: str | int) -> Place:
        return self.file.place("flow", self.index, *location)

    def _scope(self) -> Scope:
        return Scope(
            variables=self.variables,
            columns=frozenset(self.feed.columns) if self.feed else frozenset(),
            feed=self.feed.name if self.feed else None,
            later=dict(self._captures()),
            part=STEP,
        )

    def _captures(self) -> Iterator[tuple[str, Place]]:
        for number, part in reversed([*enumerate(self.part.step or [])]):
            for name in part.capture or {}:
                place = self._place("step", number, "capture", name)
                if self.feed and name in self.feed.columns:
                    raise TrafficProblem(
                        place,
                        f"{name} is a column of {self.feed.name}, too",
                        "give the capture another name",
                    )
                yield name, place

    @staticmethod
    def _after(line: Line, scope: Scope) -> Scope:
        names = {one.name for one in line.captures}
        kept = {name: value for name, value in scope.variables.items() if name not in names}
        return replace(scope, variables=kept, captures=scope.captures | names)

    def _kind(self, number: int, part: StepPart) -> str:
        given = [
            word
            for word, value in (
                ("send", part.send),
                ("await", part.await_),
                ("think", part.think),
                ("repeat", part.repeat),
            )
            if value is not None
        ]
        place = self._place("step", number)
        if len(given) != 1:
            told = f"{given[0]} and {given[1]} in one step" if given else "a step that does nothing"
            raise TrafficProblem(place, told, "write one of send, await, think and repeat")
        kind = given[0]
        if part.reply is not None and kind != "send":
            raise TrafficProblem(
                self._place("step", number, "reply"), f"a reply to {kind}", "write it beside send"
            )
        hears = kind == "await" or part.reply is not None
        for word, value in (("check", part.check), ("capture", part.capture)):
            if value is not None and not hears:
                raise TrafficProblem(
                    self._place("step", number, word),
                    f"{word} without a message that is awaited",
                    "write it beside await or reply",
                )
        if part.name is not None and kind in ("think", "repeat"):
            raise TrafficProblem(
                self._place("step", number, "name"), f"a name of {kind}", "leave it out"
            )
        return kind

    def _line(self, number: int, part: StepPart, scope: Scope) -> Line:
        here = ("flow", self.index, "step", number)
        asked, word = (part.await_, "await") if part.send is None else (part.reply, "reply")
        is_acknowledged = matching.is_acknowledgement(asked)
        if is_acknowledged and not self._is_socket_io:
            raise TrafficProblem(
                self.file.place(*here, word, "ack"),
                "an acknowledgement over WebSocket, whose messages are all of one kind",
                'write {json = {"$.type" = "ack"}}, or a url that begins with socketio+ws://',
            )
        return Line(
            name=self._name_of(part, number),
            does="await" if part.send is None else "send",
            text=() if part.send is None else self._text(part.send, (*here, "send"), scope),
            acknowledged=is_acknowledged,
            awaits=matching.checks(asked, self.file, (*here, word), scope) if asked else (),
            checks=matching.checks(part.check, self.file, (*here, "check"), scope)
            if part.check
            else (),
            captures=matching.captures(part.capture or {}, self.file, (*here, "capture")),
        )

    @property
    def _is_socket_io(self) -> bool:
        return self.address[0].startswith(SOCKET_IO)

    def _text(self, sent: str, here: tuple[str | int, ...], scope: Scope) -> Text:
        """What is sent."""
        place = self.file.place(*here)
        if not sent:
            raise TrafficProblem(place, "an empty message", "write what is sent")
        if self._is_socket_io:
            sent = socket_io.event(sent, place)
        is_json = sent.lstrip()[:1] in ("{", "[")
        return fill(text_at(sent, place), scope, Form.JSON if is_json else Form.PLAIN)

    def _name_of(self, part: StepPart, number: int) -> str:
        """As it is written, or the type of what is sent or awaited, or an event's name."""
        if part.name is not None:
            if not 0 < len(part.name.encode()) <= MOST_NAME:
                raise TrafficProblem(
                    self._place("step", number, "name"),
                    f"a name has 1 to {MOST_NAME} bytes",
                    "write another one",
                )
            return part.name
        if part.send is not None:
            found = _EVENT.match(part.send) or _TYPE.search(part.send)
            return found["name"][: MOST_NAME // 2] if found else "send"
        places = part.await_.json_ if part.await_ and part.await_.json_ else {}
        kind = places.get("$.type", places.get("$[0]"))
        is_plain = isinstance(kind, str) and kind and "{{" not in kind
        return str(kind)[: MOST_NAME // 2] if is_plain else "await"

    def _think(self, script: _Script, written: str, place: Place) -> None:
        self._require_one_think(script.pending, place)
        script.pending = quantities.think(written, place)
        script.begins.append((len(script.steps), script.pending))

    @staticmethod
    def _require_one_think(earlier: Think | None, place: Place) -> None:
        if earlier is not None:
            raise TrafficProblem(place, "two think times in a row", "write their sum in one")

    def _repeat(self, script: _Script, written: str, number: int, lines: Lines) -> None:
        place = self._place("step", number, "repeat")
        found = _REPEAT.fullmatch(written)
        if not found:
            raise TrafficProblem(
                place, f'repeat "{written}"', 'write "from 2", or "from 2, 10 times"'
            )
        first = int(found["first"])
        times = None if found["times"] is None else int(found["times"])
        if not script.repeated < first <= number:
            least = script.repeated + 1
            told = f"write a step from {least} to {number}" if least <= number else "leave it out"
            raise TrafficProblem(
                place,
                f"repeat from {first}: steps are counted from 1, and repeats do not nest",
                told,
            )
        if times is not None and not 1 <= times <= _MOST_TIMES:
            raise TrafficProblem(place, f"{times} times", "write a number such as 10")
        if times is None and self.is_open_loop:
            raise TrafficProblem(
                place,
                "sessions that never end, and arrivals",
                f'write "{written}, 10 times", or users in [load]',
            )
        to, thinks = script.begins[first - 1]
        last = len(script.steps) - 1
        if thinks is not None and script.pending is not None:
            self._require_one_think(thinks, place)
        think = script.pending or thinks or NoThink()
        repeated = script.steps[to:]
        heard = any(lines.found[step.route].line.listens for step in repeated)
        waits = any(not isinstance(step.think, NoThink) for step in repeated)
        if to > last or not (heard or waits or not isinstance(think, NoThink)):
            raise TrafficProblem(
                place,
                "the steps that are repeated wait for nothing",
                "write a reply, an await or a think among them",
            )
        back = Back(to=to, times=times, think=think)
        script.steps[last] = script.steps[last].model_copy(update={"back": back})
        script.begins.append((len(script.steps), None))
        script.repeated = number + 1
        script.is_endless = times is None

    def _endless(self, number: int) -> str:
        """The repeat before this step."""
        parts = (self.part.step or [])[:number]
        return next(part.repeat for part in reversed(parts) if part.repeat is not None)
