"""Right replies to calls, and what is captured of them: from paths to fields.

Knows descriptors and paths such as `$.maker.since` and `$.items[0].id`; must not know steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from pydantic import JsonValue

from wiretrial import suggest
from wiretrial.calls import fields, messages
from wiretrial.calls.methods import Method
from wiretrial.plan_grpc import MessageShape
from wiretrial.plan_traffic import (
    Capture,
    Check,
    Compared,
    FieldOf,
    FieldPlace,
    Text,
    TextOperand,
    Words,
)
from wiretrial.traffic.call_messages import scalar_of
from wiretrial.traffic.filling import Scope, fill
from wiretrial.traffic.places import Place, TrafficProblem
from wiretrial.traffic.variables import text_at

_FLAG = "reply"
_STEP = re.compile(r"\.(?P<name>[A-Za-z_]\w*)(?:\[(?P<index>\d+)\])?")


@dataclass(frozen=True)
class Right:
    """What a right reply is: each of its messages has this shape, the first one these fields."""

    shape: MessageShape
    checks: tuple[Check, ...]


def right(written: Mapping[str, JsonValue], method: Method, scope: Scope, place: Place) -> Right:
    """What fields have to be, by their paths; none: each message is one of the method's.

    Of a stream, each message has the values that are known before the run.
    """
    of = method.reply
    checks, static = [], dict[str, JsonValue]()
    for path, value in written.items():
        if (isinstance(value, str) and "{{" in value) or "[" in path:
            text = fill(text_at(_digits(value, place), place), scope)
            checks.append(_equals(place_of(path, of, place), text))
        else:
            static[path] = value
    document = _document(static, of, place)
    if method.is_answered_as_stream and document:
        return Right(fields.of_expected(document, of, _FLAG), tuple(checks))
    message = messages.filled(document, of, _FLAG)
    unequal: dict[str, JsonValue] = {}
    for path, value in static.items():
        at = place_of(path, of, place)
        if (digits := _canonical(message, path, place)) is None:
            unequal[path] = value
        else:
            checks.append(_equals(at, (Words(text=digits),) if digits else ()))
    if unequal:
        rest = fields.of_expected(_document(unequal, of, place), of, _FLAG)
        return Right(rest, tuple(checks))
    return Right(fields.of_type(of), tuple(checks))


def _equals(at: FieldPlace, text: Text) -> Check:
    return Check(of=FieldOf(place=at), test=Compared(how="==", operand=TextOperand(text=text)))


def _document(written: Mapping[str, JsonValue], of: Descriptor, place: Place) -> dict[str, Any]:
    """Values by their paths as one document."""
    document: dict[str, Any] = {}
    for path, value in written.items():
        *outer, (last, _) = _steps(path, place)
        inside = document
        for name, _ in outer:
            _named(name, of, path, place)
            inside = inside.setdefault(name, {})
        inside[last] = value
    return document


def _canonical(message: Message, path: str, place: Place) -> str | None:
    """The field's value as the engine tells it; None: it tells it in other ways, too."""
    value: Any = message
    for name, _ in _steps(path, place):
        field = _named(name, value.DESCRIPTOR, path, place)
        value = getattr(value, field.name)
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return value
    return None


def captures(written: Mapping[str, str], of: Descriptor, place: Place) -> tuple[Capture, ...]:
    """What is kept of the first message of a reply: names, with paths to its fields."""
    return tuple(
        Capture(name=name, of=FieldOf(place=place_of(path, of, place)))
        for name, path in written.items()
    )


def place_of(path: str, of: Descriptor, place: Place) -> FieldPlace:
    """Where the field at the path stands."""
    numbers: list[tuple[int, int | None]] = []
    field: FieldDescriptor | None = None
    inside: Descriptor | None = of
    for name, index in _steps(path, place):
        if inside is None:
            assert field is not None
            raise TrafficProblem(place, f"{path}: {field.name} has no fields", "end the path there")
        field = _named(name, inside, path, place)
        _require_index(field, index, path, place)
        numbers.append((field.number, index))
        inside = field.message_type
    assert field is not None
    scalar = scalar_of(field)
    if scalar is None:
        raise TrafficProblem(
            place,
            f"{path} is a message",
            "write one of its fields: "
            + ", ".join(f"{path}.{one.name}" for one in field.message_type.fields)
            if field.message_type
            else "write a field",
        )
    has_usual = not field.has_presence and all(index is None for _, index in numbers)
    return FieldPlace(name=path, path=tuple(numbers), scalar=scalar, has_usual=has_usual)


def _steps(path: str, place: Place) -> list[tuple[str, int | None]]:
    found, at = [], 1
    while path.startswith("$") and (step := _STEP.match(path, at)):
        found.append((step["name"], None if step["index"] is None else int(step["index"])))
        at = step.end()
    if not found or at != len(path):
        raise TrafficProblem(
            place, f"{path} is no path to a field", "write it as $.maker.since or $.items[0].id"
        )
    return found


def _named(name: str, of: Descriptor, path: str, place: Place) -> FieldDescriptor:
    known = {one: field for field in of.fields for one in (field.name, field.json_name)}
    if name not in known:
        names = [field.name for field in of.fields]
        raise TrafficProblem(
            place,
            f"{path}: {of.full_name} has no field {name}",
            suggest.remedy(name, names, f"it has {', '.join(names)}"),
        )
    return known[name]


def _require_index(field: FieldDescriptor, index: int | None, path: str, place: Place) -> None:
    is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
    if is_map or field.is_packed:
        what = "a map" if is_map else "packed numbers"
        raise TrafficProblem(
            place, f"{path}: {field.name} is {what}, of which no element is read", "leave it out"
        )
    if field.is_repeated and index is None:
        raise TrafficProblem(place, f"{path}: {field.name} is repeated", f"write {field.name}[0]")
    if index is not None and not field.is_repeated:
        raise TrafficProblem(place, f"{path}: {field.name} is not repeated", "leave [] out")


def _digits(value: JsonValue, place: Place) -> str:
    """A value that is compared as a text."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    raise TrafficProblem(place, f"reply: {value!r} at an index", "write a text or a whole number")
