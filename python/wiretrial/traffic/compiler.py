"""Compiles what people wrote, a TOML file or one `.hurl` file, to what the engine runs.

Knows how flows make up traffic; must not know the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from wiretrial.errors import UsageProblem
from wiretrial.goals import Goal
from wiretrial.plan import AnyHttpVersion
from wiretrial.plan_traffic import Feed, Flow, NoThink, Traffic
from wiretrial.traffic import goals, quantities, routes, variables
from wiretrial.traffic.calls import Calling, Described, is_of_calls
from wiretrial.traffic.conversations import (
    SOCKET_IO,
    SOCKETS,
    WEBSOCKETS,
    Conversation,
    Lines,
)
from wiretrial.traffic.document import FlowPart, TrafficFile, TrafficPart, read_traffic
from wiretrial.traffic.feeds import read_feed
from wiretrial.traffic.filling import Scope, known
from wiretrial.traffic.hurl import strings
from wiretrial.traffic.hurl.reading import read_hurl
from wiretrial.traffic.places import Place, TrafficProblem, standing_at
from wiretrial.traffic.quantities import LoadShape
from wiretrial.traffic.routes import HTTP, Compiled
from wiretrial.traffic.schema_checks import SchemaChecks
from wiretrial.traffic.sessions import Routes, Session
from wiretrial.traffic.tables import Locations

ANYWHERE, ANYWHERE_TALKING = "http://127.0.0.1:80", "ws://127.0.0.1:80"
"""The address of requests, and of conversations, to a server that is started later."""
_MOST_WEIGHT = 1_000_000
_MOST_NAME = 200
_REMEDIES = {
    "think": 'write {think = "2s"} among the steps',
    "cookies": "leave it out: a conversation keeps none",
    "file": "write the url and its steps, or the file alone",
    "step": 'write url = "ws://..." beside them, or the file alone',
    "unasked": "leave it out: nothing comes that is not asked for",
    "headers": "write them in the file, or in [headers]",
}
"""For a key of a flow that has no such thing."""


@dataclass(frozen=True)
class Scenario:
    """Traffic that can be run, and what the files say beside it."""

    origin: str
    traffic: Traffic
    headers: tuple[tuple[str, str], ...]
    """Of every request."""
    load: LoadShape
    goals: tuple[Goal, ...]
    routes: tuple[Compiled, ...]
    """Those of `traffic`, each with its place."""
    http: AnyHttpVersion = "1.1"

    @property
    def schemes(self) -> tuple[str, ...]:
        """What it goes over, the plain one first; over QUIC there is none."""
        if self.http == "3":
            return HTTP[1:]
        scheme = self.origin.partition("://")[0]
        return next(pair for pair in (HTTP, WEBSOCKETS, SOCKET_IO) if scheme in pair)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The routes of which nobody says what a right reply is: any 2xx is."""
        return tuple(one.route.name for one in self.routes if one.is_unchecked)


def is_traffic(name: str) -> bool:
    """Whether a word of the command line names a traffic file."""
    return "://" not in name and Path(name).suffix in (".hurl", ".toml")


def compile_file(path: Path, given: Mapping[str, str], *, learns: bool = True) -> Scenario:
    """The scenario in a TOML or `.hurl` file; `given` are variables that come before the file's."""
    if path.suffix not in (".hurl", ".toml"):
        raise UsageProblem(f"{path} is neither .hurl nor .toml", "name the file by its format")
    file = _alone(path) if path.suffix == ".hurl" else read_traffic(path)
    scenario = _Compiler(file, variables.of_file(file, given)).scenario()
    for one in scenario.routes:
        if one.is_unchecked and not learns:
            raise TrafficProblem(
                one.place,
                f"{one.route.name} has no response part, so that any 2xx reply is right",
                "write a line such as HTTP 200 behind it, or leave out --no-learn",
            )
    return scenario


def compile_at(
    path: Path, given: Mapping[str, str], base: str | None, *, learns: bool = True
) -> Scenario:
    """The scenario at `base` in the place of the file's; None: wherever a server is started.

    `given`: other variables. A path in `base` stands before those of the requests.
    """
    file = None if path.suffix == ".hurl" else read_traffic(path)
    talks = file is not None and file.part.flow[0].url is not None
    if base is None:
        if file is not None and file.part.base is not None:
            return compile_file(path, given, learns=learns)
        here = ANYWHERE_TALKING if talks else ANYWHERE
        return compile_file(path, {"base": here, **given}, learns=learns)
    scenario = compile_file(path, {**given, "base": base.rstrip("/")}, learns=learns)
    parts = urlsplit(base)
    schemes = SOCKETS if talks else HTTP
    asked = routes.origin(f"{parts.scheme}://{parts.netloc}", Place(path), schemes)
    if scenario.origin != asked and parts.path.strip("/"):
        raise UsageProblem(
            f"{base} has a path, and {path} names whole URLs",
            "write {{base}} in its URLs, or leave the path out",
        )
    return scenario


def _alone(path: Path) -> TrafficFile:
    """What a TOML file would say of a `.hurl` file that stands alone."""
    part = TrafficPart(flow=[FlowPart(file=path.name)])
    return TrafficFile(path, part, Locations(path, {}))


@dataclass(frozen=True)
class _Compiler:
    file: TrafficFile
    variables: Mapping[str, str]

    def scenario(self) -> Scenario:
        part = self.file.part
        load = quantities.load_shape(self.file)
        all_routes, lines, described = Routes(), Lines(), Described(self.file)
        feeds, flows, origins = dict[tuple[str, str], Feed](), list[Flow](), dict[str, Place]()
        for index, flow in enumerate(part.flow):
            self._require_weight(index, flow)
            if is_of_calls(flow):
                flows.append(self._calling(index, flow, load, all_routes, feeds, described))
            elif self._is_conversation(index, flow):
                flows.append(self._conversation(index, flow, load, lines, feeds, origins))
            else:
                flows.append(self._flow(index, flow, load, all_routes, feeds))
        self._require_distinct(flows)
        names = [one.route.name for one in all_routes.found]
        names += [one.line.name for one in lines.found]
        checks = SchemaChecks.of_file(self.file, names)
        found = tuple(checks.of_route(one) for one in all_routes.found)
        return Scenario(
            origin=_origin(all_routes.found, origins),
            traffic=Traffic(
                feeds=tuple(feeds.values()),
                routes=tuple(one.route for one in found),
                lines=tuple(checks.of_line(one).line for one in lines.found),
                flows=tuple(flows),
                sample=quantities.sample(self.file),
            ),
            headers=tuple(self._headers()),
            load=load,
            goals=self._goals(names, all_routes.found, flows, load.pool),
            routes=found,
            http=self._http(found),
        )

    def _http(self, found: tuple[Compiled, ...]) -> AnyHttpVersion:
        """The version that is spoken where nobody says another; of conversations, none is said."""
        asked = self.file.part.http
        if any(one.route.call for one in found):
            if asked == "1.1":
                raise TrafficProblem(
                    self.file.place("http"),
                    "calls of gRPC go over HTTP/2 and HTTP/3",
                    "leave it out",
                )
            return "3" if asked == "3" else "2"
        if asked not in (None, "1.1") and self.file.part.flow[0].url is not None:
            raise TrafficProblem(
                self.file.place("http"),
                f'http = "{asked}" of conversations, which are had over HTTP/1.1',
                "leave it out",
            )
        return asked or "1.1"

    def _is_conversation(self, index: int, part: FlowPart) -> bool:
        """Whether it has steps at a URL, and no file; raises where it has something of both."""
        here, first = ("flow", index), self.file.part.flow[0]
        if part.file is None and part.url is None:
            raise TrafficProblem(
                self.file.place(*here),
                "a flow without file and url",
                'write file = "FILE.hurl", url = "ws://..." and steps, or steps that call',
            )
        talks = part.url is not None
        others: Mapping[str, object] = (
            {"file": part.file, "think": part.think, "cookies": part.cookies}
            if talks
            else {"step": part.step, "unasked": part.unasked, "headers": part.headers or None}
        )
        for key, value in others.items():
            if value is not None:
                of = "conversation" if talks else "file"
                raise TrafficProblem(
                    self.file.place(*here, key), f"{key} of a {of}", _REMEDIES[key]
                )
        if talks and part.step is None:
            raise TrafficProblem(
                self.file.place(*here), "a conversation without steps", "write step = [...]"
            )
        if talks != (first.url is not None):
            raise TrafficProblem(
                self.file.place(*here),
                "requests and conversations in one file",
                "write a file for each, and load them beside each other",
            )
        return talks

    def _conversation(
        self,
        index: int,
        part: FlowPart,
        load: LoadShape,
        lines: Lines,
        feeds: dict[tuple[str, str], Feed],
        origins: dict[str, Place],
    ) -> Flow:
        feed = self._own_feed(index, part, load, feeds)
        is_open_loop = load.rate is not None
        talk = Conversation(self.file, index, part, self.variables, feed, is_open_loop)
        origins.setdefault(talk.address[0], self.file.place("flow", index, "url"))
        return Flow(
            name=talk.name,
            weight=part.weight,
            feed=feed.name if feed else None,
            unasked=part.unasked or "count",
            steps=talk.steps(lines),
        )

    def _calling(
        self,
        index: int,
        part: FlowPart,
        load: LoadShape,
        all_routes: Routes,
        feeds: dict[tuple[str, str], Feed],
        described: Described,
    ) -> Flow:
        here = ("flow", index)
        for key, value in {"unasked": part.unasked, "headers": part.headers or None}.items():
            if value is not None:
                raise TrafficProblem(
                    self.file.place(*here, key),
                    f"{key} of a flow of calls",
                    "leave it out, or write metadata = {...} in its steps",
                )
        feed = self._own_feed(index, part, load, feeds)
        # Of an open loop, the arrival says when the first call is due.
        thinks_first = load.rate is None
        calling = Calling(self.file, index, part, self.variables, feed, described, thinks_first)
        steps = tuple(calling.steps(all_routes))
        if not steps:
            raise TrafficProblem(
                self.file.place(*here, "step"),
                "no step calls anything",
                'write call = "pkg.Service/Method"',
            )
        return Flow(
            name=calling.name,
            weight=part.weight,
            feed=feed.name if feed else None,
            cookies=part.cookies is not False,
            steps=steps,
        )

    def _flow(
        self,
        index: int,
        part: FlowPart,
        load: LoadShape,
        all_routes: Routes,
        feeds: dict[tuple[str, str], Feed],
    ) -> Flow:
        here, name = ("flow", index), part.file or ""
        with standing_at(self.file.place(*here, "file")):
            hurl = read_hurl(self._beside(name, self.file.place(*here, "file")))
        feed = self._own_feed(index, part, load, feeds)
        think_place = self.file.place(*here, "think")
        think = quantities.think(part.think, think_place) if part.think else NoThink()
        # Of an open loop, the arrival says when the first request is due.
        session = Session(hurl, self.variables, feed, think, thinks_first=load.rate is None)
        steps = tuple(session.steps(all_routes))
        if not steps:
            raise TrafficProblem(
                self.file.place(*here), f"{name} has no request left", "skip fewer entries"
            )
        return Flow(
            name=part.name or Path(name).stem,
            weight=part.weight,
            feed=feed.name if feed else None,
            cookies=part.cookies is not False,
            steps=steps,
        )

    def _require_weight(self, index: int, part: FlowPart) -> None:
        if not 1 <= part.weight <= _MOST_WEIGHT:
            raise TrafficProblem(
                self.file.place("flow", index, "weight"),
                f"weight {part.weight}",
                f"write a whole number from 1 to {_MOST_WEIGHT:,}, or leave the flow out",
            )

    def _own_feed(
        self,
        index: int,
        part: FlowPart,
        load: LoadShape,
        feeds: dict[tuple[str, str], Feed],
    ) -> Feed | None:
        """The feed, with rows enough for the users."""
        feed = self._feed(index, part, feeds)
        if feed and feed.order == "unique" and load.users and len(feed.rows) < load.users:
            raise TrafficProblem(
                self.file.place("flow", index, "feed"),
                f"{len(feed.rows)} rows for {load.users} users, of which each needs its own",
                'add rows, lower users, or write order = "sequential"',
            )
        return feed

    def _feed(self, index: int, part: FlowPart, feeds: dict[tuple[str, str], Feed]) -> Feed | None:
        if part.feed is None:
            return None
        key = (part.feed.file, part.feed.order)
        if key not in feeds:
            place = self.file.place("flow", index, "feed")
            taken = {feed.name for feed in feeds.values()}
            name = part.feed.file if part.feed.file not in taken else " ".join(key)
            feeds[key] = read_feed(part.feed, self._beside(part.feed.file, place), name, place)
        return feeds[key]

    def _beside(self, name: str, place: Place) -> Path:
        if not name:
            raise TrafficProblem(place, "a file without a name", "write its name")
        return self.file.path.parent / name

    def _require_distinct(self, flows: list[Flow]) -> None:
        names = [flow.name for flow in flows]
        for index, name in enumerate(names):
            if len(name.encode()) > _MOST_NAME:
                raise TrafficProblem(
                    self.file.place("flow", index),
                    f"a name of more than {_MOST_NAME} bytes",
                    "shorten it",
                )
            if name in names[:index]:
                raise TrafficProblem(
                    self.file.place("flow", index),
                    f"a second flow {name}",
                    'give it another name: name = "..."',
                )

    def _headers(self) -> list[tuple[str, str]]:
        scope = Scope(variables=self.variables)
        found = []
        for name, value in self.file.part.headers.items():
            place = self.file.place("headers", name)
            found.append((name, known(strings.text(value, place, escapes=False), scope, name)))
        return found

    def _goals(
        self, names: list[str], compiled: list[Compiled], flows: list[Flow], pool: int | None
    ) -> tuple[Goal, ...]:
        of_file = [
            goals.goal(
                key, bound, names, [flow.name for flow in flows], self.file.place("goal", key)
            )
            for key, bound in self.file.part.goal.items()
        ]
        for key, goal in zip(self.file.part.goal, of_file, strict=True):
            if goal.is_of_blocked and pool is None:
                raise TrafficProblem(
                    self.file.place("goal", key),
                    f"{key}: each user has a connection, so that nobody waits for one",
                    "leave it out, or write connections = {pool = 50} in [load]",
                )
        if pool is not None:
            of_file += goals.of_pool(of_file)
        return (*of_file, *(goal for one in compiled for goal in one.goals))


def _origin(compiled: list[Compiled], origins: Mapping[str, Place]) -> str:
    """The one origin of all routes, or of all conversations."""
    found = [*((one.origin, one.place) for one in compiled), *origins.items()]
    first, at = found[0]
    for origin, place in found:
        if origin != first:
            raise TrafficProblem(
                place,
                f"{origin} is another server than {first} ({at})",
                "load one server at a time: keep the requests of one",
            )
    return first
