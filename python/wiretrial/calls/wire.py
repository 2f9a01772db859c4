"""Values of protobuf's fields as bytes on the wire ("Encoding", protobuf's documentation).

Pure. Knows types of fields; must not know messages.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable

from google.protobuf.descriptor import FieldDescriptor
from pydantic import JsonValue

from wiretrial.plan_grpc import WireType

_FIXED = {
    FieldDescriptor.TYPE_DOUBLE: "<d",
    FieldDescriptor.TYPE_FIXED64: "<Q",
    FieldDescriptor.TYPE_SFIXED64: "<q",
    FieldDescriptor.TYPE_FLOAT: "<f",
    FieldDescriptor.TYPE_FIXED32: "<I",
    FieldDescriptor.TYPE_SFIXED32: "<i",
}
_ZIGZAG = (FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SINT64)
_TEXTS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
LONGEST_VARINT = 10
"""Bytes."""


def type_of(field: FieldDescriptor) -> WireType:
    """How an occurrence of the field is written."""
    if field.message_type is not None or field.type in _TEXTS or field.is_packed:
        return "len"
    layout = _FIXED.get(field.type)
    if layout is None:
        return "varint"
    return "i64" if struct.calcsize(layout) == 8 else "i32"


def bytes_of_element(field: FieldDescriptor) -> tuple[int, int]:
    """The shortest and the longest element of a field that is packed."""
    layout = _FIXED.get(field.type)
    size = struct.calcsize(layout) if layout else 0
    return (size, size) if size else (1, LONGEST_VARINT)


def raw(field: FieldDescriptor, value: JsonValue) -> bytes:
    """A value of a document, which no message is, without its field's number."""
    if layout := _FIXED.get(field.type):
        return struct.pack(layout, value)
    match value:
        case str() if field.type == FieldDescriptor.TYPE_BYTES:
            return value.encode("latin-1")
        case str() if field.type == FieldDescriptor.TYPE_ENUM:
            assert field.enum_type is not None
            return varint(field.enum_type.values_by_name[value].number)
        case str():
            return value.encode()
        case int() if field.type in _ZIGZAG:
            return varint(value << 1 if value >= 0 else (-value << 1) - 1)
        case int():
            return varint(value)
    raise TypeError(f"{field.full_name} has no values such as {value!r}")


def varint(value: int) -> bytes:
    """Base 128, the lowest digits first; a negative number as two's complement of 64 bits."""
    left = value % 2**64
    written = bytearray()
    while left > 0x7F:
        written.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes((*written, left))


def in_base64(field: FieldDescriptor, values: Iterable[JsonValue]) -> tuple[str, ...]:
    """These values as a plan has them, each once."""
    return tuple(dict.fromkeys(base64.b64encode(raw(field, one)).decode() for one in values))


def packed(field: FieldDescriptor, values: Iterable[JsonValue]) -> str:
    """All these elements as the one occurrence that they are on the wire, in base64."""
    return base64.b64encode(b"".join(raw(field, one) for one in values)).decode()
