"""From the text of a `.hurl` file to lark's tree, or to the place of the first mistake.

Knows the grammar in `hurl.lark` and what people write instead; must not know what the tree means.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NoReturn

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from wiretrial import suggest
from wiretrial.traffic.places import Place, TrafficProblem

Node = Tree[Token]

_SECTIONS = (
    *("Query", "Form", "BasicAuth", "Options", "Captures", "Asserts"),
    *("QueryStringParams", "FormParams"),
)
_UNITS = {
    "KEY": "a line `name: value`",
    "VERSION": "a line such as HTTP 200",
    "METHOD": "a request line such as GET http://...",
    "VALUE": "a value",
    "COLON": "`:`",
    "COMMA": "`,`",
    "RBRACE": "`}`",
    "RSQB": "`]`",
    "STRING": 'a text in quotation marks such as "x"',
    "WORD": 'a line such as jsonpath "$.id" exists',
}
"""What may come next, in the order of how much it tells."""
_MOST_TOLD = 3


def tree(source: str, path: Path) -> Node:
    """The file's tree; every token has line and column."""
    try:
        # The last line may have no end.
        return _parser().parse(source + "\n")
    except UnexpectedToken as error:
        place = Place(path, max(error.line, 1), max(error.column, 1))
        _refuse(place, error.token.type, source, error.accepts or error.expected)
    except UnexpectedCharacters as error:
        place = Place(path, error.line, error.column)
        _refuse(place, None, source, error.allowed or set())


@cache
def _parser() -> Lark:
    grammar = resources.files("wiretrial.traffic.hurl").joinpath("hurl.lark")
    return Lark(
        grammar.read_text(encoding="utf-8"),
        parser="lalr",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _refuse(place: Place, kind: str | None, source: str, expected: Set[str]) -> NoReturn:
    """Raises what is wrong at `place`; `kind` is the token's that stands there, if it is one."""
    lines = (source + "\n").splitlines()
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    for diagnose in (_section, _response_line, _request_line, _operator, _xml, _open_string):
        if told := diagnose(line, place.column, kind, expected):
            raise TrafficProblem(place, *told) from None
    rest = line[place.column - 1 :].split("#")[0].strip()
    found = f"`{_shortened(rest)}`" if rest else "the end of the line"
    if kind == "$END" or place.line > len(source.splitlines()):
        found = "the end of the file"
    wanted = [told for name, told in _UNITS.items() if name in expected][:_MOST_TOLD]
    remedy = f"write {_either(wanted)}" if wanted else "leave it out"
    raise TrafficProblem(place, f"{found} can't stand here", remedy) from None


_Told = tuple[str, str] | None


def _section(line: str, column: int, _kind: str | None, expected: Set[str]) -> _Told:
    found = re.match(r"\[([A-Za-z]+)\]", line[column - 1 :])
    if not found:
        return None
    name = found[1]
    if name in ("Asserts", "Captures"):
        what = "a response" if "VERSION" in expected else "the lines of a response, before its body"
        return f"[{name}] can't stand here", f"it belongs to {what}: write HTTP 200 before it"
    if name in _SECTIONS:
        return f"[{name}] can't stand here", "it belongs to a request, before its body"
    return f"there is no section [{name}]", suggest.remedy(name, _SECTIONS)


def _request_line(line: str, column: int, _kind: str | None, expected: Set[str]) -> _Told:
    found = re.match(r"([A-Za-z]+)[ \t]+\S", line[column - 1 :])
    if found and "METHOD" in expected and found[1].upper() in _METHODS:
        return f"a method is written in capitals, not {found[1]}", f"write {found[1].upper()}"
    if re.match(r"[A-Z]+[ \t]*$", line[column - 1 :]) and "METHOD" in expected:
        return f"{line.strip()} without a URL", f"write {line.strip()} http://..."
    return None


_METHODS = frozenset(
    {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}
)


def _response_line(line: str, column: int, _kind: str | None, expected: Set[str]) -> _Told:
    if "STATUS" in expected:
        rest = line[column - 1 :].strip()
        return f"`{_shortened(rest)}` is no status", "write a number such as 200, or * for any"
    if re.match(r"HTTP\S*\s*$", line[column - 1 :]) and "VERSION" in expected:
        return f"{line.strip()} without a status", "write HTTP 200, or HTTP * for any"
    if re.match(r"HTTP[ /]", line[column - 1 :]) and "METHOD" in expected:
        return "a response without a request", "write a line such as GET http://... before it"
    return None


def _operator(line: str, column: int, _kind: str | None, expected: Set[str]) -> _Told:
    if re.match(r"=(?!=)", line[column - 1 :]) and "OPERATOR" in expected:
        return "= compares nothing", "write =="
    return None


def _xml(line: str, column: int, _kind: str | None, expected: Set[str]) -> _Told:
    if line[column - 1 :].startswith("<") and "MULTILINE" in expected:
        return "a body of XML is not supported as it is", "put it between ```xml and ```"
    return None


def _open_string(line: str, column: int, _kind: str | None, _expected: Set[str]) -> _Told:
    rest = line[column - 1 :]
    if rest.startswith("```"):
        return "``` is not closed", "write ``` behind the text, in a line of its own"
    if rest.startswith(('"', "`")) and not re.match(r'"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`', rest):
        return f"{rest[0]} is not closed", f"write {rest[0]} behind the text"
    if found := re.match(r"(base64|hex|file),", rest):
        return f"{found[0]} is not closed", "write ; behind it"
    return None


def _either(wanted: list[str]) -> str:
    return " or ".join([", ".join(wanted[:-1]), wanted[-1]]) if len(wanted) > 1 else wanted[0]


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
