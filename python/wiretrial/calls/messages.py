"""Messages of protobuf, from JSON to bytes and from bytes to what can be compared.

Knows descriptors and protobuf's JSON; must not know calls. A document is what a message carries, by
the names of its file: numbers as numbers, bytes as a text of one sign each, a map as a list of its
entries in their order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet
from pydantic import JsonValue

from wiretrial import suggest
from wiretrial.errors import UsageProblem

OF_ITS_OWN = "google.protobuf."
"""The package of messages whose JSON is not what their fields say, such as Timestamp."""


class NotAMessage(ValueError):
    """Bytes that are no message of the kind that was expected."""


def read_json(text: str, flag: str) -> JsonValue:
    """The document of an option; raises where it is none."""
    try:
        found: JsonValue = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageProblem(
            f"{flag} is not JSON at line {error.lineno}, column {error.colno}: {error.msg}",
            "correct it there",
        ) from error
    return found


def encoded(document: JsonValue, of: Descriptor, flag: str) -> bytes:
    """One message as bytes, always the same for the same document; raises what is wrong in it."""
    return filled(document, of, flag).SerializeToString(deterministic=True)


def filled(document: JsonValue, of: Descriptor, flag: str) -> Message:
    """The message of protobuf's JSON. A field that there is not is named with those that are."""
    if not isinstance(document, dict) and not of.full_name.startswith(OF_ITS_OWN):
        raise UsageProblem(
            f"{flag}: a {of.full_name} is an object", 'write its fields: {"name": value}'
        )
    _require_known(document, of, flag)
    message = GetMessageClass(of)()
    try:
        # The types of protobuf say that this is an object; of Timestamp and its like it is none.
        json_format.ParseDict(
            cast("dict[str, Any]", document), message, descriptor_pool=of.file.pool
        )
    except json_format.ParseError as error:
        fault = " ".join(str(error).split()).rstrip(".")
        raise UsageProblem(f"{flag}: {fault}", f"it is to be a {of.full_name}") from error
    return message


def decoded(message: bytes, of: Descriptor) -> Message:
    """The message in these bytes."""
    try:
        return GetMessageClass(of).FromString(message)
    except DecodeError as error:
        raise NotAMessage(f"a reply is no {of.full_name}") from error


def document(message: Message) -> dict[str, JsonValue]:
    """What a message carries. Extensions and groups are left out: a plan can't say them."""
    return {
        field.name: _of_field(field, value)
        for field, value in message.ListFields()
        if not field.is_extension and field.type != FieldDescriptor.TYPE_GROUP
    }


def has_unknown(message: Message) -> bool:
    """Whether it, or a message in it, has fields that its file does not know."""
    if len(UnknownFieldSet(message)):
        return True
    return any(
        has_unknown(one)
        for field, value in message.ListFields()
        if field.type == FieldDescriptor.TYPE_MESSAGE and _entry(field) is None
        for one in (value if field.is_repeated else [value])
    )


def _entry(field: FieldDescriptor) -> Descriptor | None:
    """The message that an entry of a map is; None: the field is no map."""
    of = field.message_type
    return of if of is not None and of.GetOptions().map_entry else None


def _of_field(field: FieldDescriptor, value: Any) -> JsonValue:
    if entry := _entry(field):
        key, inner = (entry.fields_by_name[name] for name in ("key", "value"))
        return [
            {"key": _of_value(key, one), "value": _of_value(inner, value[one])}
            for one in sorted(value)
        ]
    if field.is_repeated:
        return [_of_value(field, one) for one in value]
    return _of_value(field, value)


def _of_value(field: FieldDescriptor, value: Any) -> JsonValue:
    match field.type:
        case FieldDescriptor.TYPE_MESSAGE:
            return document(value)
        case FieldDescriptor.TYPE_BYTES:
            return bytes(value).decode("latin-1")
        case FieldDescriptor.TYPE_ENUM:
            assert field.enum_type is not None
            known = field.enum_type.values_by_number.get(value)
            return known.name if known else int(value)
        case _:
            found: JsonValue = value
            return found


def _require_known(document: JsonValue, of: Descriptor, flag: str) -> None:
    """Refuses a member that is no field, with the names that there are."""
    if not isinstance(document, dict) or of.full_name.startswith(OF_ITS_OWN):
        return
    fields = {name: field for field in of.fields for name in (field.name, field.json_name)}
    for name, value in document.items():
        field = fields.get(name)
        if field is None and not (name.startswith("[") and of.is_extendable):
            known = [one.name for one in of.fields]
            rest = f"it has {', '.join(known)}" if known else "it has none"
            raise UsageProblem(
                f"{flag}: {of.full_name} has no field {name}", suggest.remedy(name, known, rest)
            )
        if field is not None:
            for one, inner in _inner(field, value):
                _require_known(one, inner, flag)


def _inner(field: FieldDescriptor, value: JsonValue) -> Iterator[tuple[JsonValue, Descriptor]]:
    """The messages in a field, as far as it is written rightly, and what they are."""
    entry = _entry(field)
    of = entry.fields_by_name["value"].message_type if entry else field.message_type
    if of is None:
        return
    match value:
        case dict() if entry:
            yield from ((one, of) for one in value.values())
        case list() if field.is_repeated:
            yield from ((one, of) for one in value)
        case _ if not field.is_repeated:
            yield value, of
