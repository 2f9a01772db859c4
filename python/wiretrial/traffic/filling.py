"""What the names in `{{}}` stand for, and texts as the engine fills them.

Knows variables, columns, captures, and what the engine makes; must not know where a text is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import quote

from wiretrial import suggest
from wiretrial.plan_traffic import JsonOf, Made, MadeOf, Text, UrlOf, ValueOf, Words
from wiretrial.traffic.hurl import syntax
from wiretrial.traffic.hurl.syntax import Hole
from wiretrial.traffic.places import Place, TrafficProblem
from wiretrial.words import Noun

Part = Words | ValueOf | UrlOf | JsonOf | MadeOf

MADE: Mapping[str, Made] = {
    "newUuid": "uuid",
    "newDate": "time",
    "seq": "seq",
    "user_number": "user",
    "iteration_number": "iteration",
}
"""Names of what the engine makes; variables, columns and captures of the same name come first."""

ENTRY = Noun("entry", "entries")

_URL_SAFE = ":/?#[]@!$&'()*+,;=-._~%"


class Form(Enum):
    """How a value is written where it stands."""

    PLAIN = auto()
    TARGET = auto()
    """In a URL: what can't stand there is percent-encoded."""
    URL = auto()
    """In a query or form: all but letters, digits and `-._~` is percent-encoded."""
    JSON = auto()
    """In JSON: inside of strings escaped, elsewhere as it is."""


@dataclass(frozen=True)
class Scope:
    """The names that an entry may use."""

    variables: Mapping[str, str] = field(default_factory=dict)
    columns: frozenset[str] = frozenset()
    feed: str | None = None
    captures: frozenset[str] = frozenset()
    later: Mapping[str, Place] = field(default_factory=dict)
    """Captures of this entry and those behind it."""
    part: Noun = ENTRY
    """What uses the names, as its file calls it."""

    def require(self, hole: Hole) -> None:
        """Raises for a name that stands for nothing."""
        name = hole.name
        if name in self.variables or name in self.columns or name in self.captures:
            return
        if name in MADE:
            return
        one, many = self.part.one, self.part.many
        if name in self.later:
            raise TrafficProblem(
                hole.place,
                f"{hole} is captured in line {self.later[name].line}, for the {many} behind it",
                f"use it in a later {one}, or move the {one} that captures it before this one",
            )
        known = [*self.variables, *self.columns, *self.captures, *MADE]
        if name == "base":
            remedy = 'write base = "http://HOST:PORT" in the TOML file, or give --variable base=URL'
        elif found := suggest.closest(name, known):
            remedy = f"did you mean {found}?"
        else:
            remedy = f"capture it in an earlier {one}, or add a column or a variable of this name"
        where = f", and {self.feed} has no such column" if self.feed else ""
        raise TrafficProblem(hole.place, f"{hole} has no value: nothing captures it{where}", remedy)


def fill(text: syntax.Text, scope: Scope, form: Form = Form.PLAIN) -> Text:
    """The text as the engine takes it."""
    return merged(_parts(text, scope, form))


def known(text: syntax.Text, scope: Scope, what: str) -> str:
    """The text where all of it is known before the run."""
    for hole in text.holes:
        scope.require(hole)
        if hole.name not in scope.variables:
            raise TrafficProblem(
                hole.place,
                f"{what} has {hole}, whose value is known only in the run",
                "write a text, or a variable of the TOML file",
            )
    return "".join(
        scope.variables[part.name] if isinstance(part, Hole) else part for part in text.parts
    )


def merged(parts: Iterator[Part]) -> Text:
    """The parts, without two plain ones side by side, and without empty ones."""
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Words) and found and isinstance(found[-1], Words):
            found[-1] = Words(text=found[-1].text + part.text)
        elif part != Words(text=""):
            found.append(part)
    return tuple(found)


def percent(text: str, form: Form) -> str:
    """Plain text in a URL, a query or a form."""
    return quote(text, safe=_URL_SAFE if form is Form.TARGET else "-._~")


def _parts(text: syntax.Text, scope: Scope, form: Form) -> Iterator[Part]:
    in_string = False
    for part in text.parts:
        if isinstance(part, Hole):
            scope.require(part)
            is_escaped = form is Form.JSON and in_string
            if form is Form.JSON and not in_string:
                _require_json(part, scope)
            yield _filled(part.name, scope, Form.PLAIN if form is Form.JSON else form, is_escaped)
            continue
        if form is Form.JSON:
            in_string = _ends_in_string(part, in_string)
        yield Words(text=percent(part, form) if form in (Form.TARGET, Form.URL) else part)


def _filled(name: str, scope: Scope, form: Form, in_string: bool) -> Part:
    if name in scope.captures or name in scope.columns:
        if in_string:
            return JsonOf(name=name)
        return UrlOf(url=name) if form is Form.URL else ValueOf(value=name)
    if (value := scope.variables.get(name)) is None:
        return MadeOf(make=MADE[name])
    if in_string:
        return Words(text=json.dumps(value, ensure_ascii=False)[1:-1])
    return Words(text=percent(value, form) if form in (Form.TARGET, Form.URL) else value)


def _require_json(hole: Hole, scope: Scope) -> None:
    """Raises where a value that is known would make a body that is no JSON."""
    value = scope.variables.get(hole.name)
    if value is None or hole.name in scope.columns:
        return
    try:
        json.loads(value)
    except ValueError as error:
        raise TrafficProblem(
            hole.place,
            f"{hole} is {json.dumps(value, ensure_ascii=False)}, which is no JSON by itself",
            f'write "{hole}", or another value',
        ) from error


def _ends_in_string(part: str, in_string: bool) -> bool:
    """Whether the end of a piece of JSON is inside a string."""
    is_escaped = False
    for sign in part:
        if is_escaped:
            is_escaped = False
        elif sign == "\\" and in_string:
            is_escaped = True
        elif sign == '"':
            in_string = not in_string
    return in_string
