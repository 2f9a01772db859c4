"""Both sides of the seam say the same: the schemas of the engine, made from its types, and ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

import jsonschema
import pytest
from pydantic import TypeAdapter

from tests.lab.seam_plans import PLANS
from wiretrial.engine import Engine
from wiretrial.exchange import TOLD
from wiretrial.observation import OBSERVATION
from wiretrial.plan import Plan
from wiretrial.snapshot import SNAPSHOT

Schema = dict[str, Any]

NAMED_ELSEWHERE = {"schema", "version"}
"""The engine checks these two by value when it reads a plan; our models have them as constants."""


def _shape(
    node: Schema | Literal[True], defs: Schema, above: Mapping[str, int] | None = None, at: int = 0
) -> Any:
    """What a schema admits, without words, formats and the ways of writing the same thing.

    `at`: how many arrays and objects this node stands in. `above`: the definitions that it is a
    part of, with the same of them; one that stands in itself is named by how far above it begins.
    """
    above = above or {}
    if node is True or not node.keys() - {"title", "description"}:
        return "anything"
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[1]
        if name in above:
            return ("again", at - above[name])
        target = defs[name]
        beside = {key: value for key, value in node.items() if key == "properties"}
        whole = (
            {**target, "properties": {**target.get("properties", {}), **beside["properties"]}}
            if beside
            else target
        )
        return _shape(whole, defs, {**above, name: at}, at)
    if "allOf" in node:
        (only,) = node["allOf"]
        return _shape(only, defs, above, at)
    choices = node.get("oneOf") or node.get("anyOf")
    if choices:
        return _union([_shape(choice, defs, above, at) for choice in choices])
    if "const" in node:
        return ("one of", frozenset({node["const"]}))
    if "enum" in node:
        return ("one of", frozenset(node["enum"]))
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return _union([_of_kind(kind, node, defs, above, at) for kind in kinds])


def _of_kind(kind: str, node: Schema, defs: Schema, above: Mapping[str, int], at: int) -> Any:
    if kind == "array":
        parts = node.get("prefixItems")
        if parts:
            return ("tuple", tuple(_shape(part, defs, above, at + 1) for part in parts))
        return ("array", _shape(node["items"], defs, above, at + 1))
    if kind != "object":
        return kind
    if "properties" not in node:
        return ("map", _shape(node["additionalProperties"], defs, above, at + 1))
    members = {
        name: _shape(member, defs, above, at + 1)
        for name, member in node["properties"].items()
        if name not in NAMED_ELSEWHERE
    }
    return ("object", frozenset(members.items()))


def _union(shapes: list[Any]) -> Any:
    constants: set[Any] = set()
    others: set[Any] = set()
    for shape in shapes:
        if isinstance(shape, tuple) and shape[0] == "one of":
            constants |= shape[1]
        else:
            others.add(shape)
    if "number" in others:
        others.discard("integer")
    if constants:
        others.add(("one of", frozenset(constants)))
    return next(iter(others)) if len(others) == 1 else ("any of", frozenset(others))


def _engine(engine: Engine, document: str) -> Schema:
    found = json.loads(engine.schema(document))
    assert isinstance(found, dict)
    return found


def _explain(shape: Any, indent: int = 0) -> str:
    """A shape as lines in a stable order, so that a failing comparison shows a readable diff."""
    pad = "  " * indent
    if not isinstance(shape, tuple):
        return f"{pad}{shape}\n"
    kind, content = shape
    if kind == "again":
        return f"{pad}again, {content} above\n"
    if kind == "object":
        lines = [
            f"{pad}  {name}:\n{_explain(member, indent + 2)}" for name, member in sorted(content)
        ]
        return f"{pad}object\n{''.join(lines)}"
    if kind == "any of":
        return f"{pad}any of\n{''.join(sorted(_explain(one, indent + 1) for one in content))}"
    if kind == "one of":
        return f"{pad}one of {sorted(content)}\n"
    if kind == "tuple":
        return f"{pad}tuple\n{''.join(_explain(one, indent + 1) for one in content)}"
    return f"{pad}{kind}\n{_explain(content, indent + 1)}"


@pytest.mark.parametrize(
    ("document", "ours"),
    [
        ("plan", Plan.model_json_schema(by_alias=True)),
        ("snapshot", SNAPSHOT.json_schema(by_alias=True)),
        ("exchange", TOLD.json_schema(by_alias=True)),
        ("observation", OBSERVATION.json_schema(by_alias=True)),
    ],
    ids=["plan", "snapshot", "exchange", "observation"],
)
def test_the_models_have_the_engine_s_fields(engine: Engine, document: str, ours: Schema) -> None:
    theirs = _engine(engine, document)
    assert _explain(_shape(ours, ours["$defs"])) == _explain(_shape(theirs, theirs["$defs"]))


def _defaults(node: Schema | Literal[True], defs: Schema, path: str = "") -> dict[str, Any]:
    """Every default of a plain value, by its place."""
    if node is True:
        return {}
    if "$ref" in node:
        return _defaults(defs[node["$ref"].rsplit("/", 1)[1]], defs, path)
    found: dict[str, Any] = {}
    for choice in node.get("oneOf", []):
        tag = next((m["const"] for m in choice.get("properties", {}).values() if "const" in m), "")
        found |= _defaults(choice, defs, f"{path}<{tag}>") if "$ref" not in choice else {}
    for name, member in node.get("properties", {}).items():
        if "default" in member and not isinstance(member["default"], dict):
            found[f"{path}.{name}"] = member["default"]
        found |= _defaults(member, defs, f"{path}.{name}")
    return found


def test_the_plan_s_defaults_are_the_engine_s(engine: Engine) -> None:
    theirs = _engine(engine, "plan")
    ours = Plan.model_json_schema(by_alias=True)
    wanted = _defaults(theirs, theirs["$defs"])
    mine = _defaults(ours, ours["$defs"])
    common = set(wanted) & set(mine)
    assert {".phases.connect_ns", ".load.depth", ".target.tls.resumption"} <= common
    assert {name: mine[name] for name in common} == {name: wanted[name] for name in common}


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: str(plan.target.message.source.source))
def test_every_plan_is_valid_for_the_engine(engine: Engine, plan: Plan) -> None:
    document = json.loads(plan.to_json())
    jsonschema.validate(document, _engine(engine, "plan"))
    assert TypeAdapter(Plan).validate_python(document) == plan


def test_the_schema_refuses_what_it_does_not_know(engine: Engine) -> None:
    document = json.loads(PLANS[0].to_json())
    document["load"]["virtual_users"] = 5
    with pytest.raises(jsonschema.ValidationError, match="virtual_users"):
        jsonschema.validate(document, _engine(engine, "plan"))
