"""From the entries of a file to a flow: which routes, in which order, after which think times.

Knows what one entry leaves to the next; must not know other flows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from wiretrial.plan_traffic import Feed, NoThink, Step, Think
from wiretrial.traffic import quantities, routes, variables
from wiretrial.traffic.filling import Scope, known
from wiretrial.traffic.hurl.syntax import Entry, HurlFile
from wiretrial.traffic.places import Place, TrafficProblem
from wiretrial.traffic.routes import Compiled

_MOST_REPEATED = 1000
_SPOKEN = ("http1.1", "path-as-is")
"""Options that ask for what is done always."""
_SHOWN = ("verbose", "very-verbose")
"""Options about what hurl prints."""


@dataclass
class Routes:
    """The routes of all flows; what is the same in two of them is one."""

    found: list[Compiled] = field(default_factory=list)

    def index(self, entry: Entry, scope: Scope) -> int:
        """The number of the entry's route, which is added where there is none like it."""
        return self.index_of(
            routes.name_of(entry),
            lambda name: routes.compile_entry(entry, name, scope),
            "@name" if entry.name is not None else None,
        )

    def index_of(self, name: str, compiled: Callable[[str], Compiled], named: str | None) -> int:
        """The same of a route that may be compiled under any name.

        `named`: the word with which its name is written; None: it has none of its own.
        """
        for number in range(1, len(self.found) + 2):
            tried = name if number == 1 else f"{name} ({number})"
            same = [index for index, one in enumerate(self.found) if one.route.name == tried]
            new = compiled(tried)
            if not same:
                self.found.append(new)
                return len(self.found) - 1
            old = self.found[same[0]]
            if old.route == new.route and old.origin == new.origin:
                return same[0]
            if named is not None:
                raise TrafficProblem(
                    new.place,
                    f"{named} {name} is another request's, too ({old.place})",
                    "give each its own name",
                )
        raise AssertionError("one of the names is free")


@dataclass(frozen=True)
class Session:
    """What a flow's entries share."""

    file: HurlFile
    variables: Mapping[str, str]
    feed: Feed | None
    think: Think
    thinks_first: bool

    def steps(self, all_routes: Routes) -> Iterator[Step]:
        """The steps, each with its route in `all_routes`."""
        scope = Scope(
            variables=self.variables,
            columns=frozenset(self.feed.columns) if self.feed else frozenset(),
            feed=self.feed.name if self.feed else None,
            later=self._captured(),
        )
        is_first = not self.thinks_first
        for entry in self.file.entries:
            options = entry.request.section("Options")
            scope = variables.after_options(options, scope)
            settings = _settings(entry, scope)
            if settings.is_skipped:
                continue
            index = all_routes.index(entry, scope)
            for _ in range(settings.repeat):
                default = NoThink() if is_first else self.think
                yield Step(route=index, think=settings.think or default)
                is_first = False
            scope = self._after(entry, scope)

    def _captured(self) -> dict[str, Place]:
        """Where each value is captured first."""
        found: dict[str, Place] = {}
        for entry in self.file.entries:
            for capture in entry.response.captures if entry.response else ():
                if self.feed and capture.name in self.feed.columns:
                    raise TrafficProblem(
                        capture.place,
                        f"{capture.name} is a column of {self.feed.name}, too",
                        "give the capture another name",
                    )
                found.setdefault(capture.name, capture.place)
        return found

    def _after(self, entry: Entry, scope: Scope) -> Scope:
        names = {one.name for one in entry.response.captures} if entry.response else set()
        # A captured value hides a variable of the same name.
        kept = {name: value for name, value in scope.variables.items() if name not in names}
        return replace(scope, variables=kept, captures=scope.captures | names)


@dataclass(frozen=True)
class _Settings:
    think: Think | None = None
    repeat: int = 1
    is_skipped: bool = False


def _settings(entry: Entry, scope: Scope) -> _Settings:
    found = _Settings()
    for option in entry.request.section("Options"):
        word, place = str(option.key), option.value.place
        if word not in ("delay", "repeat", "skip", *_SPOKEN, *_SHOWN):
            continue
        value = known(option.value, scope, f"option {word}")
        match word:
            case "delay":
                found = replace(found, think=quantities.think_of_delay(value, place))
            case "repeat":
                found = replace(found, repeat=_repeated(value, place))
            case "skip":
                found = replace(found, is_skipped=routes.truth(word, value, place))
            case _ if not routes.truth(word, value, place) and word in _SPOKEN:
                raise TrafficProblem(
                    place, f"{word}: false", "leave it out: it is true of every request"
                )
    return found


def _repeated(value: str, place: Place) -> int:
    if not re.fullmatch(r"\d+", value) or not 1 <= int(value) <= _MOST_REPEATED:
        raise TrafficProblem(
            place, f"repeat: {value}", f"write a number from 1 to {_MOST_REPEATED}"
        )
    return int(value)
