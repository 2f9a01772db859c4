"""Whether a message has a shape, told plainly: what the engine's automaton must say, too."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterator

from wiretrial.plan_grpc import FieldShape, MessageShape, WireType

WIRES: dict[int, WireType] = {0: "varint", 1: "i64", 2: "len", 5: "i32"}


def fits(shape: MessageShape, message: bytes) -> bool:
    """Whether all holds that is said."""
    known = {field.number: field for field in shape.fields}
    came: dict[int, list[bytes]] = defaultdict(list)
    for number, wire, value in occurrences(message):
        if number in known:
            if known[number].wire != wire:
                return False
            came[number].append(value)
        elif not shape.others:
            return False
    return all(_holds(field, came[field.number]) for field in shape.fields)


def occurrences(message: bytes) -> Iterator[tuple[int, WireType, bytes]]:
    """Number, wire type and raw value of each field in its order."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        wire = WIRES[tag & 7]
        begin = at
        match wire:
            case "varint":
                _, at = _varint(message, at)
            case "i64":
                at += 8
            case "i32":
                at += 4
            case "len":
                length, begin = _varint(message, at)
                at = begin + length
        yield tag >> 3, wire, message[begin:at]


def _holds(field: FieldShape, values: list[bytes]) -> bool:
    many = len(values)
    is_counted = field.least <= many and (field.most is None or many <= field.most)
    return is_counted and all(_right(field, one) for one in values)


def _right(field: FieldShape, value: bytes) -> bool:
    if field.values and base64.b64encode(value).decode() not in field.values:
        return False
    if field.length and not _within(len(value), field.length):
        return False
    if field.utf8:
        value.decode()
    if field.range and not _within(_read(field, value), field.range):
        return False
    return field.message is None or fits(field.message, value)


def _within(value: int, bounds: tuple[int | None, int | None]) -> bool:
    least, most = bounds
    return (least is None or least <= value) and (most is None or value <= most)


def _read(field: FieldShape, value: bytes) -> int:
    found, _ = _varint(value, 0)
    match field.signed:
        case "int":
            return found - 2**64 if found >= 2**63 else found
        case "zigzag":
            return (found >> 1) ^ -(found & 1)
        case _:
            return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        found |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return found, at
        shift += 7
