"""What the engine says of a document and a shape, said again in a few lines: tests ask it often.

`test_learned_load.py` asks the engine itself.
"""

from __future__ import annotations

import json
import re
from typing import Any

from wiretrial.traffic.learning.strings import TIME, UUID


def fits(shape: dict[str, Any], value: Any) -> bool:
    """Whether a document is of this shape, given as a plan has it."""
    types, values = shape.get("types"), shape.get("values")
    if types and not any(_is(name, value) for name in types):
        return False
    if values and not any(_same(one, value) for one in values):
        return False
    least, most = shape.get("length") or (0, None)
    if isinstance(value, str | list) and not least <= len(value) <= (most or len(value)):
        return False
    pattern = (shape.get("pattern") or "").replace("$", r"\Z")
    if isinstance(value, str) and not re.search(pattern, value):
        return False
    if isinstance(value, list) and (items := shape.get("items")):
        return all(fits(items, one) for one in value)
    return not isinstance(value, dict) or _members_fit(shape, value)


def _members_fit(shape: dict[str, Any], value: dict[str, Any]) -> bool:
    members = {one["name"]: one for one in shape.get("members", ())}
    others = shape.get("others", True)
    for name, one in members.items():
        if name not in value and one["required"]:
            return False
        if name in value and not fits(one["shape"], value[name]):
            return False
    unnamed = [inner for name, inner in value.items() if name not in members]
    if isinstance(others, dict):
        return all(fits(others, inner) for inner in unnamed)
    return bool(others) or not unnamed


def _same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _is(name: str, value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match name:
        case "number":
            return is_number
        case "integer":
            return is_number and isinstance(value, int)
        case "float":
            return isinstance(value, float)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "list":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "uuid":
            return isinstance(value, str) and re.fullmatch(UUID, value) is not None
        case "time":
            return isinstance(value, str) and re.fullmatch(TIME, value) is not None
        case _:
            return isinstance(value, str)
