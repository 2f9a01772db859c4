"""A shape of JSON on one line, for people: `{id: uuid, items: [{price: number 0..100}] 1.., ...}`.

Knows how shapes are written. Must not know where they come from, nor what has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from wiretrial.plan_shape import Choice, Member, Shape, TypeName

_TEXTS = frozenset[TypeName]({"string", "uuid", "time"})
_NUMBERS = frozenset[TypeName]({"number", "integer", "float"})


def line(of: Shape) -> str:
    """What a value of this shape is like; `?`: a member that may be missing, `...`: others too."""
    if of.values:
        own = " or ".join(json.dumps(value, ensure_ascii=False) for value in of.values)
    else:
        own = " or ".join(dict.fromkeys(_kinds(of)))
    said = [*([own] if own else []), *map(_choice, of.choices)]
    return " and ".join(said) or "anything"


def _choice(of: Choice) -> str:
    shapes = [line(one) for one in of.of]
    if of.most == 0:
        return f"not ({' or '.join(shapes)})"
    if of.least == len(shapes):
        return " and ".join(shapes)
    return f"({' or '.join(shapes)})"


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
    if of.members or of.others is not True:
        yield "object"
    if of.items:
        yield "list"
    if of.pattern or (of.length and not of.items):
        yield "string"
    if of.range:
        yield "number"


def _object(of: Shape) -> str:
    members = [*map(_member, of.members)]
    if of.others:
        members.append("..." if of.others is True else f"...: {line(of.others)}")
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
