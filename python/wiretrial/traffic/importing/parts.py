"""Parts of entries, made rather than read.

Knows what a person would write: a query in its own section where it is long, a form rather than its
encoded body, JSON on several lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlsplit

from wiretrial.traffic import jsonpath
from wiretrial.traffic.hurl import reading
from wiretrial.traffic.hurl.syntax import (
    Assertion,
    Body,
    Call,
    Capture,
    Hole,
    Pair,
    Request,
    Text,
    Value,
)
from wiretrial.traffic.places import Place, TrafficProblem

NOWHERE = Place(Path("-"))
"""The place of what was never read."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LONG_URL, _LONG_JSON = 80, 72
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"

# What a browser or a library adds by itself, or what the load generator does in its own way.
_DROPPED = frozenset(
    {
        *("host", "connection", "content-length", "transfer-encoding", "keep-alive", "te"),
        *("cookie", "accept-encoding", "user-agent", "upgrade-insecure-requests", "dnt"),
        *("priority", "pragma", "cache-control", "if-none-match", "if-modified-since", "expect"),
        *("proxy-connection", "http2-settings", "upgrade"),
    }
)


def free_name(name: str, taken: set[str]) -> str:
    """The name, with a number behind it where it is taken; taken from now on."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    taken.add(found)
    return found


@dataclass(frozen=True)
class Sent:
    """A request as it was sent."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    media_type: str = ""

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def request(sent: Sent, values: Mapping[str, str]) -> Request:
    """The request; each of `values` that stands in it becomes a hole with its name."""
    sections: dict[str, tuple[Pair, ...]] = {}
    path, query = _target(sent.url)
    if query and len(path) + len(query) > _LONG_URL and (pairs := _pairs(query)):
        sections["Query"] = tuple(_pair(key, value, values) for key, value in pairs)
        query = ""
    body, implied_type = _body(sent, values)
    if isinstance(body, tuple):
        sections["Form"], body = body, None
    implied = {"content-type": implied_type, "accept": "*/*"}
    headers = [
        Pair(text(name), _based(value, sent.origin, values))
        for name, value in sent.headers
        if is_kept(name) and implied.get(name.lower()) != value
    ]
    written = f"{path}?{query}" if query else path
    url = Text((Hole("base", NOWHERE), *with_holes(written, values).parts), NOWHERE)
    return Request(sent.method, url, NOWHERE, tuple(headers), sections, body)


def loads(source: str) -> Any:
    """JSON, without halves of characters, which no file can hold."""
    return _sane(json.loads(source, parse_constant=_refuse))


def is_kept(name: str) -> bool:
    """Whether a header field is the application's, not the browser's or the connection's."""
    lower = name.lower()
    is_ours = lower in _DROPPED or lower.startswith((":", "sec-", "proxy-"))
    return bool(_TOKEN.fullmatch(name)) and not is_ours


def text(plain: str) -> Text:
    """A text without holes."""
    return Text((plain,) if plain else (), NOWHERE)


def with_holes(source: str, values: Mapping[str, str]) -> Text:
    """The text, in which each value that stands alone becomes the hole with its name."""
    if not values:
        return text(source)
    longest = sorted(values, key=len, reverse=True)
    found = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, longest))})(?![\w-]|\.\w)")
    parts: list[str | Hole] = []
    at = 0
    for one in found.finditer(source):
        if one.start() > at:
            parts.append(source[at : one.start()])
        parts.append(Hole(values[one[0]], NOWHERE))
        at = one.end()
    if at < len(source):
        parts.append(source[at:])
    return Text(tuple(parts), NOWHERE)


def merged(pieces: Iterable[str | Hole]) -> Text:
    """The text of pieces, of which no two neighbours stay plain."""
    found: list[str | Hole] = []
    for piece in pieces:
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        elif piece != "":
            found.append(piece)
    return Text(tuple(found), NOWHERE)


def json_body(content: object, values: Mapping[str, str] | None = None) -> Body:
    """A body of JSON, on several lines where it is long."""
    written = json.dumps(content, ensure_ascii=False)
    if len(written) > _LONG_JSON:
        written = json.dumps(content, ensure_ascii=False, indent=2)
    if written[:1] not in "{[":
        # Hurl takes a lone number for part of the line above.
        return Body(text(written), NOWHERE, _JSON)
    # Two braces stand in strings alone, where they are no hole.
    filled = with_holes(re.sub(r"\{(?=\{)", _brace, written), values or {})
    return Body(Text(tuple(_apart(filled.parts)), NOWHERE), NOWHERE, _JSON, is_json=True)


def templated_json(of: Text) -> Body | None:
    """A body of JSON with holes; None where it is none with which a file could go on."""
    written = str(of).strip()
    try:
        entries = reading.parse(f"POST http://h/\n{written}\n", NOWHERE.file).entries
    except TrafficProblem:
        return None
    body = entries[0].request.body
    is_whole = body is not None and body.is_json and str(body.content) == written
    return body if is_whole else None


def _brace(_found: re.Match[str]) -> str:
    return "\\u007b"


def _apart(of: tuple[str | Hole, ...]) -> Iterator[str | Hole]:
    """Pieces of JSON: a brace right before a hole is told apart from the hole's own."""
    for part, behind in zip(of, (*of[1:], None), strict=True):
        if isinstance(part, str) and isinstance(behind, Hole):
            yield re.sub(r"\{$", _brace, part)
        else:
            yield part


def assertion(query: str, argument: str | None, word: str, *arguments: object) -> Assertion:
    """A line of `[Asserts]`."""
    of = () if argument is None else (Value(text(argument), NOWHERE),)
    return Assertion(
        Call(query, NOWHERE, of), (), Call(word, NOWHERE, tuple(map(_value, arguments))), False
    )


def counted(path: str, word: str, number: int) -> Assertion:
    """How many elements there are."""
    line = assertion("jsonpath", path, word, number)
    return Assertion(line.query, (Call("count", NOWHERE),), line.predicate, False)


def capture(name: str, query: str, argument: str, *, is_pattern: bool = False) -> Capture:
    """A line of `[Captures]`."""
    value = Value(text(argument), NOWHERE, is_pattern=is_pattern)
    return Capture(name, Call(query, NOWHERE, (value,)), (), NOWHERE)


def member_path(path: str, name: str) -> str:
    """The path of a member."""
    return path + jsonpath.member(name)


def type_check(path: str, value: object) -> Assertion | None:
    """That the value at a path stays of its type."""
    match value:
        case bool():
            return assertion("jsonpath", path, "isBoolean")
        case int():
            return assertion("jsonpath", path, "isInteger")
        case float():
            return assertion("jsonpath", path, "isNumber")
        case str():
            return assertion("jsonpath", path, "isString")
        case list():
            return counted(path, ">=", 0)
        case dict():
            return assertion("jsonpath", path, "exists")
        case _:
            return None


def media_check(media_type: str) -> Assertion | None:
    """That replies stay of their media type."""
    essence = media_type.partition(";")[0].strip().lower()
    return assertion("header", "Content-Type", "contains", essence) if essence else None


def pairs(of: Iterable[tuple[str, str]]) -> tuple[Pair, ...]:
    """Lines `key: value`; a key has to be there."""
    return tuple(Pair(text(key), text(value)) for key, value in of if key)


def hole(name: str) -> Text:
    """A text that is one hole."""
    return Text((Hole(name, NOWHERE),), NOWHERE)


def _sane(value: Any) -> Any:
    if isinstance(value, dict):
        return {sane(key): _sane(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_sane(element) for element in value]
    return sane(value) if isinstance(value, str) else value


def sane(text: str) -> str:
    """The text, with a `?` for each half of a character."""
    return text.encode("utf-8", "replace").decode()


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _value(of: object) -> Value:
    if isinstance(of, str):
        return Value(text(of), NOWHERE)
    assert of is None or isinstance(of, bool | int | float)
    return Value(of, NOWHERE)


def _target(url: str) -> tuple[str, str]:
    """Path and query, without what can't stand in a URL."""
    parts = urlsplit(url)
    return _clean(parts.path or "/"), _clean(parts.query)


def _based(value: str, origin: str, values: Mapping[str, str]) -> Text:
    """A header field, in which the server's own address at the begin is that of the load."""
    rest = value.removeprefix(origin)
    if rest == value or rest[:1] not in ("", "/"):
        return with_holes(value, values)
    return Text((Hole("base", NOWHERE), *with_holes(rest, values).parts), NOWHERE)


def _clean(part: str) -> str:
    return quote(part, safe="/?:@!$&'()*+,;=-._~%[]")


def _pairs(query: str) -> list[tuple[str, str]]:
    """The parameters of a query, where they can be written so."""
    found = [tuple(map(unquote_plus, part.partition("=")[::2])) for part in query.split("&")]
    return [(key, value) for key, value in found] if all(key for key, _ in found) else []


def _pair(key: str, value: str, values: Mapping[str, str]) -> Pair:
    return Pair(text(key), with_holes(value, values))


def _body(sent: Sent, values: Mapping[str, str]) -> tuple[Body | tuple[Pair, ...] | None, str]:
    """The body, or the lines of a form, and the media type that goes with it by itself."""
    if not sent.body:
        return None, ""
    if "json" in sent.media_type:
        try:
            return json_body(loads(sent.body), values), _JSON
        except ValueError:
            pass
    if sent.media_type.startswith(_FORM):
        fields = parse_qsl(sent.body, keep_blank_values=True)
        if fields and all(key for key, _ in fields):
            return tuple(_pair(key, value, values) for key, value in fields), _FORM
    return Body(with_holes(sent.body, values), NOWHERE), ""


def lines(of: Iterable[Assertion | None]) -> Iterator[Assertion]:
    """Those that are there."""
    return (line for line in of if line is not None)
