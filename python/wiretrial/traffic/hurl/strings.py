"""Escapes and holes inside Hurl's texts.

Knows `\\n`, `\\u{e9}` and `{{name}}`; must not know where a text stands in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from wiretrial.traffic.hurl.syntax import Hole, Text
from wiretrial.traffic.places import Place, TrafficProblem

_ESCAPED = {"b": "\b", "n": "\n", "f": "\f", "r": "\r", "t": "\t"}
_ITSELF = '#"`\\/'
_NAME = re.compile(r"[\w-]+")
_OPEN, _CLOSED = "{{", "}}"
_LONGEST = len(r"\u{10ffff}")
"""Characters of an escape."""
_MOST_TOLD = 40
_MARKS, _BRACES = re.compile(r"\\|\{\{"), re.compile(r"\{\{")


def text(source: str, place: Place, *, escapes: bool = True, marks: str = "") -> Text:
    """The text that `source` stands for; `escapes`: whether a backslash is one.

    `marks`: what may stand behind a backslash in this place alone.
    """
    parts: list[str | Hole] = []
    for part in _parts(source, place, f"{_ITSELF}{marks}" if escapes else ""):
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        elif part != "":
            parts.append(part)
    return Text(tuple(parts), place)


def quoted(source: str, place: Place) -> Text:
    """The text between the quotation marks with which `source` begins and ends."""
    inside = text(source[1:-1], place.along(source[0]))
    return replace(inside, place=place)


def unescaped(pattern: str) -> str:
    """A pattern between slashes, in which only the slash is escaped."""
    return pattern[1:-1].replace("\\/", "/")


def _parts(source: str, place: Place, itself: str) -> Iterator[str | Hole]:
    marks = _MARKS if itself else _BRACES
    at = 0
    while found := marks.search(source, at):
        yield source[at : found.start()]
        place = place.along(source[at : found.start()])
        at = found.start()
        part: str | Hole
        if found[0] == _OPEN:
            part, taken = _hole(source, at, place)
        else:
            part, taken = _escape(source[at : at + _LONGEST], place, itself)
        yield part
        place = place.along(source[at : at + taken])
        at += taken
    yield source[at:]


def _escape(source: str, place: Place, itself: str) -> tuple[str, int]:
    """The character that stands at the beginning as an escape, and the escape's length."""
    if found := re.match(r"\\u\{([0-9a-fA-F]{1,6})\}", source):
        number = int(found[1], 16)
        if number < 0x110000 and not 0xD800 <= number < 0xE000:
            return chr(number), found.end()
    sign = source[1:2]
    if sign in _ESCAPED:
        return _ESCAPED[sign], 2
    if sign and sign in itself:
        return sign, 2
    raise TrafficProblem(
        place,
        f"there is no escape \\{sign}",
        r"write \\ for a backslash; escapes are \n \r \t \b \f \# \u{e9}",
    )


def _hole(source: str, at: int, place: Place) -> tuple[Hole, int]:
    end = source.find(_CLOSED, at)
    if end < 0:
        raise TrafficProblem(place, "{{ is not closed", "write }} behind the name")
    inside = source[at + len(_OPEN) : end]
    name = inside.strip(" ")
    if not name:
        raise TrafficProblem(place, "{{}} names nothing", "write a name between the braces")
    if not _NAME.fullmatch(name):
        raise TrafficProblem(
            place,
            f"{{{{{name[:_MOST_TOLD]}}}}} is more than a name",
            "write a name of letters, digits, _ and -; filters can't stand here",
        )
    return Hole(name, place), end + len(_CLOSED) - at
