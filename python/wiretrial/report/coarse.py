"""A trial with fewer intervals: neighbours that count alike in one.

Knows which intervals may be joined, and how each of their fields adds up; must not know where the
trial goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

from pydantic import BaseModel

from wiretrial.results import hdr
from wiretrial.results.model import Trial
from wiretrial.snapshot import Interval

Part = TypeVar("Part", bound=BaseModel)

GAUGES = frozenset({"in_flight", "waiting", "open"})
"""What is so at an interval's end, and no sum."""


def of(trial: Trial, most: int) -> Trial:
    """The trial with at most so many intervals before its window, in it and after it.

    A search stays as it is: whether its line of waiting messages grows is read from all intervals.
    """
    if trial.scenario.search is not None:
        return trial
    window = trial.window

    def counts(interval: Interval) -> tuple[object, ...]:
        inside = interval.start_ns >= window.start_ns and interval.end_ns <= window.end_ns
        return inside, interval.start_ns >= window.end_ns, interval.disturbed, interval.phase

    runs = [list(run) for _, run in groupby(trial.intervals, key=counts)]
    joined = [_joined(part) for run in runs for part in _parts(run, most)]
    numbered = (one.model_copy(update={"index": at}) for at, one in enumerate(joined))
    return trial.model_copy(update={"intervals": tuple(numbered)})


def _parts(run: list[Interval], most: int) -> Iterator[list[Interval]]:
    """The run in at most so many parts of about one length."""
    size = -(-len(run) // most)
    return (run[at : at + size] for at in range(0, len(run), size))


def _joined(parts: Sequence[Interval]) -> Interval:
    if len(parts) == 1:
        return parts[0]
    lengths = [part.end_ns - part.start_ns for part in parts]
    busy = sum(
        part.generator.loop_utilisation * length
        for part, length in zip(parts, lengths, strict=True)
    )
    found = _sum(parts)
    generator = found.generator.model_copy(
        update={
            "loop_utilisation": busy / sum(lengths),
            "peak_rss_bytes": max(part.generator.peak_rss_bytes for part in parts),
        }
    )
    first, last = parts[0], parts[-1]
    span = {"index": first.index, "start_ns": first.start_ns, "end_ns": last.end_ns}
    return found.model_copy(update={**span, "generator": generator})


def _sum(parts: Sequence[Part]) -> Part:
    """Field by field."""
    first = parts[0]
    added = {
        name: _added(name, [getattr(part, name) for part in parts])
        for name in type(first).model_fields
    }
    return first.model_copy(update=added)


def _added(name: str, values: Sequence[Any]) -> Any:
    """What one field comes to."""
    known = [value for value in values if value is not None]
    if not known or name in GAUGES:
        return values[-1]
    first = known[0]
    if isinstance(first, BaseModel):
        return _sum(known)
    if isinstance(first, tuple):
        return tuple(_sum(column) for column in zip(*known, strict=True))
    if isinstance(first, dict):
        return _by_key(known, _histogram if name == "histograms" else sum)
    is_count = isinstance(first, int) and not isinstance(first, bool)
    return sum(known) if is_count else first


def _by_key(
    values: Sequence[dict[str, Any]], added: Callable[[Sequence[Any]], Any]
) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for value in values:
        for key, one in value.items():
            found.setdefault(key, []).append(one)
    return {key: added(ones) for key, ones in found.items()}


def _histogram(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else hdr.merge(texts).text
