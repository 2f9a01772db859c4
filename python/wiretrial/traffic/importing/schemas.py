"""JSON Schema, as OpenAPI has it: an example of what it describes, and checks of replies.

Knows the keywords that say what a value looks like; must not know operations. Checks are a schema
of its own file, or, where that says more than can be checked, lines about required members.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wiretrial.errors import UsageProblem
from wiretrial.traffic import json_schema
from wiretrial.traffic.hurl.syntax import Assertion
from wiretrial.traffic.importing import parts

_DEEPEST = 8
_MOST_CHECKED = 20
_FORMATS = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "ann@example.com",
    "uri": "http://example.com/",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": "dGV4dA==",
    "password": "password",
}
_CHECKS = {
    "string": "isString",
    "integer": "isInteger",
    "number": "isNumber",
    "boolean": "isBoolean",
}

_CHECKED = (
    *("type", "nullable", "enum", "const", "pattern", "minLength", "maxLength", "minItems"),
    *("maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "uniqueItems", "minProperties", "maxProperties"),
    *("patternProperties", "propertyNames", "prefixItems", "contains", "if", "then", "else"),
)
_OF_PARTS = ("items", "additionalProperties", "not", "allOf", "anyOf", "oneOf")
"""Those that stand for themselves are all that ask something of a value, but for its members."""
_CHECKED_FORMATS = ("uuid", "date-time", "int32", "int64")


class Document:
    """A description, in which parts refer to others."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content

    def resolved(self, part: Any) -> dict[str, Any]:
        """The part itself, where it is a reference; empty where there is none."""
        for _ in range(_DEEPEST):
            if not isinstance(part, dict):
                return {}
            reference = part.get("$ref")
            if not isinstance(reference, str):
                return part
            part = self._at(reference)
        return {}

    def _at(self, reference: str) -> Any:
        found: Any = self.content
        for name in reference.removeprefix("#/").split("/"):
            key = name.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def schema(self, part: Any, depth: int = 0) -> dict[str, Any]:
        """The schema with all that it is made of; of several choices, the first."""
        found = dict(self.resolved(part))
        if depth > _DEEPEST:
            return found
        for piece in (*_list(found.get("allOf")), *_first(found, "oneOf"), *_first(found, "anyOf")):
            inner = self.schema(piece, depth + 1)
            members = {**inner.get("properties", {}), **found.get("properties", {})}
            required = [*inner.get("required", []), *found.get("required", [])]
            found = {**inner, **found}
            if members:
                found["properties"] = members
            if required:
                found["required"] = required
        return found

    def example(self, part: Any, depth: int = 0) -> Any:
        """A value that fits the schema."""
        schema = self.schema(part)
        given, is_given = _given(schema)
        if is_given:
            return given
        match kind_of(schema):
            case "object":
                return self._object(schema, depth)
            case "array":
                few = max(int(schema.get("minItems", 1)), 1) if depth < _DEEPEST else 0
                return [self.example(schema.get("items"), depth + 1) for _ in range(min(few, 3))]
            case "integer":
                return int(_number(schema))
            case "number":
                return _number(schema)
            case "boolean":
                return True
            case "null":
                return None
            case _:
                return _text(schema)

    def checks(self, part: Any) -> list[Assertion]:
        """Checks of the members that every reply has."""
        return [*self._checks(part, "$", 0)][:_MOST_CHECKED]

    def own(self, part: Any) -> dict[str, Any] | None:
        """The schema with all that it refers to; None where not all of it can be checked."""
        definitions: dict[str, Any] = {}
        found = self._own(self.resolved(part), definitions)
        if not isinstance(found, dict) or not found:
            return None
        if definitions:
            found = {**found, "$defs": definitions}
        try:
            json_schema.shape(found, "")
        except UsageProblem:
            return None
        return found

    def _own(self, part: Any, definitions: dict[str, Any]) -> Any:
        """The schema without what asks nothing of a reply."""
        if not isinstance(part, dict):
            return part
        if isinstance(part.get("$ref"), str):
            name = part["$ref"].removeprefix("#/components/schemas/")
            if name not in definitions:
                definitions[name] = {}
                definitions[name] = self._own(self._at(part["$ref"]), definitions)
            key = name.replace("~", "~0").replace("/", "~1")
            return {"$ref": f"#/$defs/{key}", **_kept(part, "nullable")}
        part = self._joined(part)
        found = _kept(part, *_CHECKED)
        if part.get("format") in _CHECKED_FORMATS:
            found["format"] = part["format"]
        if isinstance(members := part.get("properties"), dict):
            found["properties"] = {
                str(name): self._own(member, definitions) for name, member in members.items()
            }
        if isinstance(required := part.get("required"), list):
            sent = [str(name) for name in required if not self._is_hidden(members, name)]
            found |= {"required": sent} if sent else {}
        for word in ("items", "additionalProperties", "not"):
            if word in part:
                found[word] = self._own(part[word], definitions)
        for word in ("allOf", "anyOf", "oneOf"):
            if word in part:
                found[word] = [self._own(one, definitions) for one in _list(part[word])]
        return found

    def _joined(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """An object whose members stand in several schemas as one that has them all."""
        pieces = _list(schema.get("allOf"))
        if not pieces:
            return schema
        rest = {word: value for word, value in schema.items() if word != "allOf"}
        members, required, others = dict[str, Any](), list[Any](), dict[str, Any]()
        for piece in (*pieces, rest):
            one = self._joined(self.resolved(piece))
            for name, member in one.get("properties", {}).items():
                if members.setdefault(name, member) != member:
                    return schema
            required += one.get("required", [])
            for word, value in _kept(one, *_CHECKED, *_OF_PARTS).items():
                if others.setdefault(word, value) != value:
                    return schema
        if others.get("additionalProperties", True) is not True:
            return schema
        return {**others, "properties": members, "required": list(dict.fromkeys(required))}

    def _is_hidden(self, members: Any, name: object) -> bool:
        """Whether only requests have this member."""
        member = members.get(name) if isinstance(members, dict) else None
        return bool(self.resolved(member).get("writeOnly"))

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        if depth >= _DEEPEST:
            return {}
        required = schema.get("required", [])
        return {
            str(name): self.example(member, depth + 1)
            for name, member in schema.get("properties", {}).items()
            if not self.schema(member).get("readOnly") and (name in required or depth < 2)
        }

    def _checks(self, part: Any, path: str, depth: int) -> Iterator[Assertion]:
        schema = self.schema(part)
        kind = kind_of(schema)
        if kind == "array":
            yield parts.counted(path, ">=", int(schema.get("minItems", 0)))
        elif kind in _CHECKS and not _is_nullable(schema):
            word = "isIsoDate" if schema.get("format") == "date-time" else _CHECKS[kind]
            yield parts.assertion("jsonpath", path, word)
        elif kind == "object" and depth < _DEEPEST and not _is_nullable(schema):
            required = schema.get("required", [])
            members = schema.get("properties", {})
            if path == "$" and not required:
                return
            for name in dict.fromkeys(required):
                if name in members and not self.schema(members[name]).get("writeOnly"):
                    inner = parts.member_path(path, str(name))
                    yield from self._checks(members[name], inner, depth + 1)


def _kept(schema: Mapping[str, Any], *words: str) -> dict[str, Any]:
    return {word: schema[word] for word in words if word in schema}


def kind_of(schema: Mapping[str, Any]) -> str:
    """The type; of several, the first that is not null."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if kind is None:
        return "object" if "properties" in schema else "array" if "items" in schema else ""
    return str(kind)


def _given(schema: Mapping[str, Any]) -> tuple[Any, bool]:
    """The example that somebody wrote, and whether there is one."""
    for word in ("example", "default", "const"):
        if word in schema:
            return schema[word], True
    for word in ("examples", "enum"):
        if found := _list(schema.get(word)):
            return found[0], True
    return None, False


def _is_nullable(schema: Mapping[str, Any]) -> bool:
    kind = schema.get("type")
    return bool(schema.get("nullable")) or (isinstance(kind, list) and "null" in kind)


def _number(schema: Mapping[str, Any]) -> float:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if isinstance(low, int | float) and not isinstance(low, bool):
        return low + 1 if "exclusiveMinimum" in schema else low
    if isinstance(high, int | float) and not isinstance(high, bool):
        return min(high - 1, 1)
    return 1


def _text(schema: Mapping[str, Any]) -> str:
    found = _FORMATS.get(str(schema.get("format")), "text")
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and len(found) < least:
        found = (found * (least // len(found) + 1))[:least]
    return found[:most] if isinstance(most, int) and most >= 0 else found


def _list(part: Any) -> list[Any]:
    return part if isinstance(part, list) else []


def _first(schema: Mapping[str, Any], word: str) -> list[Any]:
    return _list(schema.get(word))[:1]
