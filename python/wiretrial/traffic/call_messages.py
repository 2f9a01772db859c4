"""Messages of calls with names in `{{}}`: from protobuf's JSON to pieces that the engine fills.

Knows descriptors and how fields stand on the wire; must not know steps. A field without names is
encoded by protobuf; fields of a message may stand in any order, each by itself.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from pydantic import JsonValue

from wiretrial.calls import messages, wire
from wiretrial.plan_grpc import WireType
from wiretrial.plan_traffic import (
    BytesPiece,
    Feed,
    MadeOf,
    NumberOf,
    NumberPiece,
    Piece,
    Scalar,
    SizedPiece,
    TextPiece,
    ValueOf,
)
from wiretrial.traffic.filling import Scope, fill
from wiretrial.traffic.hurl.syntax import Hole
from wiretrial.traffic.places import Place, TrafficProblem
from wiretrial.traffic.variables import text_at

_SCALARS: Final[Mapping[int, Scalar]] = {
    FieldDescriptor.TYPE_STRING: "text",
    FieldDescriptor.TYPE_BYTES: "text",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_UINT32: "unsigned",
    FieldDescriptor.TYPE_UINT64: "unsigned",
    FieldDescriptor.TYPE_INT32: "signed",
    FieldDescriptor.TYPE_INT64: "signed",
    FieldDescriptor.TYPE_ENUM: "signed",
    FieldDescriptor.TYPE_SINT32: "zigzag",
    FieldDescriptor.TYPE_SINT64: "zigzag",
    FieldDescriptor.TYPE_FIXED32: "fixed32",
    FieldDescriptor.TYPE_FIXED64: "fixed64",
    FieldDescriptor.TYPE_SFIXED32: "sfixed32",
    FieldDescriptor.TYPE_SFIXED64: "sfixed64",
    FieldDescriptor.TYPE_FLOAT: "float",
    FieldDescriptor.TYPE_DOUBLE: "double",
}
_WIRE: Final = {"varint": 0, "i64": 1, "len": 2, "i32": 5}
_NUMBERS: Final = ("seq", "user", "iteration")
"""What is made and has digits alone."""
_FRACTIONS: Final = ("float", "double")
_FLAG = "data"


def scalar_of(field: FieldDescriptor) -> Scalar | None:
    """What a value of the field means; None: it is a message."""
    return _SCALARS.get(field.type)


@dataclass(frozen=True)
class Writer:
    """Writes the messages of one step. `captured`: what earlier replies are captured for."""

    scope: Scope
    feed: Feed | None
    place: Place
    captured: Mapping[str, Scalar]

    def pieces(self, document: JsonValue, of: Descriptor) -> tuple[Piece, ...]:
        """The message of a document."""
        return tuple(self._message(self.known(document), of))

    def known(self, document: JsonValue) -> JsonValue:
        """The document with the values of variables in it."""
        match document:
            case str() if "{{" in document:
                text = text_at(document, self.place)
                for hole in text.holes:
                    self.scope.require(hole)
                if all(hole.name in self.scope.variables for hole in text.holes):
                    return "".join(
                        self.scope.variables[one.name] if isinstance(one, Hole) else one
                        for one in text.parts
                    )
                return document
            case list():
                return [self.known(one) for one in document]
            case dict():
                return {name: self.known(one) for name, one in document.items()}
        return document

    def _message(self, document: JsonValue, of: Descriptor) -> Iterator[Piece]:
        if not _has_holes(document):
            yield from _bytes(messages.encoded(document, of, _FLAG))
            return
        if not isinstance(document, dict) or of.full_name.startswith(messages.OF_ITS_OWN):
            raise TrafficProblem(
                self.place, f"{_FLAG}: a {of.full_name} with {{{{}}}} in it", "write its value"
            )
        known = {name: field for field in of.fields for name in (field.name, field.json_name)}
        for name, value in document.items():
            if name not in known or not _has_holes(value):
                # What is no field is refused there.
                yield from _bytes(messages.encoded({name: value}, of, _FLAG))
            else:
                yield from self._field(known[name], value)

    def _field(self, field: FieldDescriptor, value: JsonValue) -> Iterator[Piece]:
        of = field.message_type
        if of is not None and of.GetOptions().map_entry:
            for key, one in value.items() if isinstance(value, dict) else ():
                yield from self._entry(field, of, key, one)
            return
        if not field.is_repeated:
            yield from self._value(field, value)
            return
        if not isinstance(value, list):
            raise TrafficProblem(
                self.place, f"{_FLAG}: {field.name} is repeated", "write a list in brackets"
            )
        for one in value:
            if _has_holes(one):
                yield from self._value(field, one)
            else:
                yield from _bytes(messages.encoded({field.name: [one]}, _alone(field), _FLAG))

    def _entry(
        self, field: FieldDescriptor, of: Descriptor, key: str, value: JsonValue
    ) -> Iterator[Piece]:
        keyed, valued = of.fields_by_name["key"], of.fields_by_name["value"]
        if keyed.type != FieldDescriptor.TYPE_STRING:
            raise TrafficProblem(
                self.place,
                f"{_FLAG}: {field.name} has keys that are no texts, and {{{{}}}} in its values",
                "write the values",
            )
        inside = [*self._value(keyed, key), *self._value(valued, value)]
        yield _tag(field, "len")
        yield SizedPiece(sized=tuple(inside))

    def _value(self, field: FieldDescriptor, value: JsonValue) -> Iterator[Piece]:
        """One value, behind its tag."""
        if field.message_type is not None:
            yield _tag(field, "len")
            yield SizedPiece(sized=tuple(self._message(value, field.message_type)))
            return
        if field.type == FieldDescriptor.TYPE_STRING and isinstance(value, str):
            yield _tag(field, "len")
            text = fill(text_at(value, self.place), self.scope)
            yield SizedPiece(sized=(TextPiece(text=text),))
            return
        if not _has_holes(value):
            # Of an entry of a map.
            yield _tag(field, wire.type_of(field))
            yield from _bytes(wire.raw(field, value))
            return
        scalar = scalar_of(field)
        if scalar in (None, "text") or field.type == FieldDescriptor.TYPE_ENUM:
            what = "bytes" if field.type == FieldDescriptor.TYPE_BYTES else "an enum"
            raise TrafficProblem(
                self.place,
                f"{_FLAG}: {field.name} is {what}, which {{{{}}}} can't be",
                "write its value, or a step for each",
            )
        assert scalar is not None
        yield _tag(field, _wire_of(scalar))
        of = self._number(field, scalar, str(value))
        yield NumberPiece(number=NumberOf(of=of, scalar=scalar))

    def _number(self, field: FieldDescriptor, scalar: Scalar, written: str) -> ValueOf | MadeOf:
        """The one name that a number is."""
        text = text_at(written, self.place)
        parts = fill(text, self.scope)
        part = parts[0] if len(parts) == 1 else None
        if not isinstance(part, ValueOf | MadeOf):
            raise TrafficProblem(
                self.place,
                f"{_FLAG}: {field.name} is a number, and is written {written}",
                "write one name in it, such as {{seq}}",
            )
        (name,) = (hole.name for hole in text.holes)
        if isinstance(part, MadeOf):
            is_number = part.make in _NUMBERS and scalar != "bool"
        elif name in self.scope.columns and name not in self.scope.captures:
            self._require_numbers(field, name)
            is_number = True
        else:
            is_number = _fits(self.captured.get(name), scalar)
        if not is_number:
            raise TrafficProblem(
                self.place,
                f"{_FLAG}: {field.name} is a number, and {{{{{name}}}}} may be none",
                "use a column, {{seq}}, or a capture of a field of such a number",
            )
        return part

    def _require_numbers(self, field: FieldDescriptor, column: str) -> None:
        assert self.feed is not None
        index = self.feed.columns.index(column)
        for number, row in enumerate(self.feed.rows, start=1):
            try:
                messages.encoded({field.name: _cell(field, row[index])}, _alone(field), _FLAG)
            except Exception as error:
                raise TrafficProblem(
                    self.place,
                    f"{_FLAG}: {column} of row {number} of {self.feed.name} is {row[index]!r},"
                    f" which {field.name} can't be",
                    "correct the row, or take another column",
                ) from error


def _fits(captured: Scalar | None, scalar: Scalar) -> bool:
    """Whether the digits of a captured field are a value of another one."""
    if captured in (None, "text", "bool"):
        return captured == scalar
    return scalar != "bool" and (captured not in _FRACTIONS or scalar in _FRACTIONS)


def _alone(field: FieldDescriptor) -> Descriptor:
    """The message that the field is of."""
    assert field.containing_type is not None, "a field that is no extension"
    return field.containing_type


def _cell(field: FieldDescriptor, cell: str) -> JsonValue:
    """A value of a column as protobuf's JSON has it."""
    if field.type == FieldDescriptor.TYPE_BOOL:
        value: JsonValue = {"true": True, "false": False}.get(cell, cell)
    else:
        value = cell
    return [value] if field.is_repeated else value


def _has_holes(document: JsonValue) -> bool:
    match document:
        case str():
            return "{{" in document
        case list():
            return any(map(_has_holes, document))
        case dict():
            return any(_has_holes(one) or "{{" in name for name, one in document.items())
    return False


def _bytes(content: bytes) -> Iterator[Piece]:
    if content:
        yield BytesPiece(base64=base64.b64encode(content).decode())


def _tag(field: FieldDescriptor, kind: WireType) -> Piece:
    return BytesPiece(
        base64=base64.b64encode(wire.varint(field.number << 3 | _WIRE[kind])).decode()
    )


def _wire_of(scalar: Scalar) -> WireType:
    match scalar:
        case "fixed32" | "sfixed32" | "float":
            return "i32"
        case "fixed64" | "sfixed64" | "double":
            return "i64"
        case _:
            return "varint"
