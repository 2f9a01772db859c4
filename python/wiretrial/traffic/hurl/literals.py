"""Literals of Hurl: numbers, strings, patterns, bytes in base64 and hex, contents of files.

Knows how each is written; must not know what it is compared with.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from pathlib import Path

from lark import Token

from wiretrial.traffic.hurl import strings, words
from wiretrial.traffic.hurl.syntax import Body, Text, Value
from wiretrial.traffic.hurl.words import Family
from wiretrial.traffic.places import Place, TrafficProblem

_MULTILINE = re.compile(r"```(?P<about>[^\n]*)\n(?P<text>.*)```", re.DOTALL)
_MEDIA_TYPES = {"json": "application/json", "xml": "application/xml"}
_ESCAPE = "escape"
_CONSTANTS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class Literals:
    """Reads the literals of one file; files that it names are looked for beside it."""

    file: Path

    def value(self, token: Token) -> Value:
        """What stands behind a predicate."""
        place = self.place(token)
        match token.type:
            case "NUMBER":
                return Value(_number(token, place), place)
            case "CONSTANT":
                return Value(_CONSTANTS[token], place)
            case "STRING":
                return Value(strings.quoted(token, place), place)
            case "TEMPLATE":
                return Value(strings.text(token, place), place)
            case "REGEX":
                return Value(Text((strings.unescaped(token),), place), place, is_pattern=True)
            case _:
                return Value(self.body(token).content, place)

    def body(self, token: Token) -> Body:
        """A body, or a value as long as one."""
        place = self.place(token)
        match token.type:
            case "MULTILINE":
                return _multiline(token, place)
            case "ONELINE":
                return Body(strings.quoted(token, place), place)
            case "BASE64":
                return Body(_base64(token, place), place)
            case "HEX":
                return Body(_hex(token, place), place)
            case _:
                return Body(self._content(token, place), place)

    def place(self, token: Token) -> Place:
        """Where the token stands."""
        return Place(self.file, token.line or 1, token.column or 1)

    def _content(self, token: Token, place: Place) -> bytes:
        written = str(strings.text(token[len("file,") : -1].strip(), place, marks="; "))
        path = Path(written)
        if path.is_absolute() or ".." in path.parts:
            raise TrafficProblem(
                place, f"{written} is not beside this file", "copy it into this folder"
            )
        try:
            return (self.file.parent / path).read_bytes()
        except OSError as error:
            raise TrafficProblem(
                place, f"{written}: {error.strerror}", "name a file in this folder"
            ) from error


def _number(token: Token, place: Place) -> int | float:
    if re.search("[eE]", token):
        raise TrafficProblem(place, f"{token} has an exponent", "write the number without it")
    return float(token) if "." in token else int(token)


def _multiline(token: Token, place: Place) -> Body:
    found = _MULTILINE.fullmatch(token)
    if found is None:
        raise TrafficProblem(
            place, "``` needs a line of its own", "write the text in the lines that follow"
        )
    about = [word.strip() for word in found["about"].split(",") if word.strip()]
    kind = about.pop(0) if about and about[0] not in (_ESCAPE, "novariable") else None
    if kind == "graphql":
        words.find(Family.BODY, "```graphql", place)
    if kind not in (None, *_MEDIA_TYPES):
        raise TrafficProblem(place, f"```{kind} is no type of text", "write ```, ```json or ```xml")
    for word in about:
        if word != _ESCAPE:
            raise TrafficProblem(
                place,
                f"attribute {word} of ``` is not supported",
                "leave it out, or write `text` with \\u{7b}\\u{7b} for {{",
            )
    begin = place.along(token[: found.start("text")])
    content = strings.text(found["text"], begin, escapes=_ESCAPE in about)
    # Values are not escaped in it, though it be JSON: as hurl has it.
    return Body(content, place, _MEDIA_TYPES.get(kind or ""))


def _base64(token: Token, place: Place) -> bytes:
    inside = "".join(token[len("base64,") : -1].split())
    try:
        return base64.b64decode(inside + "=" * (-len(inside) % 4), validate=True)
    except binascii.Error as error:
        raise TrafficProblem(place, f"not base64: {error}", "correct it") from error


def _hex(token: Token, place: Place) -> bytes:
    digits = token[len("hex,") : -1].strip()
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})*", digits):
        raise TrafficProblem(place, "not hexadecimal digits in pairs", "write hex,636166c3a9;")
    return bytes.fromhex(digits)
