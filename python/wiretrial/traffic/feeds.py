"""Feeds: the rows of CSV and JSON-lines files.

Knows both formats; must not know who uses a row.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from wiretrial.plan_traffic import Feed
from wiretrial.traffic.document import FeedPart
from wiretrial.traffic.places import Place, TrafficProblem, read, standing_at

_JSON_LINES = (".jsonl", ".ndjson")


def read_feed(part: FeedPart, path: Path, name: str, place: Place) -> Feed:
    """The feed in `path`; `place` is where the TOML file names it."""
    with standing_at(place):
        source = read(path, "name a .csv or .jsonl file beside the TOML file")
    if path.suffix == ".csv":
        columns, rows = _csv(source, path)
    elif path.suffix in _JSON_LINES:
        columns, rows = _json_lines(source, path)
    else:
        raise TrafficProblem(
            place, f"{path.name} is neither .csv nor .jsonl", "name the file by its format"
        )
    if not rows:
        raise TrafficProblem(Place(path), "no rows of data", "write a row for each session")
    return Feed(name=name, columns=columns, rows=rows, order=part.order)


_Table = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


def _csv(source: str, path: Path) -> _Table:
    reader = csv.reader(io.StringIO(source, newline=""), strict=True)
    rows: list[tuple[str, ...]] = []
    columns: tuple[str, ...] | None = None
    try:
        for row in reader:
            if not row:
                continue
            if columns is None:
                columns = tuple(column.strip() for column in row)
                _require_names(columns, path)
                continue
            if len(row) != len(columns):
                raise TrafficProblem(
                    Place(path, reader.line_num),
                    f"{len(row)} values for {len(columns)} columns",
                    "write one value for each column; put values with commas in quotation marks",
                )
            rows.append(tuple(row))
    except csv.Error as error:
        raise TrafficProblem(
            Place(path, max(reader.line_num, 1)), f"not CSV: {error}", "correct the row"
        ) from error
    if columns is None:
        raise TrafficProblem(Place(path), "an empty file", "write the names of columns first")
    return columns, tuple(rows)


def _require_names(columns: tuple[str, ...], path: Path) -> None:
    for number, column in enumerate(columns, start=1):
        if not column:
            raise TrafficProblem(
                Place(path), f"column {number} has no name", "write names in the first row"
            )
        if columns.count(column) > 1:
            raise TrafficProblem(Place(path), f"two columns {column}", "rename one of them")


def _json_lines(source: str, path: Path) -> _Table:
    columns: tuple[str, ...] | None = None
    rows: list[tuple[str, ...]] = []
    for number, line in enumerate(source.splitlines(), start=1):
        if not line.strip():
            continue
        row = _json_object(line, Place(path, number))
        columns = columns or tuple(row)
        if set(row) != set(columns):
            odd = sorted(set(row) ^ set(columns))[0]
            raise TrafficProblem(
                Place(path, number),
                f"{odd} is not in every row",
                "write the same members in each line",
            )
        rows.append(tuple(row[column] for column in columns))
    return columns or (), tuple(rows)


def _json_object(line: str, place: Place) -> dict[str, str]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise TrafficProblem(place, f"not JSON: {error}", "write an object in each line") from error
    if not isinstance(row, dict):
        raise TrafficProblem(place, "not an object", 'write lines such as {"user": "ann"}')
    return {
        str(key): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in row.items()
    }
