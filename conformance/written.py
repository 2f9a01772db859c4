"""What suites of two sides and several ways wrote down: one file, and what differs from it.

Pure but for reading and writing that file; must not know a suite, nor which verdicts are good.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

Side = TypeVar("Side", bound=str)
Way = TypeVar("Way", bound=str)
Verdicts = Mapping[str, str]
"""By case."""
Order = Callable[[str], Any]
"""What cases are sorted by."""


def read(
    path: Path, sides: Iterable[Side], ways: Iterable[Way]
) -> dict[Side, dict[Way, dict[str, str]]]:
    """What is written down; nothing where nothing is."""
    every = tuple(ways)
    if not path.is_file():
        return {side: {way: {} for way in every} for side in sides}
    document = json.loads(path.read_text(encoding="utf-8"))
    return {side: {way: dict(document[side][way]) for way in every} for side in sides}


def write(
    path: Path,
    version: str,
    found: Mapping[Side, Mapping[Way, Verdicts]],
    part_of: Callable[[str], str],
    order: Order = str,
) -> None:
    """Writes down what is right from now on: a line for each part of a suite."""
    sides = []
    for side, ways in found.items():
        told = ",\n".join(_way(way, results, part_of, order) for way, results in ways.items())
        sides.append(f'  "{side}": {{\n{told}\n  }}')
    text = f'{{\n  "suite": "{version}",\n' + ",\n".join(sides) + "\n}\n"
    path.write_text(text, encoding="utf-8")


def problems(
    expected: Verdicts,
    found: Verdicts,
    may_be: Callable[[str, str], bool],
    order: Order = str,
) -> list[str]:
    """What is not as it must be, a line each: not good, or not as written down.

    `may_be`: whether a case may have this verdict.
    """
    lines = []
    for case in sorted(expected.keys() | found.keys(), key=order):
        told, written = found.get(case), expected.get(case)
        if told is None:
            lines.append(f"{case}: did not run")
        elif not may_be(case, told):
            lines.append(f"{case}: {told}")
        elif told != written:
            before = f"expected {written}" if written else "a case not written down"
            lines.append(f"{case}: {told}, {before}")
    return lines


def _way(way: str, results: Verdicts, part_of: Callable[[str], str], order: Order) -> str:
    parts: dict[str, list[str]] = {}
    for case in sorted(results, key=order):
        entry = f"{json.dumps(case)}: {json.dumps(results[case])}"
        parts.setdefault(part_of(case), []).append(entry)
    rows = ",\n      ".join(", ".join(entries) for entries in parts.values())
    return f'    "{way}": {{\n      {rows}\n    }}'
