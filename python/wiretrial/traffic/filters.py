"""Filters of a line of `[Asserts]`: what each may follow, what it leaves, how the engine has it.

Knows kinds of values; must not know queries and predicates. A check with a filter is made of a
sample of replies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from wiretrial.plan_traffic import (
    Filter,
    NthFilter,
    PathFilter,
    PatternFilter,
    PatternReplaced,
    PlainFilter,
    RegexFilter,
    Replaced,
    ReplaceFilter,
    SplitFilter,
)
from wiretrial.traffic.hurl.syntax import Call, Value
from wiretrial.traffic.places import TrafficProblem


class Kind(StrEnum):
    """What is known of a value's type before any reply is there."""

    JSON = "a value of JSON"
    TEXT = "a text"
    NUMBER = "a number"
    LIST = "a list"
    BYTES = "bytes"
    DIGEST = "a digest"


@dataclass(frozen=True)
class _Rule:
    """A filter by its word."""

    follows: tuple[Kind, ...]
    leaves: Kind
    plain: PlainFilter | None = None
    """What the engine calls one without arguments."""


_ANY_TEXT = (Kind.TEXT, Kind.JSON)
_RULES: Mapping[str, _Rule] = {
    "nth": _Rule((Kind.JSON, Kind.LIST), Kind.JSON),
    "jsonpath": _Rule((*_ANY_TEXT, Kind.LIST), Kind.JSON),
    "regex": _Rule(_ANY_TEXT, Kind.TEXT),
    "replace": _Rule(_ANY_TEXT, Kind.TEXT),
    "split": _Rule(_ANY_TEXT, Kind.LIST),
    "toInt": _Rule((*_ANY_TEXT, Kind.NUMBER), Kind.NUMBER, "to_int"),
    "toFloat": _Rule((*_ANY_TEXT, Kind.NUMBER), Kind.NUMBER, "to_float"),
    "toString": _Rule((*_ANY_TEXT, Kind.NUMBER, Kind.LIST), Kind.TEXT, "to_string"),
    "decode": _Rule((Kind.BYTES,), Kind.TEXT, "decode_utf8"),
    "urlDecode": _Rule(_ANY_TEXT, Kind.TEXT, "url_decode"),
    "urlEncode": _Rule(_ANY_TEXT, Kind.TEXT, "url_encode"),
    "base64Decode": _Rule(_ANY_TEXT, Kind.BYTES, "base64_decode"),
    "base64Encode": _Rule((Kind.BYTES,), Kind.TEXT, "base64_encode"),
}

COUNTED = (Kind.JSON, Kind.LIST, Kind.BYTES)
"""What has a count."""


@dataclass(frozen=True)
class Reading:
    """How arguments are read: those of a line, with the variables that are known."""

    path: Callable[[Call], str]
    group: Callable[[Value], str]
    """A pattern with a group."""
    pattern: Callable[[Value], str]
    text: Callable[[Value], str]


def of_call(one: Call, kind: Kind, reading: Reading) -> tuple[Filter, Kind]:
    """A filter behind a value of this kind, and the kind that it leaves."""
    rule = _RULES.get(one.word)
    if rule is None or kind not in rule.follows:
        fits = " or ".join(rule.follows) if rule else "nothing"
        raise TrafficProblem(
            one.place, f"{one.word} can't follow {kind}", f"use it behind {fits}, or leave it out"
        )
    return _filter(one, rule, reading), rule.leaves


def _filter(one: Call, rule: _Rule, reading: Reading) -> Filter:
    match one.word:
        case "nth":
            index = one.arguments[0].value
            return NthFilter(nth=index if isinstance(index, int) else 0)
        case "jsonpath":
            return PathFilter(jsonpath=reading.path(one))
        case "regex":
            return RegexFilter(regex=reading.group(one.arguments[0]))
        case "split":
            return SplitFilter(split=_not_empty(one.arguments[0], reading))
        case "replace":
            return _replacing(one, reading)
        case "decode":
            _require_utf8(one.arguments[0], reading)
    if rule.plain is None:
        raise AssertionError(one.word)
    return rule.plain


def _replacing(one: Call, reading: Reading) -> Filter:
    old, new = one.arguments
    if old.is_pattern:
        replaced = PatternReplaced(pattern=reading.pattern(old), new=reading.text(new))
        return PatternFilter(replace_regex=replaced)
    return ReplaceFilter(replace=Replaced(old=_not_empty(old, reading), new=reading.text(new)))


def _not_empty(value: Value, reading: Reading) -> str:
    if text := reading.text(value):
        return text
    raise TrafficProblem(value.place, "an empty text", "write what stands in the value")


def _require_utf8(value: Value, reading: Reading) -> None:
    name = reading.text(value)
    if name.lower().replace("-", "") != "utf8":
        raise TrafficProblem(value.place, f"{name} can't be decoded", 'write decode "utf-8"')


def words(of: Filter) -> str:
    """A filter as it is written in a `.hurl` file."""
    match of:
        case PathFilter(jsonpath=path):
            return f"jsonpath {_quoted(path)}"
        case NthFilter(nth=index):
            return f"nth {index}"
        case RegexFilter(regex=pattern):
            return f"regex {_slashed(pattern)}"
        case SplitFilter(split=between):
            return f"split {_quoted(between)}"
        case ReplaceFilter(replace=Replaced(old=old, new=new)):
            return f"replace {_quoted(old)} {_quoted(new)}"
        case PatternFilter(replace_regex=PatternReplaced(pattern=pattern, new=new)):
            return f"replace {_slashed(pattern)} {_quoted(new)}"
        case "decode_utf8":
            return 'decode "utf-8"'
        case _:
            return next((word for word, rule in _RULES.items() if rule.plain == of), str(of))


def _quoted(of: str) -> str:
    return json.dumps(of, ensure_ascii=False)


def _slashed(pattern: str) -> str:
    return f"/{pattern.replace('/', chr(92) + '/')}/"
