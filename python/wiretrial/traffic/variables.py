"""Variables that are known before the run: of the TOML file, the command line, an entry's options.

Knows how one names another; must not know where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wiretrial import suggest
from wiretrial.errors import UsageProblem
from wiretrial.traffic.document import TrafficFile
from wiretrial.traffic.filling import Scope, known
from wiretrial.traffic.hurl import strings
from wiretrial.traffic.hurl.syntax import Hole, Pair, Text
from wiretrial.traffic.places import Place, TrafficProblem
from wiretrial.traffic.routes import split_pair


def given(words: Sequence[str]) -> dict[str, str]:
    """Of the command line: each is NAME=VALUE."""
    found = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not mark or not name:
            raise UsageProblem(f"--variable {word}: no value", "write --variable NAME=VALUE")
        found[name] = value
    return found


def of_file(file: TrafficFile, from_outside: Mapping[str, str]) -> dict[str, str]:
    """Those of the TOML file, each with what it names filled in; those from outside come first."""
    written = {name: _as_text(value) for name, value in file.part.variables.items()}
    places = {name: file.place("variables", name) for name in written}
    if file.part.base is not None:
        if "base" in written:
            raise TrafficProblem(places["base"], "base is given twice", "keep the key base")
        written["base"], places["base"] = file.part.base, file.place("base")
    texts = {
        name: text_at(value, places[name])
        for name, value in written.items()
        if name not in from_outside
    }
    resolved = dict(from_outside)
    for name in texts:
        _resolve(name, texts, resolved, ())
    return resolved


def after_options(options: tuple[Pair, ...], scope: Scope) -> Scope:
    """The scope with the options `variable` of an entry."""
    found = dict(scope.variables)
    for option in options:
        if str(option.key) == "variable":
            pair = split_pair(option, "=", "name=value")
            value = known(pair.value, replace(scope, variables=found), "a variable")
            is_quoted = len(value) > 1 and value[0] == value[-1] == '"'
            found[str(pair.key)] = value[1:-1] if is_quoted else value
    return replace(scope, variables=found)


def text_at(value: str, place: Place) -> Text:
    """A text of the TOML file, with its key's place: where in a line it stands isn't known."""
    text = strings.text(value, place, escapes=False)
    parts = tuple(
        replace(part, place=place) if isinstance(part, Hole) else part for part in text.parts
    )
    return Text(parts, place)


def _resolve(
    name: str, texts: Mapping[str, Text], resolved: dict[str, str], within: tuple[str, ...]
) -> str:
    if name in resolved:
        return resolved[name]
    text = texts[name]
    if name in within:
        way = " -> ".join((*within[within.index(name) :], name))
        raise TrafficProblem(
            text.place, f"variables name each other in a circle: {way}", "write one as a text"
        )
    for hole in text.holes:
        if hole.name not in texts and hole.name not in resolved:
            raise TrafficProblem(
                text.place,
                f"{name} names {hole}, which is no variable",
                suggest.remedy(hole.name, texts, "add it to [variables]"),
            )
    resolved[name] = "".join(
        _resolve(part.name, texts, resolved, (*within, name)) if isinstance(part, Hole) else part
        for part in text.parts
    )
    return resolved[name]


def _as_text(value: str | bool | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
