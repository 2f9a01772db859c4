"""A shape of JSON on one line, for people: `{id: uuid, items: [{price: number 0..100}] 1.., ...}`.

Knows how shapes are written. Must not know where they come from, nor what has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from wiretrial.plan_shape import Member, Shape, TypeName

_TEXTS = frozenset[TypeName]({"string", "uuid", "time"})
_NUMBERS = frozenset[TypeName]({"number", "integer", "float"})


def line(of: Shape) -> str:
    """What a value of this shape is like; `?`: a member that may be missing, `...`: others too."""
    if of.values:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in of.values)
    return " or ".join(dict.fromkeys(_kinds(of))) or "anything"


def _kinds(of: Shape) -> Iterator[str]:
    for name in of.types or _implied(of):
        if name == "object":
            yield _object(of)
        elif name == "list":
            yield f"[{line(of.items) if of.items else '...'}]{_between(of.length)}"
        elif name in _TEXTS:
            pattern = f" /{of.pattern}/" if of.pattern else ""
            yield f"{name}{_between(of.length)}{pattern}"
        elif name in _NUMBERS:
            yield f"{name}{_between(of.range)}"
        else:
            yield name


def _implied(of: Shape) -> Iterator[TypeName]:
    """Of which types something is said, where no type is."""
    if of.members or not of.others:
        yield "object"
    if of.items:
        yield "list"
    if of.pattern or (of.length and not of.items):
        yield "string"
    if of.range:
        yield "number"


def _object(of: Shape) -> str:
    members = [*map(_member, of.members), *(["..."] if of.others else [])]
    return f"{{{', '.join(members)}}}"


def _member(of: Member) -> str:
    name = of.name if re.fullmatch(r"[\w-]+", of.name) else json.dumps(of.name, ensure_ascii=False)
    return f"{name}{'' if of.required else '?'}: {line(of.shape)}"


def _between(bounds: tuple[float | None, float | None] | None) -> str:
    if bounds is None:
        return ""
    least, most = bounds
    if least == most:
        return f" {least}"
    return f" {'' if least is None else least}..{'' if most is None else most}"
