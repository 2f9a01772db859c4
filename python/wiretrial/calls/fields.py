"""What a right message has, by numbers and wire types, from documents and the shapes they share.

Knows descriptors and both kinds of shape; must not know where documents come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from pydantic import JsonValue

from wiretrial.calls import messages, wire
from wiretrial.plan_grpc import FieldShape, MessageShape
from wiretrial.plan_shape import Shape

MOST_FIELDS, DEEPEST = 64, 16
"""Of a message's shape, and messages in messages: the engine takes no more. Others go unchecked."""
DEEPEST_TYPE = 4
"""Messages in messages whose types are looked at where nobody says what is in them."""
_BYTES_OF_SIGN = 4
"""A sign of UTF-8 has so many at most."""
_LENGTHS = {"uuid": (36, 36), "time": (20, 40)}
"""Bytes of texts whose type has a name."""

Document = dict[str, JsonValue]


def of_expected(document: JsonValue, of: Descriptor, flag: str) -> MessageShape:
    """A message that has the fields of this JSON, and any others; raises what is wrong in it."""
    message = messages.filled(document, of, flag)
    if not isinstance(document, dict) or of.full_name.startswith(messages.OF_ITS_OWN):
        return _of_constants([messages.document(message)], of, others=False, depth=1)
    return _asked(document, message, of, 1)


def of_type(of: Descriptor, depth: int = 1, within: tuple[str, ...] = ()) -> MessageShape:
    """Any message of this type: known fields have their types on the wire, and texts are UTF-8.

    What is in messages that lie deep, or in one of their own type, goes unchecked. So do repeated
    numbers, which may be packed or not.
    """
    kept = []
    for field in of.fields:
        if field.is_repeated and field.message_type is None and wire.type_of(field) != "len":
            continue
        if field.is_packed or field.type == FieldDescriptor.TYPE_GROUP:
            continue
        said: dict[str, Any] = {}
        if field.type == FieldDescriptor.TYPE_STRING:
            said["utf8"] = True
        inner = field.message_type
        if inner is not None and depth < DEEPEST_TYPE and inner.full_name not in within:
            said["message"] = of_type(inner, depth + 1, (*within, of.full_name))
        kept.append(FieldShape(number=field.number, wire=wire.type_of(field), **said))
    return MessageShape(fields=tuple(kept[:MOST_FIELDS]), others=True)


def of_shape(shape: Shape, of: Descriptor, *, others: bool = False, depth: int = 1) -> MessageShape:
    """A message of the shape that its documents have in common. `others`: it may have more."""
    is_constant = not shape.types and shape.values
    if is_constant:
        constants = [one for one in shape.values if isinstance(one, dict)]
        return _of_constants(constants, of, others=others, depth=depth)
    is_open = others or shape.others is not False or depth > DEEPEST
    found = (
        _field(of.fields_by_name[one.name], one.shape, one.required, others, depth)
        for one in shape.members
        if depth <= DEEPEST
    )
    return _limited(found, others=is_open)


def _limited(fields: Iterator[FieldShape], *, others: bool) -> MessageShape:
    kept = tuple(fields)
    return MessageShape(fields=kept[:MOST_FIELDS], others=others or len(kept) > MOST_FIELDS)


def _field(
    field: FieldDescriptor, shape: Shape, required: bool, others: bool, depth: int
) -> FieldShape:
    values = [one for one in shape.values if one is not None]
    if not field.is_repeated:
        least = int(required and None not in shape.values and not _may_be_usual(field, shape))
        said = _said(field, shape, others, depth)
        return _made(field, least, 1, said)
    lists = [one for one in values if isinstance(one, list)]
    if lists:
        return _of_lists(field, lists, required=required, others=others, depth=depth)
    least, most = shape.length or (0, None)
    least = least if required else 0
    if not field.is_packed:
        return _made(field, least, most, _said(field, shape.items or Shape(), others, depth))
    short, long = wire.bytes_of_element(field)
    length = (short * least, None if most is None else long * most)
    return _made(field, min(least, 1), 1, {"length": length})


def _may_be_usual(field: FieldDescriptor, shape: Shape) -> bool:
    """Whether 0, false or an empty text is right, too, which is not written."""
    if field.has_presence or shape.values:
        return False
    is_text = field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
    return not is_text or "length" not in (said := _length(shape, 1)) or not said["length"][0]


def _made(field: FieldDescriptor, least: int, most: int | None, said: dict[str, Any]) -> FieldShape:
    if field.containing_type is not None and field.containing_type.GetOptions().map_entry:
        # Of an entry of a map, what says nothing may be written or not.
        least = 0
    return FieldShape(number=field.number, wire=wire.type_of(field), least=least, most=most, **said)


def _said(field: FieldDescriptor, shape: Shape, others: bool, depth: int) -> dict[str, Any]:
    """What holds of one value."""
    if field.message_type is not None:
        inner = of_shape(shape, field.message_type, others=others, depth=depth + 1)
        return {"message": inner}
    if values := [one for one in shape.values if one is not None]:
        return {"values": wire.in_base64(field, values)}
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return {"utf8": True, **_length(shape, _BYTES_OF_SIGN)}
        case FieldDescriptor.TYPE_BYTES:
            return _length(shape, 1)
        case FieldDescriptor.TYPE_BOOL:
            return {"range": (0, 1)}
        case FieldDescriptor.TYPE_ENUM:
            assert field.enum_type is not None
            known = [one.number for one in field.enum_type.values]
            return {"values": wire.in_base64(field, known)} if "string" in shape.types else {}
        case _:
            return {}


def _length(shape: Shape, of_sign: int) -> dict[str, Any]:
    """Bytes of a text, whose length is known in signs."""
    named = [_LENGTHS[one] for one in shape.types if one in _LENGTHS]
    if named:
        return {"length": (min(one[0] for one in named), max(one[1] for one in named))}
    if shape.length is None:
        return {}
    least, most = shape.length
    return {"length": (least, None if most is None else most * of_sign)}


def _of_constants(
    documents: Sequence[Document], of: Descriptor, *, others: bool, depth: int
) -> MessageShape:
    """A message that is one of these, as far as its fields tell by themselves."""
    if depth > DEEPEST:
        return MessageShape(others=True)
    return _limited(
        (
            _of_values(
                field,
                [one[field.name] for one in documents if field.name in one],
                required=all(field.name in one for one in documents),
                others=others,
                depth=depth,
            )
            for field in of.fields
            if any(field.name in one for one in documents)
        ),
        others=others,
    )


def _of_values(
    field: FieldDescriptor,
    values: Sequence[JsonValue],
    *,
    required: bool,
    others: bool,
    depth: int,
) -> FieldShape:
    """A field that is one of these."""
    if field.is_repeated:
        lists = [one for one in values if isinstance(one, list)]
        return _of_lists(field, lists, required=required, others=others, depth=depth)
    return _made(field, int(required), 1, _one_of(field, values, others, depth))


def _of_lists(
    field: FieldDescriptor,
    lists: Sequence[list[JsonValue]],
    *,
    required: bool,
    others: bool,
    depth: int,
) -> FieldShape:
    """A repeated field that is one of these, in any order where it is not packed."""
    lengths = [len(one) for one in lists]
    least, most = (min(lengths) if required else 0), max(lengths)
    if not most:
        return _made(field, 0, 0, {})
    if field.is_packed:
        said = {"values": tuple(dict.fromkeys(wire.packed(field, one) for one in lists if one))}
        return _made(field, min(least, 1), 1, said)
    elements = [element for one in lists for element in one]
    return _made(field, least, most, _one_of(field, elements, others, depth))


def _one_of(
    field: FieldDescriptor, values: Sequence[JsonValue], others: bool, depth: int
) -> dict[str, Any]:
    if field.message_type is None:
        return {"values": wire.in_base64(field, values)}
    documents = [one for one in values if isinstance(one, dict)]
    inner = _of_constants(documents, field.message_type, others=others, depth=depth + 1)
    return {"message": inner}


def _asked(asked: Document, message: Message, of: Descriptor, depth: int) -> MessageShape:
    """The fields that JSON names, as they are in the message that was made of it."""
    if depth > DEEPEST:
        return MessageShape(others=True)
    fields = {name: field for field in of.fields for name in (field.name, field.json_name)}
    has = messages.document(message)
    found = (
        _asked_of(fields[name], value, message, has.get(fields[name].name), depth)
        for name, value in asked.items()
        if name in fields
    )
    return _limited(found, others=True)


def _asked_of(
    field: FieldDescriptor, asked: JsonValue, message: Message, has: JsonValue, depth: int
) -> FieldShape:
    of = field.message_type
    if has is None:
        if field.is_repeated or field.has_presence:
            return _made(field, 0, 0, {})
        # The value that is not written; who writes it all the same is right, too.
        usual = "" if field.type == FieldDescriptor.TYPE_BYTES else field.default_value
        return _made(field, 0, 1, {"values": wire.in_base64(field, [usual])})
    is_open = of is not None and not of.full_name.startswith(messages.OF_ITS_OWN)
    if of is not None and is_open and not field.is_repeated and isinstance(asked, dict):
        inner = _asked(asked, getattr(message, field.name), of, depth + 1)
        return _made(field, 1, 1, {"message": inner})
    return _of_values(field, [has], required=True, others=is_open, depth=depth)
