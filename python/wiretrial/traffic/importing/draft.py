"""Traffic that was imported, and its files.

Knows how files are named and laid out; must not know what they were made of.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from wiretrial.errors import UsageProblem
from wiretrial.traffic import routes
from wiretrial.traffic.hurl.syntax import Entry
from wiretrial.traffic.hurl.writing import write

TRAFFIC_FILE = "traffic.toml"
_MOST_NAME = 60


@dataclass(frozen=True)
class Rows:
    """Data for a flow's sessions."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class DraftFlow:
    """A flow, its entries in one `.hurl` file."""

    name: str
    entries: tuple[Entry, ...]
    weight: int = 1
    comment: str = ""
    rows: Rows | None = None
    schema: Mapping[str, JsonValue] | None = None
    """Of the replies to its first entry."""


@dataclass(frozen=True)
class Draft:
    """All that was made of a file; `notes` say what was left out, and what to look at."""

    base: str
    flows: tuple[DraftFlow, ...]
    notes: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of every request."""
    arrivals: str | None = None


def save(draft: Draft, folder: Path, made_of: str) -> list[Path]:
    """Writes the files, the TOML file first; none where one of them is there already."""
    files = {TRAFFIC_FILE: ""}
    stems: dict[str, str] = {}
    for flow in draft.flows:
        stem = stems[flow.name] = _free(_slug(flow.name), files)
        files[f"{stem}.hurl"] = write(flow.entries, flow.comment)
        if flow.rows:
            files[f"{stem}.csv"] = _csv(flow.rows)
        if flow.schema is not None:
            files[_schema_file(stem)] = f"{json.dumps(flow.schema, ensure_ascii=False, indent=2)}\n"
    files[TRAFFIC_FILE] = "\n".join(_toml(draft, stems, made_of)) + "\n"
    for name in files:
        if (folder / name).exists():
            raise UsageProblem(f"{folder / name} is there already", "name another folder (-o)")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_text(content, encoding="utf-8", newline="")
    except OSError as error:
        raise UsageProblem(f"{folder}: {error.strerror}", "name another folder (-o)") from error
    return [folder / name for name in files]


def _toml(draft: Draft, stems: Mapping[str, str], made_of: str) -> Iterator[str]:
    yield f"# Made of {made_of} by wiretrial."
    yield from (f"# - {_line(note)}" for note in draft.notes)
    yield f"base = {_text(draft.base)}"
    for title, table in (("variables", draft.variables), ("headers", draft.headers)):
        if table:
            yield f"\n[{title}]"
            yield from (f"{_key(name)} = {_text(value)}" for name, value in table.items())
    if any(flow.schema is not None for flow in draft.flows):
        yield "\n[check]"
    for flow, route in zip(draft.flows, _first_routes(draft), strict=True):
        if flow.schema is not None:
            yield f"{_key(route)}.schema = {_text(_schema_file(stems[flow.name]))}"
    for flow in draft.flows:
        stem = stems[flow.name]
        yield "\n[[flow]]"
        yield f"file = {_text(stem + '.hurl')}"
        if flow.name != stem:
            yield f"name = {_text(flow.name)}"
        if flow.weight != 1:
            yield f"weight = {flow.weight}"
        if flow.rows:
            yield f"feed = {_text(stem + '.csv')}"
    if draft.arrivals:
        yield f"\n[load]\narrivals = {_text(draft.arrivals)}"


def _first_routes(draft: Draft) -> Iterator[str]:
    """By what the first entry of each flow will be counted."""
    counts: Counter[str] = Counter()
    for flow in draft.flows:
        for number, entry in enumerate(flow.entries):
            name = routes.name_of(entry)
            counts[name] += 1
            if number == 0:
                yield name if counts[name] == 1 else f"{name} ({counts[name]})"


def _schema_file(stem: str) -> str:
    return f"{stem}.schema.json"


def _csv(rows: Rows) -> str:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n").writerows((rows.columns, *rows.rows))
    return written.getvalue()


def _slug(name: str) -> str:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    slug = re.sub(r"[^a-z0-9]+", "-", apart.lower()).strip("-")[:_MOST_NAME].strip("-")
    return slug or "flow"


def _free(stem: str, taken: Mapping[str, str]) -> str:
    found, number = stem, 1
    while f"{found}.hurl" in taken:
        number += 1
        found = f"{stem}-{number}"
    return found


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: str) -> str:
    # TOML's basic strings are JSON's, but for one control character more.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
