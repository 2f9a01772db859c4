"""JSON Schema, as far as each reply can be checked with it: from a file to the engine's shape.

Knows the keywords that a shape can say. Whatever else stands in a schema is refused with its place:
a schema of which a part is not checked would say more than what was found.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wiretrial import suggest
from wiretrial.errors import UsageProblem
from wiretrial.plan_shape import Choice, Member, Shape, TypeName
from wiretrial.traffic import json_places
from wiretrial.traffic.checks import rust_pattern
from wiretrial.traffic.places import Place, TrafficProblem, read

MOST_MEMBERS = 1024
_MOST_NODES = 20_000
_DEEPEST, _DEEPEST_VALUE = 24, 16
"""Levels of a schema, and of a value in it: the engine reads documents of 127 levels."""
_MOST_LENGTH = 2**63 - 1
_NAMES: Mapping[str, TypeName] = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "null": "null",
    "array": "list",
    "object": "object",
}
_FORMATS: Mapping[str, TypeName] = {"uuid": "uuid", "date-time": "time"}
_WIDTHS = {"int32": 2**31, "int64": 2**63}
_SAY_NOTHING = {"float", "double", "password"}
"""Formats that every value of their type has."""
_NOT_CHECKED = {
    *("$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "components"),
    *("title", "description", "default", "example", "examples", "deprecated"),
    *("readOnly", "writeOnly", "externalDocs", "xml"),
}
"""Keywords that ask nothing of a value."""
_HARMLESS: Mapping[str, tuple[object, ...]] = {
    "uniqueItems": (False,),
    "exclusiveMinimum": (False,),
    "exclusiveMaximum": (False,),
    "minProperties": (0,),
}
"""Keywords that ask nothing of a value where they say this."""
_KEYWORDS = {
    *("type", "nullable", "enum", "const", "format", "pattern", "$ref"),
    *("anyOf", "oneOf", "allOf", "not"),
    *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum"),
    *("properties", "required", "additionalProperties", "items"),
}
_INSTEAD = {
    "if": "write what every reply has",
    "patternProperties": "write the names in properties, or leave them out",
    "prefixItems": "write what each element has in items",
    "multipleOf": "write type integer, or leave it out",
    "uniqueItems": "leave it out",
    "minProperties": "write the names in required",
    "maxProperties": "write the names in properties, and additionalProperties: false",
    "exclusiveMinimum": "write minimum, or type integer beside it",
    "exclusiveMaximum": "write maximum, or type integer beside it",
}
_CHOICES: Mapping[str, tuple[int, int | None]] = {
    "anyOf": (1, None),
    "oneOf": (1, 1),
    "not": (0, 0),
}
"""How many of its schemas a value fits: at least, and at most."""
_NULL = Shape(types=("null",))
_OTHERWISE = "leave it out: it can't be checked in each reply"


def read_schema(path: Path, what: str) -> Shape:
    """The shape that a file of JSON Schema describes; `what` says how the file is named."""
    source = read(path, f"name a file of JSON Schema in {what}")
    begin = Place(path)
    try:
        schema = json.loads(source, parse_constant=_no_number, parse_float=_fraction)
        return shape(schema, str(path))
    except json.JSONDecodeError as error:
        place = Place(path, error.lineno, error.colno)
        raise TrafficProblem(place, f"not JSON: {error.msg}", "correct it") from error
    except _NoNumber as error:
        place = begin.along(source[: json_places.offset_of_word(source, error.word)])
        raise TrafficProblem(place, str(error), "correct it") from error
    except RecursionError as error:
        raise TrafficProblem(begin, "nested too deeply", "flatten the schema") from error
    except SchemaProblem as problem:
        place = begin.along(source[: json_places.offset_of(source, problem.pointer)])
        raise TrafficProblem(place, problem.what, problem.remedy) from problem


def shape(schema: object, name: str, at: str = "#") -> Shape:
    """The shape of the part of a document at `at`; `name` is the document's."""
    reader = _Reader(schema, name)
    return reader.at(reader.resolved(at, at) if at != "#" else schema, at, ())


class SchemaProblem(UsageProblem):
    """What is wrong in a schema, and the pointer to it."""

    def __init__(self, name: str, pointer: str, what: str, remedy: str) -> None:
        super().__init__(f"{name}: {what}", remedy)
        self.pointer = pointer
        self.what = what


class _NoNumber(ValueError):
    def __init__(self, word: str) -> None:
        super().__init__(f"{word} is no number of JSON")
        self.word = word


def _no_number(word: str) -> float:
    raise _NoNumber(word)


def _fraction(digits: str) -> float:
    found = float(digits)
    return found if math.isfinite(found) else _no_number(digits)


@dataclass
class _Reader:
    document: object
    name: str
    nodes: int = 0

    def at(self, schema: object, at: str, above: tuple[str, ...]) -> Shape:
        """The shape of a schema at this place; `above`: the places of what it is a part of."""
        self.nodes += 1
        if self.nodes > _MOST_NODES or len(above) > _DEEPEST:
            raise self._wrong(at, "the schema is too large", "check a part of the reply with it")
        if schema is True:
            return Shape()
        if schema is False:
            raise self._wrong(at, "false: no value is right", "write what a right value is")
        if not isinstance(schema, dict):
            raise self._wrong(at, "no schema", "write an object, or true")
        self._require_known(schema, at)
        others = self._others(schema, at, above)
        found = Shape(
            types=self._types(schema, at),
            values=self._values(schema, at),
            length=self._length(schema, at),
            range=self._range(schema, at),
            pattern=self._pattern(schema, at),
            members=tuple(self._members(schema, at, above, others)),
            others=others,
            items=self._items(schema, at, above),
            choices=tuple(self._choices(schema, at, above)),
        )
        is_null_right = schema.get("nullable") is True and "type" not in schema
        return _or_null(_simplest(found)) if is_null_right else _simplest(found)

    def _wrong(self, at: str, what: str, remedy: str) -> SchemaProblem:
        """`what` begins with the keyword, where one is wrong."""
        pointer = f"{at}/{re.split('[ :]', what)[0]}"
        return SchemaProblem(self.name, pointer, f"{at}: {what}", remedy)

    def _require_known(self, schema: Mapping[str, object], at: str) -> None:
        for word, value in schema.items():
            if word in _NOT_CHECKED or word.startswith("x-"):
                continue
            if any(value is said or value == said for said in _HARMLESS.get(word, ())):
                continue
            if word in _KEYWORDS:
                continue
            remedy = _INSTEAD.get(word)
            if remedy is None:
                known = {*_KEYWORDS, *_NOT_CHECKED, *_INSTEAD}
                remedy = suggest.remedy(word, sorted(known), _OTHERWISE)
            raise self._wrong(at, f"{word} is not checked in each reply", remedy)

    def _choices(
        self, schema: Mapping[str, Any], at: str, above: tuple[str, ...]
    ) -> Iterator[Choice]:
        above = (*above, at)
        if "$ref" in schema:
            yield Choice(of=(self._referred(schema["$ref"], at, above),), least=1)
        for word in ("allOf", *_CHOICES):
            if word not in schema:
                continue
            parts = schema[word] if word != "not" else [schema[word]]
            if not isinstance(parts, list) or not parts:
                raise self._wrong(at, f"{word}: no list of schemas", "write them in brackets")
            places = [
                f"{at}/{word}" + (f"/{n}" if word != "not" else "") for n in range(len(parts))
            ]
            of = tuple(
                self.at(part, place, above) for part, place in zip(parts, places, strict=True)
            )
            least, most = _CHOICES.get(word, (len(of), None))
            yield Choice(of=of, least=least, most=most)

    def _referred(self, reference: object, at: str, above: tuple[str, ...]) -> Shape:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise self._wrong(
                at, f"$ref {reference} is outside of the file", "copy it into $defs of this file"
            )
        if any(f"{place}/".startswith(f"{reference}/") for place in above):
            raise self._wrong(
                at,
                f"$ref {reference} is a part of itself",
                "write the levels that are checked, without the reference in the last one",
            )
        return self.at(self.resolved(reference, at), reference, above)

    def resolved(self, reference: str, at: str) -> object:
        """What a reference within the document names."""
        found: Any = self.document
        for part in reference.removeprefix("#").removeprefix("/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            inside = found.get(name, found) if isinstance(found, dict) else found
            if inside is found:
                raise self._wrong(at, f"there is no {reference}", "correct the reference")
            found = inside
        return cast("object", found)

    def _types(self, schema: Mapping[str, Any], at: str) -> tuple[TypeName, ...]:
        said = schema.get("type", ())
        names = said if isinstance(said, list | tuple) else [said]
        types = []
        for one in names:
            if not isinstance(one, str) or one not in _NAMES:
                known = f"use {', '.join(_NAMES)}"
                raise self._wrong(at, f"type {one}", suggest.remedy(str(one), list(_NAMES), known))
            types.append(_NAMES[one])
        if isinstance(said, list) and not said:
            raise self._wrong(at, "type: an empty list", "write a type, or leave it out")
        if schema.get("nullable") is True and types:
            types.append("null")
        text = self._text_type(schema, at)
        if text != "string" and not types:
            types = list(_NAMES.values())
        return tuple(dict.fromkeys(text if one == "string" else one for one in types))

    def _text_type(self, schema: Mapping[str, Any], at: str) -> TypeName:
        name = schema.get("format")
        if not isinstance(name, str) and "format" in schema:
            raise self._wrong(at, f"format: {name}", "write a text")
        if name is None or name in _SAY_NOTHING or name in _WIDTHS:
            return "string"
        if name not in _FORMATS:
            raise self._wrong(
                at,
                f"format {name} is not checked in each reply",
                "write a pattern in its place, or leave it out",
            )
        return _FORMATS[name]

    def _values(self, schema: Mapping[str, Any], at: str) -> tuple[Any, ...]:
        if "enum" in schema and "const" in schema:
            raise self._wrong(at, "const beside enum", "keep one of them")
        if "enum" not in schema and "const" not in schema:
            return ()
        values = schema.get("enum", [schema.get("const")])
        if not isinstance(values, list) or not values:
            raise self._wrong(at, "enum: no list of values", "write the values in brackets")
        if any(_depth(value) > _DEEPEST_VALUE for value in values):
            raise self._wrong(at, "a value is nested too deeply", "check its parts with properties")
        return tuple(values)

    def _length(self, schema: Mapping[str, Any], at: str) -> tuple[int, int | None] | None:
        """Of texts and lists alike, so that only one of both may have one."""
        found = None
        types = self._types(schema, at)
        for least_word, most_word, is_of in (
            ("minLength", "maxLength", {"string", "uuid", "time"}),
            ("minItems", "maxItems", {"list"}),
        ):
            least = self._count(least_word, schema, at)
            most = self._count(most_word, schema, at)
            if (not least and most is None) or (types and not is_of & {*types}):
                continue
            if not types or ({*types} & {"string", "uuid", "time"} and "list" in types):
                word = least_word if least else most_word
                raise self._wrong(
                    at, f"{word} of what may be a text or a list", "write one type beside it"
                )
            if most is not None and most < (least or 0):
                raise self._wrong(at, f"{most_word} is less than {least_word}", "exchange them")
            found = (least or 0, most)
        return found

    def _count(self, word: str, schema: Mapping[str, Any], at: str) -> int | None:
        if word not in schema:
            return None
        value: Any = schema[word]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _MOST_LENGTH or value != int(value):
            raise self._wrong(at, f"{word}: {value}", "write a whole number from 0")
        return int(value)

    def _range(
        self, schema: Mapping[str, Any], at: str
    ) -> tuple[int | float | None, int | float | None] | None:
        least = self._bound("minimum", schema, at, "exclusiveMinimum", max)
        most = self._bound("maximum", schema, at, "exclusiveMaximum", min)
        if width := _WIDTHS.get(str(schema.get("format"))):
            least = max(-width, -width if least is None else least)
            most = min(width - 1, width - 1 if most is None else most)
        if least is None and most is None:
            return None
        if least is not None and most is not None and least > most:
            raise self._wrong(at, "maximum is less than minimum", "exchange them")
        return least, most

    def _bound(
        self,
        word: str,
        schema: Mapping[str, Any],
        at: str,
        beyond: str,
        nearer: Callable[[int | float, int | float], int | float],
    ) -> int | float | None:
        """The least or greatest number that is right."""
        bound = self._number(word, schema, at)
        if beyond not in schema or schema[beyond] is False:
            return bound
        if self._types(schema, at) not in (("integer",), ("integer", "null")):
            raise self._wrong(at, f"{beyond} is not checked in each reply", _INSTEAD[beyond])
        if schema[beyond] is True:
            if bound is None:
                return None
            outside, bound = bound, None
        else:
            outside = cast("float", self._number(beyond, schema, at))
        inner = math.floor(outside) + 1 if nearer is max else math.ceil(outside) - 1
        return inner if bound is None else nearer(bound, inner)

    def _number(self, word: str, schema: Mapping[str, Any], at: str) -> int | float | None:
        value = schema.get(word)
        if word not in schema:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(at, f"{word}: {value}", "write a number")
        return value

    def _pattern(self, schema: Mapping[str, Any], at: str) -> str | None:
        pattern = schema.get("pattern")
        if "pattern" not in schema:
            return None
        if not isinstance(pattern, str):
            raise self._wrong(at, f"pattern: {pattern}", "write a text")
        try:
            return rust_pattern(pattern, Place(Path(self.name)))
        except TrafficProblem as error:
            what = error.message.removeprefix(f"{error.place}: ")
            raise self._wrong(f"{at}/pattern", what, error.remedy) from error

    def _members(
        self, schema: Mapping[str, Any], at: str, above: tuple[str, ...], others: bool | Shape
    ) -> Iterator[Member]:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict):
            raise self._wrong(at, "properties: no object", "write name and schema of each")
        if not isinstance(required, list) or not all(isinstance(one, str) for one in required):
            raise self._wrong(at, "required: no list of names", 'write it as ["id", "name"]')
        names = dict.fromkeys([*properties, *required])
        if len(names) > MOST_MEMBERS:
            raise self._wrong(
                at, f"{len(names):,} properties", f"name {MOST_MEMBERS:,} of them at most"
            )
        for name in names:
            place = f"{at}/properties/{name.replace('~', '~0').replace('/', '~1')}"
            # What is required and no property is one of the others.
            inner = others if isinstance(others, Shape) else Shape()
            if name in properties:
                inner = self.at(properties[name], place, (*above, at))
            elif others is False:
                raise self._wrong(
                    at, f"{name} is required, and no property", "write it in properties, too"
                )
            yield Member(name=name, shape=inner, required=name in required)

    def _others(self, schema: Mapping[str, Any], at: str, above: tuple[str, ...]) -> bool | Shape:
        said = schema.get("additionalProperties", True)
        if isinstance(said, bool) or said == {}:
            return said is not False
        return self.at(said, f"{at}/additionalProperties", (*above, at))

    def _items(self, schema: Mapping[str, Any], at: str, above: tuple[str, ...]) -> Shape | None:
        if "items" not in schema:
            return None
        if isinstance(schema["items"], list):
            raise self._wrong(
                at, "a list of items is not checked in each reply", _INSTEAD["prefixItems"]
            )
        return self.at(schema["items"], f"{at}/items", (*above, at))


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)


def _simplest(of: Shape) -> Shape:
    """The same without choices where it can be said so: they are read more than once."""
    if of.model_copy(update={"choices": ()}) != Shape() or len(of.choices) != 1:
        return of
    (choice,) = of.choices
    if choice.least == len(choice.of) == 1:
        return choice.of[0]
    others = [one for one in choice.of if one != _NULL]
    if choice.least == 1 and len(choice.of) == 2 and len(others) == 1:
        (other,) = others
        if other.types and "null" not in other.types and not other.choices:
            return _or_null(other)
    return of


def _or_null(of: Shape) -> Shape:
    """Null, too, is right."""
    if of == Shape():
        return of
    if of.choices or not of.types:
        return Shape(choices=(Choice(of=(of, _NULL), least=1),))
    types = of.types if "null" in of.types else (*of.types, "null")
    values = of.values if not of.values or None in of.values else (*of.values, None)
    return of.model_copy(update={"types": types, "values": values})
