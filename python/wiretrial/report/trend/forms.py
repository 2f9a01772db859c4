"""Trends as text, Markdown and JSON.

Knows how they are laid out; must not know how changes are found.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from wiretrial.report import cells, units
from wiretrial.report.trend import words
from wiretrial.report.trend.found import Judged, Step
from wiretrial.report.trend.points import Line, Point
from wiretrial.stats.change import ALPHA

SCHEMA = "wiretrial-trend"
MARKS = {"worse": "❌", "better": "✅"}
NARROWEST = 60


def text(found: Sequence[Judged], problems: Sequence[str], width: int) -> str:
    """For a terminal: lines with changes for the worse first."""
    parts = ["\n".join(_lines(one, max(width, NARROWEST))) for one in ordered(found)]
    ends = [line for told in (words.RATE, *problems) for line in _wrapped(told, width, "", "  ")]
    return "\n\n".join([*parts, "\n".join(ends)])


def markdown(found: Sequence[Judged], problems: Sequence[str]) -> str:
    """A table of all lines, and a sentence for each change."""
    rows: list[tuple[str, ...]] = []
    said: list[str] = []
    for one in ordered(found):
        line = one.line
        changes = [
            cells.text(f"{MARKS[step.kind]} {words.change_in_short(step)}") for step in one.changes
        ]
        what = "<br>".join(changes) or cells.text(words.verdict(one))
        name = cells.name(line.scenario)
        if any(o.line.scenario == line.scenario and o.line.study != line.study for o in found):
            name += f" ({cells.text(line.study)})"
        rows.append((name, cells.text(line.title), str(len(line.points)), what))
        told = [*(words.sentence(line, step) for step in one.steps), *one.notes]
        said += [f"- {name}: {cells.text(sentence)}." for sentence in told]
    table = cells.table(("scenario", "figure", "results", "found"), rows, figures=(2,))
    return "\n".join([*table, "", *said, "", words.RATE, *map(cells.text, problems)]) + "\n"


def document(found: Sequence[Judged], problems: Sequence[str]) -> dict[str, Any]:
    """For programs."""
    return {
        "schema": SCHEMA,
        "version": 1,
        "false_alarms": ALPHA,
        "lines": [_document(one) for one in found],
        "problems": list(problems),
    }


def ordered(found: Sequence[Judged]) -> list[Judged]:
    """Those that became worse first, the rest as they come."""
    return sorted(found, key=lambda one: not one.is_worse)


def unit(line: Line) -> str:
    """The unit of the values as programs have them."""
    return "ns" if units.MICROSECONDS in line.units else line.units[0].name


def _lines(one: Judged, width: int) -> Iterator[str]:
    yield from _wrapped(words.head(one.line), width, "", "  ")
    for step in one.steps:
        yield from _wrapped(words.sentence(one.line, step), width, "  ", "    ")
        if step.kind in ("worse", "better"):
            between = f"between {step.before.result} and {step.after.result}"
            yield from _wrapped(between, width, "    ", "    ")
    told = [words.verdict(one), *one.notes]
    for sentence in filter(None, told):
        yield from _wrapped(sentence, width, "  ", "    ")


def _wrapped(sentence: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        sentence,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _document(one: Judged) -> dict[str, Any]:
    line = one.line
    return {
        "study": line.study,
        "scenario": line.scenario,
        "figure": line.figure,
        "unit": unit(line),
        "higher_is_better": line.higher_is_better,
        "tested": one.tested,
        "resolution": one.resolution,
        "points": [_point(point) for point in line.points],
        "steps": [_step(step) for step in one.steps],
        "notes": list(one.notes),
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "result": point.result,
        "at": point.at,
        "revision": point.revision,
        "value": point.value,
        "low": point.low,
        "high": point.high,
        "trials": point.trials,
        "bound": point.bound,
        "reference": point.reference,
        "boot": point.boot,
        "imported_from": point.imported,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "before": {"result": step.before.result, "revision": step.before.revision},
        "after": {
            "result": step.after.result,
            "revision": step.after.revision,
            "at": step.after.at,
        },
        "levels": list(step.values),
        "ratio": step.ratio,
        "low": step.low,
        "high": step.high,
        "p": step.p,
        "results": list(step.results),
        "reference": step.reference,
        "net": step.net,
        "differs": list(step.differs),
    }
