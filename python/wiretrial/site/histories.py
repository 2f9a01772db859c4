"""One scenario over time: every figure that is followed, its address, and its data to download.

Knows lines that were judged; must not know where results are kept, or which page shows what.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from wiretrial.report.trend import forms, words
from wiretrial.report.trend.found import Judged, Step
from wiretrial.report.trend.points import Point
from wiretrial.site import measured
from wiretrial.site.entries import Download

LEAST_POINTS = 2
"""Of a line that is shown: one result is no history."""
POINTS = "a row per result and figure, with the machine and the load: CSV"
FOUND = "the same with levels, changes and marks: JSON"
_COLUMNS = (
    *("study", "scenario", "figure", "unit", "result", "at", "revision", "value", "low", "high"),
    *("trials", "bound", "reference", "boot", "imported_from", "terms"),
)


@dataclass(frozen=True)
class History:
    """A scenario of one study over its results. `lines`: the figure that it is ranked by first."""

    study: str
    scenario: str
    lines: tuple[Judged, ...]

    @property
    def name(self) -> str:
        """Its address: it follows from both names alone."""
        return measured.anchor(f"{self.study} {self.scenario}")

    @property
    def first(self) -> Judged:
        """The line that stands for it where there is room for one."""
        return self.lines[0]

    @property
    def results(self) -> tuple[Point, ...]:
        """Each result once, oldest first: a line of fewer may lack some of them."""
        most = max(self.lines, key=lambda one: len(one.line.points))
        return most.line.points

    @property
    def is_worse(self) -> bool:
        """Whether a figure became worse at some time."""
        return any(one.is_worse for one in self.lines)

    @property
    def found(self) -> str:
        """What became of the first figure, in a few words."""
        changes = [words.change_in_short(step) for step in self.first.changes]
        return "; ".join(changes) or words.verdict(self.first)

    @property
    def outcome(self) -> str:
        """One or two words to choose by."""
        kinds = {step.kind for step in self.first.changes}
        if kinds:
            return "worse" if "worse" in kinds else "better"
        return "not tested" if self.first.resolution is None else "no change"

    @cached_property
    def downloads(self) -> tuple[Download, ...]:
        """Its points, and what was found in them."""
        document = json.dumps(forms.document(self.lines, ()), ensure_ascii=False, indent=1)
        return (
            Download("points.csv", POINTS, _csv(self.lines).encode()),
            Download("trend.json", FOUND, f"{document}\n".encode()),
        )

    def marks(self) -> Mapping[tuple[str, str], tuple[tuple[str, Step], ...]]:
        """By result and time: each step that begins there, with the figure that it is of."""
        found: dict[tuple[str, str], tuple[tuple[str, Step], ...]] = {}
        for one in self.lines:
            for step in one.steps:
                key = (step.after.result, step.after.at)
                found[key] = (*found.get(key, ()), (one.line.title, step))
        return found


def of(judged: Iterable[Judged]) -> tuple[History, ...]:
    """A history of each scenario with two results or more; those that became worse come first."""
    made: dict[tuple[str, str], dict[str, Judged]] = {}
    for one in judged:
        if len(one.line.points) >= LEAST_POINTS:
            own = made.setdefault((one.line.study, one.line.scenario), {})
            own.setdefault(one.line.figure, one)
    found = [History(*key, tuple(own.values())) for key, own in made.items()]
    return tuple(sorted(found, key=lambda one: (not one.is_worse, one.study, one.scenario)))


def _csv(lines: Iterable[Judged]) -> str:
    told = io.StringIO()
    writer = csv.writer(told, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in lines:
        line = one.line
        unit = forms.unit(line)
        for point in line.points:
            values = (point.value, point.low, point.high)
            terms = json.dumps(point.terms, ensure_ascii=False, sort_keys=True)
            writer.writerow(
                (
                    *(line.study, line.scenario, line.figure, unit, point.result, point.at),
                    *(point.revision, *values, point.trials, point.bound, point.reference),
                    *(point.boot, point.imported, terms if point.terms else ""),
                )
            )
    return told.getvalue()
