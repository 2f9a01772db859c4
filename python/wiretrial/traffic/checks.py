"""From lines of `[Asserts]` and `[Captures]` to the checks and captures of the engine.

Knows what each query can be asked; must not know requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from wiretrial.plan_shape import TypeName
from wiretrial.plan_traffic import (
    Capture,
    Check,
    Compared,
    Contains,
    CookieOf,
    Empty,
    Ends,
    Exists,
    Filter,
    Found,
    HeaderOf,
    IsType,
    JsonAt,
    JsonOperand,
    Matches,
    Operand,
    PathFilter,
    RegexIn,
    Starts,
    Test,
    TextOperand,
)
from wiretrial.traffic import filters, jsonpath
from wiretrial.traffic.filling import Scope, fill, known
from wiretrial.traffic.filters import Kind
from wiretrial.traffic.hurl import syntax
from wiretrial.traffic.hurl.syntax import Assertion, Call, Text, Value
from wiretrial.traffic.places import Place, TrafficProblem

_TYPES: Mapping[str, TypeName] = {
    "isBoolean": "boolean",
    "isFloat": "float",
    "isInteger": "integer",
    "isIsoDate": "time",
    "isNumber": "number",
    "isString": "string",
}
_OF_NUMBERS = ("==", "!=", "<", "<=", ">", ">=", "exists", "isInteger", "isNumber")
_OF_BYTES = ("==", "!=", "exists")
_ORDERED = ("<", "<=", ">", ">=")
_NOT_RUST = re.compile(r"\(\?<?[=!]|(?<!\\)(?:\\\\)*\\[1-9]")


@dataclass(frozen=True)
class _Asked:
    """What is looked at, after the filters."""

    of: Found
    kind: Kind
    made: tuple[Filter, ...] = ()
    """What each reply would be too dear for."""
    is_count: bool = False


def of_line(assertion: Assertion, scope: Scope) -> Iterator[Check]:
    """The checks that a line asks for; `duration` is none (`longest_ns`)."""
    asked = _asked(assertion.query, assertion.filters, scope)
    _require_fitting(assertion, asked)
    if kind := _needed_type(assertion, asked):
        yield Check(of=asked.of, filters=asked.made, test=IsType(name=kind))
    yield Check(
        of=asked.of,
        filters=asked.made,
        count=asked.is_count,
        negated=assertion.negated,
        test=_test(assertion.predicate, scope, asked.kind),
    )


def capture(line: syntax.Capture, scope: Scope) -> Capture:
    """What the engine keeps of a reply."""
    for one in line.filters:
        if one.word == "count":
            raise TrafficProblem(one.place, "a count can't be captured", "capture the list itself")
    if line.query.word in ("bytes", "duration"):
        raise TrafficProblem(
            line.query.place, f"{line.query.word} can't be captured", "use body, jsonpath or regex"
        )
    asked = _Asked(*_found(line.query, scope))
    for one in (line.query, *line.filters):
        if one is not line.query:
            asked = _filtered(asked, one, scope)
        if asked.made:
            raise TrafficProblem(
                one.place,
                f"what {one.word} makes of a reply can't be captured here",
                "capture it with jsonpath (members, indices and [*]) or regex",
            )
    return Capture(name=line.name, of=asked.of)


def longest_ns(assertion: Assertion) -> int:
    """Of `duration < 500`: the goal for the longest time, nanoseconds."""
    predicate = assertion.predicate
    limit = predicate.arguments[0].value if predicate.arguments else None
    is_limit = predicate.word in ("<", "<=") and not assertion.negated and not assertion.filters
    if not is_limit or isinstance(limit, bool) or not isinstance(limit, int | float):
        raise TrafficProblem(
            assertion.place, "duration is a goal here", "write duration < 500 (milliseconds)"
        )
    return round(limit * 1e6)


def header_equals(name: str, value: Text, scope: Scope) -> Check:
    """A header in the response part."""
    return Check(
        of=HeaderOf(header=name), test=Compared(how="==", operand=_text_operand(value, scope))
    )


def _asked(query: Call, all_filters: tuple[Call, ...], scope: Scope) -> _Asked:
    asked = _Asked(*_found(query, scope))
    if query.word == "bytes":
        return _of_bytes(query, all_filters, scope)
    for one in all_filters:
        asked = _filtered(asked, one, scope)
    return asked


def _of_bytes(query: Call, all_filters: tuple[Call, ...], scope: Scope) -> _Asked:
    """The bytes themselves are looked at only as text; their count is that of each reply."""
    words = [one.word for one in all_filters]
    if words == ["count"]:
        return _Asked("bytes", Kind.NUMBER)
    if not words or words[0] not in ("decode", "base64Encode"):
        raise TrafficProblem(
            query.place,
            "bytes are counted, decoded or encoded only",
            "write bytes count == 120, or body contains",
        )
    asked = _Asked("body", Kind.BYTES)
    for one in all_filters:
        asked = _filtered(asked, one, scope)
    return asked


def _found(query: Call, scope: Scope) -> tuple[Found, Kind, tuple[Filter, ...]]:
    """What is looked at, and what is made of it where each reply would be too dear for that."""
    match query.word:
        case "status" as word:
            return word, Kind.NUMBER, ()
        case "body" as word:
            return word, Kind.TEXT, ()
        case "bytes" as word:
            return word, Kind.NUMBER, ()
        case "jsonpath":
            path = _path(query, scope)
            if jsonpath.is_plain(path):
                return JsonAt(path=path), Kind.JSON, ()
            return "body", Kind.JSON, (PathFilter(jsonpath=path),)
        case "sha256" | "md5" as digest:
            return "body", Kind.DIGEST, (digest,)
        case "regex":
            found = RegexIn(regex=_pattern(query.arguments[0], scope, needs_group=True))
            return found, Kind.TEXT, ()
        case "header":
            return HeaderOf(header=_name(query, scope)), Kind.TEXT, ()
        case "cookie":
            name = _name(query, scope)
            if "[" in name:
                raise TrafficProblem(
                    query.arguments[0].place,
                    "attributes of a cookie can't be checked",
                    'use header "Set-Cookie" contains "..."',
                )
            return CookieOf(cookie=name), Kind.TEXT, ()
        case word:
            raise TrafficProblem(query.place, f"{word} can't be used here", "use it in [Asserts]")


def _filtered(asked: _Asked, one: Call, scope: Scope) -> _Asked:
    """What is looked at behind one more filter: where it can be, at a place of each reply."""
    if asked.is_count:
        raise TrafficProblem(one.place, f"{one.word} of a count", "leave it out")
    if one.word == "count" and asked.kind in filters.COUNTED:
        return replace(asked, is_count=True)
    match one.word, asked.of, asked.made:
        case "nth", JsonAt(path=path), ():
            return _Asked(JsonAt(path=_element(path, one)), Kind.JSON)
        case "jsonpath", JsonAt(path=path), ():
            inner = _path(one, scope)
            if jsonpath.is_plain(inner):
                return _Asked(JsonAt(path=jsonpath.joined(path, inner)), Kind.JSON)
        case "jsonpath", "body", ():
            inner = _path(one, scope)
            if jsonpath.is_plain(inner):
                return _Asked(JsonAt(path=inner), Kind.JSON)
        case "regex", "body", ():
            pattern = _pattern(one.arguments[0], scope, needs_group=True)
            return _Asked(RegexIn(regex=pattern), Kind.TEXT)
        case _:
            pass
    made, kind = filters.of_call(one, asked.kind, _reading(scope))
    return _Asked(asked.of, kind, (*asked.made, made))


def _reading(scope: Scope) -> filters.Reading:
    return filters.Reading(
        path=lambda call: _path(call, scope),
        group=lambda value: _pattern(value, scope, needs_group=True),
        pattern=lambda value: _pattern(value, scope),
        text=lambda value: known(_text(value), scope, "what a filter is given"),
    )


def _element(path: str, nth: Call) -> str:
    index = nth.arguments[0].value
    if path.endswith("[*]"):
        path = path.removesuffix("[*]")
    if "[*]" in path:
        raise TrafficProblem(
            nth.place, "nth of a list that [*] collects", "write the index in the path"
        )
    return f"{path}[{index!r}]"


def _needed_type(assertion: Assertion, asked: _Asked) -> TypeName | None:
    """The type without which hurl fails the line, though the predicate be negated."""
    word = assertion.predicate.word
    if asked.kind is not Kind.JSON or asked.is_count:
        return None
    if word == "includes":
        return None if isinstance(asked.of, JsonAt) and "[*]" in asked.of.path else "list"
    return "string" if assertion.negated and word in ("startsWith", "endsWith", "matches") else None


def _require_fitting(assertion: Assertion, asked: _Asked) -> None:
    """Raises for what no reply could fulfil: each query but `jsonpath` has values of one type."""
    predicate = assertion.predicate
    value = predicate.arguments[0].value if predicate.arguments else None
    what = assertion.filters[-1].word if assertion.filters else assertion.query.word
    if asked.is_count or asked.kind is Kind.NUMBER:
        is_text = isinstance(value, Text) and value.plain is not None
        of_numbers = (*_OF_NUMBERS, "isFloat") if asked.made else _OF_NUMBERS
        if predicate.word not in of_numbers or is_text:
            raise TrafficProblem(
                predicate.place, f"{what} is a number", "compare it with one, such as == 20"
            )
    elif asked.kind in (Kind.DIGEST, Kind.BYTES):
        if predicate.word not in _OF_BYTES or not isinstance(value, bytes | None):
            raise TrafficProblem(
                predicate.place, f"{what} makes bytes", "compare them: == hex,00ff;"
            )
    elif asked.kind in (Kind.JSON, Kind.LIST):
        return
    elif predicate.word == "includes":
        raise TrafficProblem(
            predicate.place, f"{what} is a text, and no list", "write contains in place of includes"
        )
    elif predicate.arguments and not isinstance(value, Text | bytes):
        raise TrafficProblem(
            predicate.arguments[0].place, f"{what} is a text", "write it in quotation marks"
        )
    elif predicate.word in _TYPES and predicate.word != "isIsoDate":
        raise TrafficProblem(
            predicate.place, f"{what} is always a text", "compare it, or use exists or matches"
        )


def _test(predicate: Call, scope: Scope, kind: Kind) -> Test:
    word = predicate.word
    if word in _TYPES:
        return IsType(name=_TYPES[word])
    match word:
        case "exists":
            return Exists()
        case "isEmpty":
            return Empty()
        case "matches":
            return Matches(pattern=_pattern(predicate.arguments[0], scope))
    value = predicate.arguments[0]
    if kind is Kind.DIGEST and isinstance(value.value, bytes) and word in ("==", "!="):
        return Compared(how=word, operand=JsonOperand(value=value.value.hex()))
    match word:
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            _require_ordered(word, value)
            return Compared(how=word, operand=_operand(value, scope))
        case "contains" | "includes":
            return Contains(operand=_operand(value, scope))
        case "startsWith":
            return Starts(text=fill(_text(value), scope))
        case _:
            return Ends(text=fill(_text(value), scope))


def _require_ordered(word: str, value: Value) -> None:
    if word in _ORDERED and (value.value is None or isinstance(value.value, bool)):
        raise TrafficProblem(
            value.place, f"{word} compares numbers and texts", "write a number, or use =="
        )


def _operand(value: Value, scope: Scope) -> Operand:
    if isinstance(value.value, Text | bytes):
        return _text_operand(_text(value), scope)
    return JsonOperand(value=value.value)


def _text_operand(text: Text, scope: Scope) -> Operand:
    if (plain := text.plain) is not None:
        return JsonOperand(value=plain)
    return TextOperand(text=fill(text, scope))


def _text(value: Value) -> Text:
    if isinstance(value.value, Text):
        return value.value
    if isinstance(value.value, bytes):
        return Text((utf8(value.value, value.place),), value.place)
    raise TrafficProblem(value.place, "not a text", "write it in quotation marks")


def utf8(content: bytes, place: Place) -> str:
    """Bytes that have to be text."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TrafficProblem(
            place, "bytes that are not UTF-8 text", "only text can be sent and compared"
        ) from error


def _name(query: Call, scope: Scope) -> str:
    return known(_text(query.arguments[0]), scope, f"the name of a {query.word}")


def _path(call: Call, scope: Scope) -> str:
    value = call.arguments[0]
    path = known(_text(value), scope, "a path")
    try:
        return jsonpath.of_sample(path)
    except jsonpath.PathFault as fault:
        # The quotation mark stands before the path.
        place = value.place.along(f'"{path[: fault.at]}')
        raise TrafficProblem(place, fault.message, fault.remedy) from fault


def _pattern(value: Value, scope: Scope, *, needs_group: bool = False) -> str:
    pattern = known(_text(value), scope, "a pattern")
    return rust_pattern(pattern, value.place, needs_group=needs_group)


def rust_pattern(pattern: str, place: Place, *, needs_group: bool = False) -> str:
    """A pattern that the engine can read."""
    if found := _NOT_RUST.search(pattern):
        raise TrafficProblem(
            place,
            f"{found[0]} is no part of a pattern here",
            "write it without looking around and without references to groups",
        )
    # Python's names for what the engine's patterns have, too.
    alike = re.sub(r"\\[pP](?:\{[^}]*\}|\w)", r"\\w", pattern.replace("(?<", "(?P<"))
    try:
        compiled = re.compile(alike)
    except re.error as error:
        raise TrafficProblem(place, f"pattern: {error}", "correct it") from error
    if needs_group and not compiled.groups:
        raise TrafficProblem(place, "the pattern has no group", "put what is wanted in parentheses")
    return pattern
