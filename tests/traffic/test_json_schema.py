"""JSON Schema becomes a shape that says the same, or is refused with its place."""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import jsonschema
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.traffic.conftest import Compile
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.plan import Load, Plan, Stop, Target
from wiretrial.plan_shape import Shape
from wiretrial.plan_traffic import (
    Check,
    Flow,
    IsShape,
    Route,
    RouteExpect,
    Step,
    Traffic,
    Words,
)
from wiretrial.traffic.json_schema import shape
from wiretrial.traffic.shapes import line

ITEM = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "price": {"type": "number", "minimum": 0, "maximum": 100},
        "note": {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 5}, {"type": "null"}]},
        "state": {"enum": ["new", "sold", 3]},
        "seen": True,
    },
    "required": ["id", "price", "seen"],
    "additionalProperties": False,
}
PAGE = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A page of items",
    "$defs": {"item": ITEM, "many/few": {"type": "integer", "format": "int32"}},
    "type": ["object", "null"],
    "properties": {
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 1},
        "at": {"type": "string", "format": "date-time"},
        "total": {"$ref": "#/$defs/many~1few", "description": "of all pages"},
        "ok": {"const": True},
        "name": {"pattern": "^[a-z]+$"},
        "left": {"type": "integer", "exclusiveMinimum": 0, "nullable": True},
    },
    "required": ["items"],
}


CHOSEN = [
    ({"oneOf": [{"type": "null"}, {"type": "string"}]}, "string or null"),
    ({"allOf": [{"$ref": "#/$defs/a"}], "nullable": True}, "integer or null"),
    ({"$ref": "#/$defs/a", "maximum": 5}, "number ..5 and integer"),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "(string or integer)"),
    ({"not": {"const": 1}}, "not (1)"),
    ({"type": "number", "minimum": 2, "exclusiveMinimum": False}, "number 2.."),
    ({"type": "object", "additionalProperties": {"type": "number"}}, "{...: number}"),
    (
        {"type": "object", "required": ["a"], "additionalProperties": {"type": "number"}},
        "{a: number, ...: number}",
    ),
]


@pytest.mark.parametrize(("schema", "told"), CHOSEN)
def test_choices_are_said_as_simply_as_they_can_be(schema: dict[str, Any], told: str) -> None:
    assert line(shape({**schema, "$defs": {"a": {"type": "integer"}}}, "s.json")) == told


def test_a_schema_is_what_people_read_of_its_shape() -> None:
    assert line(shape(PAGE, "page.json")) == (
        "{items: [{id: uuid, price: number 0..100, note?: string 1..5 or null, "
        'state?: "new" or "sold" or 3, seen: anything}] 1.., at?: time, '
        "total?: integer -2147483648..2147483647, ok?: true, name?: string /^[a-z]+$/, "
        "left?: integer 1.. or null, ...} or null"
    )


BROKEN: list[tuple[Any, str]] = [
    ({"oneOf": {}}, "#: oneOf: no list of schemas: write them in brackets"),
    ({"allOf": []}, "#: allOf: no list of schemas: write them in brackets"),
    ({"items": {"not": {"contains": 1}}}, "#/items/not: contains is not checked in each reply"),
    ({"anyOf": [{}, {"if": {}}]}, "#/anyOf/1: if is not checked in each reply"),
    ({"multipleOf": 5}, "#: multipleOf is not checked in each reply: write type integer"),
    ({"type": [{}]}, "#: type {}: use string, number"),
    ({"format": {}}, "#: format: {}: write a text"),
    ({"properties": {"a/b": {"if": {}}}}, "#/properties/a~1b: if is not checked in each reply"),
    ({"tipe": "string"}, "#: tipe is not checked in each reply: did you mean type?"),
    ({"dependentRequired": {}}, "#: dependentRequired is not checked in each reply: leave it out"),
    ({"type": "strin"}, "#: type strin: did you mean string?"),
    ({"type": []}, "#: type: an empty list: write a type"),
    (
        {"type": "string", "format": "email"},
        "#: format email is not checked in each reply: write a",
    ),
    ({"$ref": "other.json#/a"}, "#: $ref other.json#/a is outside of the file: copy it into $defs"),
    ({"$ref": "#/$defs/gone"}, "#: there is no #/$defs/gone: correct the reference"),
    ({"$ref": 5}, "#: $ref 5 is outside of the file"),
    ({"items": {"$ref": "#"}}, "#/items: $ref # is a part of itself: write the levels"),
    (
        {"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"},
        "#/$defs/a/items: $ref #/$defs/a is a part of itself",
    ),
    ({"minLength": 2}, "#: minLength of what may be a text or a list: write one type beside it"),
    ({"type": ["string", "array"], "maxItems": 2}, "#: maxItems of what may be a text or a list"),
    ({"type": "string", "minLength": 5, "maxLength": 4}, "#: maxLength is less than minLength"),
    ({"type": "string", "minLength": True}, "#: minLength: True: write a whole number from 0"),
    ({"type": "string", "minLength": 1.5}, "#: minLength: 1.5: write a whole number from 0"),
    ({"minimum": 2, "maximum": 1}, "#: maximum is less than minimum: exchange them"),
    ({"minimum": "2"}, "#: minimum: 2: write a number"),
    ({"type": "number", "exclusiveMinimum": 0}, "#: exclusiveMinimum is not checked in each reply"),
    ({"pattern": "(?=a)"}, "#/pattern: (?= is no part of a pattern here: write it without"),
    ({"pattern": "("}, "#/pattern: pattern: missing ), unterminated subpattern"),
    ({"pattern": 5}, "#: pattern: 5: write a text"),
    ({"enum": []}, "#: enum: no list of values"),
    ({"enum": [1], "const": 1}, "#: const beside enum: keep one of them"),
    ({"additionalProperties": {"type": "x"}}, "#/additionalProperties: type x: use string"),
    ({"items": [{}]}, "#: a list of items is not checked in each reply"),
    ({"properties": []}, "#: properties: no object"),
    ({"required": "a"}, "#: required: no list of names"),
    ({"required": [1]}, "#: required: no list of names"),
    (
        {"required": ["a"], "additionalProperties": False},
        "#: a is required, and no property: write it in properties, too",
    ),
    ({"properties": {"a": False}}, "#/properties/a: false: no value is right"),
    ({"items": 5}, "#/items: no schema: write an object, or true"),
    ({"uniqueItems": True}, "#: uniqueItems is not checked in each reply"),
    ({"properties": {str(n): {} for n in range(1025)}}, "#: 1,025 properties: name 1,024 of them"),
]


@pytest.mark.parametrize(("schema", "says"), BROKEN, ids=[says for _, says in BROKEN])
def test_what_is_not_checked_is_refused(schema: object, says: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        shape(schema, "s.json")
    told = f"{refused.value.message}: {refused.value.remedy}"
    assert told.startswith(f"s.json: {says}")
    assert "\n" not in told


def test_what_is_nested_too_deeply_or_too_large_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"items": deep}
    many = {
        f"d{n}": {"properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "ab"}} for n in range(30)
    }
    for schema in (deep, {"$defs": {**many, "d30": {}}, "$ref": "#/$defs/d0"}):
        with pytest.raises(UsageProblem, match="the schema is too large"):
            shape(schema, "s.json")


@pytest.mark.parametrize("word", ["properties", "anyOf", "additionalProperties"])
def test_the_deepest_schema_is_one_that_the_engine_reads(word: str) -> None:
    value: Any = 1
    for _ in range(15):
        value = [value]
    deep: dict[str, Any] = {"const": value}
    found, depth = Shape(), 0
    while True:
        inner = {"a": deep} if word == "properties" else deep
        deep = {word: [inner, {"type": "string"}] if word == "anyOf" else inner}
        try:
            found = shape(deep, "s.json")
        except UsageProblem:
            break
        depth += 1
    assert 20 < depth < 50
    Engine.find().check([_plan(found)])


def _plan(*shapes: Shape, url: str = "http://h") -> Plan:
    """A flow for each shape: the body of `/0` is of the first one."""
    routes = [
        Route(
            name=str(number),
            method="GET",
            target=(Words(text=f"/{number}"),),
            expect=RouteExpect(checks=(Check(of="body", test=IsShape(shape=one)),)),
        )
        for number, one in enumerate(shapes)
    ]
    flows = [Flow(name=one.name, steps=(Step(route=int(one.name)),)) for one in routes]
    return Plan(
        target=Target(url=url),
        traffic=Traffic(routes=tuple(routes), flows=tuple(flows)),
        load=Load(connections=1),
        stop=Stop(sessions=1),
    )


def test_a_route_has_the_check_that_the_file_names(compiled: Compile) -> None:
    scenario = compiled(
        {
            "t.toml": 'check.login.schema = "login.json"\ncheck."GET /x".schema = "any.json"\n'
            '[[flow]]\nfile = "x.hurl"\n',
            "x.hurl": "# @name login\nPOST http://h/\nHTTP 201\n\nGET http://h/x\n",
            "login.json": '{"type": "object", "required": ["token"]}',
            "any.json": "{}",
        }
    )
    login, other = scenario.traffic.routes
    (check,) = login.expect.checks
    assert check.of == "body"
    assert isinstance(check.test, IsShape)
    assert line(check.test.shape) == "{token: anything, ...}"
    assert (other.expect.status, len(other.expect.checks)) == ("success", 1)
    assert scenario.unchecked == ()


def test_a_step_of_a_conversation_has_the_check_that_the_file_names(compiled: Compile) -> None:
    steps = (
        'check.hello.schema = "s.json"\n[[flow]]\nurl = "ws://h/"\n'
        'step = [{await = {contains = "a"}, name = "hello"}, {send = "x", name = "say"}]\n'
    )
    files = {"t.toml": steps, "s.json": '{"type": "object"}'}
    (hello,) = [one for one in compiled(files).traffic.lines if one.name == "hello"]
    assert [check.test.test for check in hello.checks] == ["shape"]
    files["t.toml"] = steps.replace("check.hello", "check.say")
    with pytest.raises(UsageProblem, match=r"t\.toml:1:1: say awaits no message"):
        compiled(files)


# -- The same verdict as jsonschema ---------------------------------------------------------------

_KINDS = {
    "string": lambda value: isinstance(value, str),
    "uuid": lambda value: isinstance(value, str) and bool(re.fullmatch(_UUID, value)),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    ),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def fits(of: Shape, value: Any) -> bool:
    """What the engine says of a value: its tests have the same rules."""
    for choice in of.choices:
        count = sum(fits(one, value) for one in choice.of)
        if not choice.least <= count <= (len(choice.of) if choice.most is None else choice.most):
            return False
    if of.types and not any(_KINDS[kind](value) for kind in of.types):
        return False
    if of.values and not any(_same(value, one) for one in of.values):
        return False
    if of.length and isinstance(value, str | list):
        least, most = of.length
        if not least <= len(value) <= (len(value) if most is None else most):
            return False
    if of.range and _KINDS["number"](value):
        least_number, most_number = of.range
        if least_number is not None and value < least_number:
            return False
        if most_number is not None and value > most_number:
            return False
    if of.pattern and isinstance(value, str) and not re.search(of.pattern, value):
        return False
    if isinstance(value, dict):
        names = {member.name: member for member in of.members}
        if any(member.required and name not in value for name, member in names.items()):
            return False
        others = [one for name, one in value.items() if name not in names]
        if not of.others and others:
            return False
        if isinstance(of.others, Shape) and not all(fits(of.others, one) for one in others):
            return False
        return all(fits(names[name].shape, one) for name, one in value.items() if name in names)
    if isinstance(value, list) and of.items:
        return all(fits(of.items, one) for one in value)
    return True


def _same(one: Any, other: Any) -> bool:
    """Equal, where 1 and 1.0 are, and 1 and true are not."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-4, 4),
    st.floats(-4, 4),
    st.sampled_from(["", "a", "ab", "12", "12345678-1234-1234-1234-1234567890ab"]),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
_BOUNDS = st.tuples(st.integers(0, 2), st.integers(2, 3))


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    texts = st.builds(
        lambda bounds, pattern: {
            "type": "string",
            "minLength": bounds[0],
            "maxLength": bounds[1],
            **pattern,
        },
        _BOUNDS,
        st.sampled_from([{}, {"pattern": "^a"}, {"pattern": "[0-9]"}]),
    )
    numbers = st.builds(
        lambda kind, bounds: {"type": kind, "minimum": -bounds[0], "maximum": bounds[1]},
        st.sampled_from(["number", "integer"]),
        _BOUNDS,
    )
    lists = st.builds(
        lambda items, bounds: {"type": "array", "items": items, "maxItems": bounds[1]},
        inner,
        _BOUNDS,
    )
    objects = st.builds(
        lambda members, required, others: {
            "type": ["object", "null"],
            "properties": members,
            "required": [name for name in required if others is not False or name in members],
            "additionalProperties": others,
        },
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        st.booleans() | inner,
    )
    chosen = st.builds(
        lambda word, of, beside: {word: of, **beside},
        st.sampled_from(["anyOf", "oneOf", "allOf"]),
        st.lists(inner | st.just({"type": "null"}), min_size=1, max_size=3),
        st.sampled_from([{}, {"minimum": 0}, {"not": {"type": "string"}}]),
    )
    return st.one_of(texts, numbers, lists, objects, chosen)


_SCHEMAS = st.recursive(
    st.one_of(
        st.sampled_from([{}, True, {"type": "string", "format": "uuid"}, {"format": "uuid"}]),
        st.sampled_from([{"type": ["boolean", "null"]}, {"type": "integer"}, {"minimum": 1}]),
        st.builds(lambda value: {"const": value}, _VALUES),
        st.builds(lambda values: {"enum": values}, st.lists(_VALUES, min_size=1, max_size=3)),
        st.builds(lambda at: {"type": "integer", "exclusiveMaximum": at}, st.integers(-3, 3)),
    ),
    _schemas,
    max_leaves=6,
)


def _is_valid(schema: Any, value: Any) -> bool:
    known = jsonschema.Draft202012Validator
    return known(schema, format_checker=known.FORMAT_CHECKER).is_valid(value)


@settings(max_examples=400, deadline=None)
@given(schema=_SCHEMAS, values=st.lists(_VALUES, min_size=1, max_size=6))
def test_a_shape_has_the_verdict_of_its_schema(schema: Any, values: list[Any]) -> None:
    of = shape(schema, "s.json")
    for value in values:
        assert fits(of, value) == _is_valid(schema, value), value


class _Bodies(BaseHTTPRequestHandler):
    """Answers `/5` with the fifth of the server's bodies."""

    protocol_version = "HTTP/1.1"
    bodies: ClassVar[list[bytes]] = []

    def do_GET(self) -> None:
        body = self.bodies[int(self.path[1:])]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def test_the_engine_has_the_verdict_of_the_schema() -> None:
    cases: list[tuple[Any, Any]] = []

    @settings(
        max_examples=300, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
    )
    @given(schema=_SCHEMAS, value=_VALUES)
    def draw(schema: Any, value: Any) -> None:
        cases.append((schema, value))

    draw()
    _Bodies.bodies = [json.dumps(value).encode() for _, value in cases]
    with ThreadingHTTPServer(("127.0.0.1", 0), _Bodies) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        shapes = [shape(schema, "s.json") for schema, _ in cases]
        plan = _plan(*shapes, url=f"http://127.0.0.1:{server.server_port}")
        exchanges = Engine.find().ask(plan)
        server.shutdown()
    found = {int(one.url.rpartition("/")[2]): one for one in exchanges}
    verdicts = [_is_valid(schema, value) for schema, value in cases]
    assert 30 < sum(verdicts) < len(cases) - 30
    for number, (case, verdict) in enumerate(zip(cases, verdicts, strict=True)):
        assert (found[number].outcome == "ok") == verdict, (case, found[number].fault)
        # Each fault is found again by the search for its place.
        assert "is not of the shape" not in (found[number].fault or ""), case
