"""What a call of gRPC is, and what its messages carry, as the engine reads it in a plan.

Knows names, types and defaults; must not know descriptors: fields have numbers and wire types here,
and no names. A test compares these models with the engine's schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer

CallKind = Literal["unary", "server", "client", "bidi"]
WireType = Literal["varint", "i64", "len", "i32"]
STATUSES: Final = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""The name of each status, at its number ("Status codes and their use in gRPC")."""
_PLACE = re.compile(r"\bfield (\d+(?:\.\d+)*)\b")


def named(text: str, name: Callable[[str], str]) -> str:
    """What the engine says of messages, with the names of fields in place of `field 9.2`."""
    return _PLACE.sub(lambda found: f"field {name(found[1])}", text)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_serializer(mode="wrap")
    def _without_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What says nothing is left out: most fields of most shapes say one or two things."""
        written: dict[str, Any] = write(self)
        fields = type(self).model_fields
        return {
            name: value
            for name, value in written.items()
            if fields[name].is_required() or getattr(self, name) != fields[name].default
        }


class Grpc(_Part):
    """A call. `kind`: which side streams. `deadline_ns` is sent, and later replies are late.

    `status`: the right one, as a number. `replies`: messages of a right reply, from and to; None:
    one, or any number where the server streams. `gzip`: messages go in it, and replies may.
    `message_interval_ns`: from one message of a call to the next; `turns`: the next one goes when
    the reply to the last one has arrived.
    """

    kind: CallKind = "unary"
    deadline_ns: int | None = None
    status: int = 0
    replies: tuple[int, int | None] | None = None
    gzip: bool = False
    message_interval_ns: int | None = None
    turns: bool = False


class MessageShape(_Part):
    """A message of protobuf: its fields, and whether it may have `others`."""

    fields: tuple[FieldShape, ...] = ()
    others: bool = False


class FieldShape(_Part):
    """A field of a message; all that is said must hold of each occurrence.

    `least`, `most`: how often it occurs; packed elements are one occurrence. `values`: base64 of
    the raw values of which it is one. `length`: bytes, from and to. `range`: of varints, which are
    read as `signed` says. `utf8`: it is a text. `message`: what is in it.
    """

    number: int
    wire: WireType
    least: int = 0
    most: int | None = None
    values: tuple[str, ...] = ()
    length: tuple[int, int | None] | None = None
    range: tuple[int | None, int | None] | None = None
    signed: Literal["no", "int", "zigzag"] = "no"
    utf8: bool = False
    message: MessageShape | None = None
