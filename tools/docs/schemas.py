"""The pages of plan, snapshot, exchange and observation: the engine's JSON Schema as tables.

Knows the forms that the engine's schemas have; must not know what a member is for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

Schema = Mapping[str, Any]

WORDS = {
    "plan": "One load as the engine takes it: `wiretrial-engine run < plan.json`.",
    "snapshot": "Each line that a run of the engine prints is one of these objects.",
    "exchange": "Each line that `wiretrial-engine ask < plan.json` prints is one of these objects.",
    "observation": "Each line that `wiretrial-engine observe` prints is one of these objects.",
}


def page(name: str, text: str) -> str:
    """The page of `name`, from the schema's text."""
    whole = json.loads(text)
    made = f"Tables first, then the JSON Schema that `wiretrial-engine schema {name}` prints."
    parts = [f"# {name.capitalize()}", f"{WORDS[name]} See [the engine](engine.md). {made}"]
    parts += _type(whole)
    for title, schema in sorted(whole["$defs"].items()):
        parts += [f"## {_title(title)}", *_type(schema)]
    parts += ["## JSON Schema", f"```json\n{text.strip()}\n```"]
    return "\n\n".join(parts) + "\n"


def _type(schema: Schema) -> Iterator[str]:
    if schema.get("description"):
        yield _line(schema["description"])
    for choices in (schema[word] for word in ("oneOf", "anyOf") if word in schema):
        yield _table("one of", "members beside it", map(_variant, choices))
    if schema.get("properties"):
        yield _table("member", "type", _members(schema))


def _members(schema: Schema) -> Iterator[tuple[str, str, str]]:
    required = schema.get("required", ())
    for name, member in _properties(schema).items():
        words = _line(member.get("description", ""))
        if name in required:
            words += " Required."
        elif "default" in member:
            words += f" Default: `{json.dumps(member['default'])}`."
        yield f"`{name}`", _kind(member), words


def _variant(schema: Schema) -> tuple[str, str, str]:
    words = _line(schema.get("description", ""))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`", "", words
    members = _properties(schema) if "properties" in schema else {}
    tags = [name for name, member in members.items() if "const" in member]
    shown = ", ".join(f"`{name}: {json.dumps(members[name]['const'])}`" for name in tags)
    others = [
        f"`{name}` ({_kind(member)}): {_line(member.get('description', ''))}"
        for name, member in members.items()
        if name not in tags
    ]
    if "$ref" in schema:
        others.append(f"those of {_kind({'$ref': schema['$ref']})}")
    return shown, "<br>".join(others), words


def _properties(schema: Schema) -> dict[str, Schema]:
    """The members; one that may be anything has `true` in the place of a schema."""
    members = schema["properties"].items()
    return {name: {} if member is True else member for name, member in members}


def _kind(schema: Schema | Literal[True]) -> str:
    """The type of a member in a few words."""
    if schema is True:
        return "anything"
    if "$ref" in schema:
        title = _title(schema["$ref"].rpartition("/")[2])
        return f"[{title}](#{title.lower()})"
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    kind = schema.get("type", "anything")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array" and "items" in schema:
        return f"array of {_kind(schema['items'])}"
    return str(kind)


def _table(first: str, second: str, rows: Iterator[tuple[str, str, str]]) -> str:
    lines = [f"| {first} | {second} | meaning |", "|---|---|---|"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _title(name: str) -> str:
    return name.removesuffix("Document")


def _line(text: str) -> str:
    return " ".join(text.split())
