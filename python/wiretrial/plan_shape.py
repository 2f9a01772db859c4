"""What a value of JSON is like, as the engine reads it in a plan.

Knows names, types and defaults; must not know what has a shape. A test compares these models with
the engine's schema.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

TypeName = Literal[
    "string", "number", "integer", "float", "boolean", "null", "list", "object", "uuid", "time"
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shape(_Part):
    """All that is said must hold of a value; what is said of one type says nothing of the others.

    `types`, `values`: it is one of these, where any are given. `length`: characters of a text,
    elements of a list, from and to and with. `range`: of numbers. `pattern`: matches somewhere in
    a text. `members`: of an object, which has `others` too, or only these; or each other one is
    like that. `items`: of a list. `choices`: shapes that it has, too.
    """

    types: tuple[TypeName, ...] = ()
    values: tuple[JsonValue, ...] = ()
    length: tuple[int, int | None] | None = None
    range: tuple[int | float | None, int | float | None] | None = None
    pattern: str | None = None
    members: tuple[Member, ...] = ()
    others: bool | Shape = True
    items: Shape | None = None
    choices: tuple[Choice, ...] = ()


class Choice(_Part):
    """Shapes of which a value has `least` to `most`; None: all of them."""

    of: tuple[Shape, ...]
    least: int = 0
    most: int | None = None


class Member(_Part):
    """A member of an object. Of named members that stand twice in an object the last one counts."""

    name: str
    shape: Shape = Field(default_factory=Shape)
    required: bool = True
