"""Writes entries as a `.hurl` file: the inverse of `reading`.

Knows how a person would lay out a file; must not know where entries come from.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from wiretrial.traffic.hurl.syntax import (
    Assertion,
    Body,
    Call,
    Capture,
    Entry,
    Hole,
    Pair,
    Request,
    Response,
    Text,
    Value,
)

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f", "\\": "\\\\"}
_KEY_SIGN = re.compile(r"[^\W]|[-_.\[\]@$]")
_SPACE, _BRACE = "\\u{20}", "\\u{7b}"
_KINDS = {"application/json": "json", "application/xml": "xml"}
_LINE = 76
"""Columns of base64 in a line."""


def write(entries: Sequence[Entry], comment: str = "") -> str:
    """The file's text; `comment` stands at its top."""
    top = "".join(f"# {line}\n" for line in comment.splitlines())
    parts = ["\n".join(_entry(entry)) + "\n" for entry in entries]
    return "\n".join([top, *parts] if top else parts)


def _entry(entry: Entry) -> Iterator[str]:
    if entry.name is not None:
        yield f"# @name {entry.name}"
    yield from _request(entry.request)
    if entry.response is not None:
        yield from _response(entry.response)


def _request(request: Request) -> Iterator[str]:
    yield f"{request.method} {_value(request.url)}"
    yield from map(_pair, request.headers)
    for name, pairs in request.sections.items():
        yield f"[{name}]"
        yield from map(_pair, pairs)
    if request.body is not None:
        yield _body(request.body)


def _response(response: Response) -> Iterator[str]:
    yield f"HTTP {'*' if response.status is None else response.status}"
    yield from map(_pair, response.headers)
    if response.captures:
        yield "[Captures]"
        yield from map(_capture, response.captures)
    if response.assertions:
        yield "[Asserts]"
        yield from map(_assertion, response.assertions)
    if response.body is not None:
        yield _body(response.body)


def _capture(line: Capture) -> str:
    name = _key(Text((line.name,), line.place))
    return " ".join((f"{name}:", *map(_call, (line.query, *line.filters))))


def _assertion(line: Assertion) -> str:
    words = [_call(line.query), *map(_call, line.filters), "not" * line.negated]
    return " ".join(word for word in (*words, _call(line.predicate)) if word)


def _call(call: Call) -> str:
    return " ".join((call.word, *map(_argument, call.arguments)))


def _argument(value: Value) -> str:
    match value.value:
        case Text() as text if value.is_pattern:
            return f"/{str(text).replace('/', chr(92) + '/')}/"
        case Text(parts=(Hole() as hole,)):
            return f'"{hole}"'
        case Text() as text:
            return f'"{_escaped(text, chr(34))}"'
        case bytes() as content:
            return _base64(content)
        case bool() as truth:
            return "true" if truth else "false"
        case None:
            return "null"
        case int() as number:
            return str(number)
        case number:
            written = f"{Decimal(repr(number)):f}"
            return written if "." in written else f"{written}.0"


def _body(body: Body) -> str:
    if isinstance(body.content, bytes):
        return _base64(body.content)
    text = body.content
    written = str(text)
    if body.is_json:
        return written
    kind = _KINDS.get(body.media_type or "", "")
    if not kind and (_needs_escapes(text) or "\n" not in written):
        return f"`{_escaped(text, '`')}`"
    if _needs_escapes(text):
        inside = _escaped(text, "").replace("`", "\\u{60}")
        return f"```{kind},escape\n{inside}```"
    return f"```{kind}\n{written}```"


def _needs_escapes(text: Text) -> bool:
    """Whether it can't stand between lines of ``` as it is."""
    plain = "".join(part for part in text.parts if isinstance(part, str))
    written = str(text)
    return (
        any(not (sign.isprintable() or sign == "\n") for sign in plain)
        or "```" in plain
        or written.endswith("`")
        or written.count("{{") > len([*text.holes])
        or "{{{" in written
    )


def _base64(content: bytes) -> str:
    encoded = base64.b64encode(content).decode()
    lines = [encoded[at : at + _LINE] for at in range(0, len(encoded), _LINE)]
    return f"base64,{chr(10).join(lines)};"


def _pair(pair: Pair) -> str:
    return f"{_key(pair.key)}: {_value(pair.value)}".rstrip()


def _value(text: Text) -> str:
    """Of a line: spaces at its ends are written so that they stay."""
    written = _escaped(text, "#")
    inside = written.strip(" ")
    before = len(written) - len(written.lstrip(" "))
    after = len(written) - len(inside) - before if inside else 0
    return f"{_SPACE * before}{inside}{_SPACE * after}"


def _key(text: Text) -> str:
    written = "".join(
        str(part) if isinstance(part, Hole) else _key_part(part) for part in text.parts
    )
    return f"\\u{{5b}}{written[1:]}" if written.startswith("[") else written


def _key_part(part: str) -> str:
    return "".join(sign if _KEY_SIGN.fullmatch(sign) else f"\\u{{{ord(sign):x}}}" for sign in part)


def _escaped(text: Text, marks: str) -> str:
    written = ""
    for part in text.parts:
        if isinstance(part, Hole):
            # A brace before a hole would be taken for the hole's own.
            written = f"{written[:-1]}{_BRACE}" if written.endswith("{") else written
            written += str(part)
        else:
            written += "".join(_sign(sign, marks) for sign in part).replace("{{", _BRACE * 2)
    return written


def _sign(sign: str, marks: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign in marks:
        return f"\\{sign}"
    return sign if sign.isprintable() else f"\\u{{{ord(sign):x}}}"
