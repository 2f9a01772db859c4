"""What was learned as a response part of a `.hurl` file, for a person to keep.

Knows what lines of `[Asserts]` can say. What they can't is given back in words, so that nobody
takes the lines for the whole rule. Must not know who keeps them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import JsonValue

from wiretrial.plan_shape import Shape
from wiretrial.traffic import jsonpath
from wiretrial.traffic.hurl.syntax import Assertion, Call, Hole, Response, Text, Value
from wiretrial.traffic.importing.parts import NOWHERE, assertion, counted, merged, text
from wiretrial.traffic.learning import strings
from wiretrial.traffic.learning.echoes import Echo
from wiretrial.traffic.learning.locations import Location
from wiretrial.traffic.learning.rules import Learned

_SIMPLE = {
    "integer": "isInteger",
    "number": "isNumber",
    "boolean": "isBoolean",
    "time": "isIsoDate",
}
_LONGEST_LIST = 20
"""Elements of a constant list that are written one by one."""


def response(found: Learned) -> tuple[Response, tuple[str, ...]]:
    """The response part, and what of the rule is not in it."""
    lines: list[Assertion] = []
    left: list[str] = []
    if found.media_type:
        lines.append(assertion("header", "Content-Type", "contains", found.media_type))
    if found.location is not None:
        lines.append(_location(found.location))
    lines += map(_coming_back, found.echoes)
    back = {one.path for one in found.echoes if one.path}
    if found.shape is not None:
        for line in _of(found.shape, "$"):
            if isinstance(line, str):
                left.append(line)
            elif _path(line) not in back:
                lines.append(line)
    elif found.pattern is not None:
        lines.append(_matches("body", None, found.pattern))
    elif found.length is not None:
        least, most = found.length
        lines += [_bytes(">=", least), _bytes("<=", most)]
    elif found.kind == "equal":
        lines.append(_equal(found.body))
    elif found.kind == "echo":
        left.append("the body of the request comes back")
    return Response(found.status, NOWHERE, assertions=tuple(lines)), tuple(left)


def _of(shape: Shape, path: str) -> Iterator[Assertion | str]:
    """Lines of one place, and what can't be said of it."""
    if shape.values:
        yield from _constant(shape.values, path)
        return
    types = set(shape.types)
    if len(types) != 1:
        yield f"{path} is {' or '.join(shape.types)}"
        return
    [kind] = types
    match kind:
        case "list":
            yield from _list(shape, path)
        case "object":
            yield from _object(shape, path)
        case "uuid":
            yield _matches("jsonpath", path, f"^{strings.UUID}$")
        case "string" if shape.pattern is not None:
            yield _matches("jsonpath", path, shape.pattern)
        case "string":
            yield assertion("jsonpath", path, "isString")
            if shape.length is not None and shape.length[1] is not None:
                least, most = shape.length
                yield _matches("jsonpath", path, rf"^[\s\S]{{{least},{most}}}$")
        case _:
            yield assertion("jsonpath", path, _SIMPLE[kind])


def _location(location: Location) -> Assertion:
    if location.pattern is None:
        return assertion("header", "Location", "==", location.shown)
    return _matches("header", "Location", location.pattern)


def _path(line: Assertion) -> str:
    """Of which place it is, as it is written."""
    return "".join(str(one.value) for one in line.query.arguments)


def _coming_back(echo: Echo) -> Assertion:
    """A value of the request at its place."""
    name = Hole(echo.name, NOWHERE)
    if echo.path:
        line = assertion("jsonpath", echo.path, "==", "")
        content = Text((name,), NOWHERE)
    else:
        line = assertion("body", None, "contains", "")
        content = merged((echo.before, name, echo.after))
    predicate = replace(line.predicate, arguments=(Value(content, NOWHERE),))
    return replace(line, predicate=predicate)


def _constant(values: Sequence[JsonValue], path: str) -> Iterator[Assertion | str]:
    if len(values) > 1:
        yield f"{path} is {' or '.join(json.dumps(one, ensure_ascii=False) for one in values)}"
        return
    value = values[0]
    if isinstance(value, list) and len(value) <= _LONGEST_LIST:
        yield counted(path, "==", len(value))
        for index, one in enumerate(value):
            yield from _constant((one,), f"{path}[{index}]")
    elif isinstance(value, dict):
        yield counted(path, "==", len(value))
        for name, one in value.items():
            yield from _constant((one,), f"{path}{jsonpath.member(name)}")
    elif isinstance(value, list):
        yield counted(path, "==", len(value))
        yield f"the elements of {path} are always the same"
    else:
        yield assertion("jsonpath", path, "==", value)


def _list(shape: Shape, path: str) -> Iterator[Assertion | str]:
    least, most = shape.length or (0, None)
    if least == most:
        yield counted(path, "==", least)
    else:
        yield counted(path, ">=", least)
        if most is not None:
            yield counted(path, "<=", most)
    if shape.items is None:
        return
    if least:
        yield f"of {path} the first element is checked alone"
        yield from _of(shape.items, f"{path}[0]")
    else:
        yield f"elements of {path} are not checked, since there may be none"


def _object(shape: Shape, path: str) -> Iterator[Assertion | str]:
    for member in shape.members:
        inner = f"{path}{jsonpath.member(member.name)}"
        if member.required:
            yield from _of(member.shape, inner)
        else:
            yield f"{inner} may be missing"
    if not shape.others:
        yield f"{path} has no other members"


def _matches(query: str, path: str | None, pattern: str) -> Assertion:
    line = assertion(query, path, "exists")
    value = Value(text(pattern), NOWHERE, is_pattern=True)
    return Assertion(line.query, (), Call("matches", NOWHERE, (value,)), False)


def _bytes(word: str, number: int) -> Assertion:
    line = assertion("bytes", None, word, number)
    return Assertion(line.query, (Call("count", NOWHERE),), line.predicate, False)


def _equal(body: bytes) -> Assertion:
    try:
        content = Value(Text((body.decode(),) if body else (), NOWHERE), NOWHERE)
    except UnicodeDecodeError:
        return _bytes("==", len(body))
    return Assertion(Call("body", NOWHERE), (), Call("==", NOWHERE, (content,)), False)
