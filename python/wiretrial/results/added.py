"""Figures of several intervals, or of several machines at one time, added up field by field.

Pure. Counts are added, histograms added exactly. What stands at an instant is added over machines,
and of intervals the last one's counts. Knows no type by name, so that a new count is added, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from wiretrial.results import hdr

Figures = TypeVar("Figures", bound=BaseModel)

STANDING = frozenset({"in_flight", "waiting", "open", "blocked"})
"""What is so at an instant, and no count."""


def together(parts: Sequence[Figures]) -> Figures:
    """Of several machines at one time."""
    return _added(parts, is_in_turn=False)


def in_turn(parts: Sequence[Figures]) -> Figures:
    """Of several intervals of one machine, one after the other."""
    return _added(parts, is_in_turn=True)


def known(
    parts: Iterable[Figures | None], add: Callable[[Sequence[Figures]], Figures]
) -> Figures | None:
    """Those that there are, added; None where there is none."""
    told = [part for part in parts if part is not None]
    return add(told) if told else None


def _added(parts: Sequence[Figures], *, is_in_turn: bool) -> Figures:
    made = {
        name: _field(name, [getattr(part, name) for part in parts], is_in_turn=is_in_turn)
        for name in type(parts[0]).model_fields
    }
    return parts[0].model_copy(update=made)


def _field(name: str, values: Sequence[Any], *, is_in_turn: bool) -> Any:
    told = [value for value in values if value is not None]
    if not told:
        return None
    if is_in_turn and name in STANDING:
        return told[-1]
    first = told[0]
    if isinstance(first, BaseModel):
        return _added(told, is_in_turn=is_in_turn)
    if isinstance(first, tuple):
        columns = zip(*told, strict=True)
        return tuple(_added(column, is_in_turn=is_in_turn) for column in columns)
    if isinstance(first, dict):
        return _table(name, told)
    is_number = isinstance(first, int | float) and not isinstance(first, bool)
    return sum(told) if is_number else first


def _table(name: str, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Histograms added, of examples the first, else counts added, by their keys."""
    if name == "histograms":
        return hdr.merge_named(values)
    if name == "examples":
        return {key: text for value in reversed(values) for key, text in value.items()}
    total: Counter[str] = Counter()
    for value in values:
        total.update(value)
    return dict(total)
