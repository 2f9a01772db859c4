"""Decides whether stated bounds are kept, and writes the decision.

Knows results and exit codes; must not know how a figure is estimated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

from wiretrial import quantities
from wiretrial.cli import output
from wiretrial.cli import past as places
from wiretrial.cli.forms import GateForm
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_INVALID, UsageProblem
from wiretrial.report import cells
from wiretrial.report import gate as gates
from wiretrial.report.gate import Row, Threshold
from wiretrial.report.trend import found, held, points
from wiretrial.report.trend.briefs import SHORT
from wiretrial.results import absent, history, imported
from wiretrial.results.brief import Brief
from wiretrial.results.history import Result
from wiretrial.results.model import Scenario
from wiretrial.results.store import ResultsFolder, read_all
from wiretrial.stats.gate import Decision, Unit
from wiretrial.studies import asked, spec

SUITE = "wiretrial gate"
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Against:
    """What a bound such as `0.95x` is relative to: another result, or a scenario of the same."""

    baseline: Path | None
    scenario: str | None


@dataclass(frozen=True)
class Over:
    """How many of the last results may not have become worse, and in which figure."""

    last: str
    metric: str | None = None
    results: str | None = None
    """Where they are, as it was typed; None: beside the result."""


def gate(
    result: Path,
    thresholds: Sequence[str],
    relative: Against,
    form: GateForm,
    junit: Path | None,
    trend: Over | None = None,
) -> int:
    """Judges each bound; the exit code tells whether all are kept."""
    if junit:
        output.require_writable(junit)
    bounds = [gates.parse(text) for text in thresholds]
    if relative.baseline and relative.scenario:
        raise UsageProblem("--baseline and --against exclude each other", "keep one")
    rows: list[Row] = []
    if bounds or trend is None:
        rows += _decided(result, relative.baseline, bounds, relative.scenario)
    if trend:
        rows += _followed(result, trend)
    if junit:
        output.emit(as_junit(rows, SUITE), junit)
    output.emit(_WRITERS[form](rows), None)
    return exit_code(rows)


def exit_code(rows: Sequence[Row]) -> int:
    """Whether all are kept; what is broken comes before what can't be told."""
    outcomes = Counter(row.outcome for row in rows)
    if outcomes["broken"] or outcomes["missing"]:
        return EXIT_GATE
    return EXIT_INVALID if outcomes["cannot tell"] else EXIT_GOOD


def relative(results: ResultsFolder, bound: Threshold, against: str) -> list[Row]:
    """One bound between the scenarios of a result, of which `against` is the other side."""
    study, trials = spec.parse(results.document()), results.trials()
    missing = asked.missing(study, trials, absent.read(results))
    return gates.decide(trials, [], [bound], missing, against)


def _decided(
    result: Path, baseline: Path | None, bounds: Sequence[Threshold], against: str | None
) -> list[Row]:
    """The rows; a study's folder also tells who was asked for and has no trial."""
    before = read_all(baseline) if baseline else []
    if not result.is_dir() or imported.load(result):
        trials = read_all(result)
        bounds = _with_goals(result, bounds, (trial.scenario for trial in trials[:1]))
        return gates.decide(trials, before, bounds, against=against, is_run=result.is_file())
    results = ResultsFolder.open(result)
    study, trials = spec.parse(results.document()), results.trials()
    bounds = _with_goals(result, bounds, (case.scenario for case in study.cases))
    missing = (
        *asked.missing(study, trials, absent.read(results)),
        *asked.only_before(study, trials, before),
    )
    return gates.decide(trials, before, bounds, missing, against)


def _followed(result: Path, trend: Over) -> list[Row]:
    """A row for each scenario of the result, from the results before it."""
    last = quantities.count(trend.last, "--trend", most=found.MOST_POINTS)
    if not result.exists():
        raise UsageProblem(f"there is no result {result}", "name one of `wiretrial results list`")
    place = result.resolve()
    read = history.read(place.parent, SHORT)
    own = next((one for one in read.results if one.name == place.name), None)
    if own is None:
        raise UsageProblem(
            f"--trend: {result} is no result in a folder of results",
            "name one that `wiretrial results list` shows",
        )
    results = read.results if trend.results is None else (*_before(own, trend.results), own)
    lines = points.lines(results, points.Asked(metric=trend.metric))
    rows = list(held.rows(lines, own.name, last))
    if not rows:
        raise UsageProblem(
            f"--trend: {result} has no such figure", "choose another one with --metric"
        )
    return rows


def _before(own: Result, place: str) -> Iterator[Result]:
    """The other results of that folder or store. It may hold the same one, and others of its name,
    such as the one file that each job writes."""
    studies = {brief.study for brief in own.briefs}
    if own.imported:
        studies.add(own.imported.source)
    past = places.named(place)
    mine = {_identity(brief) for brief in own.briefs}
    for one in past.read(lambda study, _: study in studies, None).results:
        is_same = one.imported is not None and one.imported == own.imported
        if is_same or not mine.isdisjoint(map(_identity, one.briefs)):
            continue
        is_called_so = one.name == own.name
        yield replace(one, name=f"{one.name} of {past.shown}") if is_called_so else one


def _identity(brief: Brief) -> tuple[str, str, int, str]:
    """What no other trial has."""
    return brief.study, brief.scenario, brief.block, brief.at


def _with_goals(
    result: Path, bounds: Sequence[Threshold], scenarios: Iterable[Scenario]
) -> Sequence[Threshold]:
    """The bounds, and those that a traffic file states; raises where there are none at all."""
    found = (*bounds, *gates.of_goals(scenarios))
    if not found:
        raise UsageProblem(
            f"no bound is given, and {result} is of no traffic file with goals",
            f"give one: --threshold {gates.EXAMPLE.partition(' or ')[0]}",
        )
    return found


def as_text(rows: Sequence[Row]) -> str:
    """A line for each bound, and their sum."""
    width = max(len(row.scenario) for row in rows)
    bound = max(len(row.threshold.text) for row in rows)
    lines = [
        f"{row.outcome:<11}  {row.scenario:<{width}}  {row.threshold.text:<{bound}}  {row.text}"
        for row in rows
    ]
    return "\n".join([*lines, "", _sum(rows)])


def _sum(rows: Sequence[Row]) -> str:
    outcomes = Counter(row.outcome for row in rows)
    failed = [name for name in ("broken", "missing") if outcomes[name]]
    if failed:
        counts = " and ".join(f"{name}: {outcomes[name]}" for name in failed)
        return f"{counts} of {len(rows)} bounds"
    if outcomes["cannot tell"]:
        return f"cannot tell: {outcomes['cannot tell']} of {len(rows)} bounds"
    return f"kept: {len(rows)} of {len(rows)} bounds"


def _json(rows: Sequence[Row]) -> str:
    return output.as_json(
        {
            "schema": "wiretrial-gate",
            "version": 1,
            "bounds": [
                {
                    "scenario": row.scenario,
                    "threshold": row.threshold.text,
                    "outcome": row.outcome,
                    "value": row.decision.value if row.decision else None,
                    "low": row.decision.low if row.decision else None,
                    "high": row.decision.high if row.decision else None,
                    "trials": _needed(row.decision, "trials"),
                    "occasions": _needed(row.decision, "occasions"),
                    "text": row.text,
                }
                for row in rows
            ],
        }
    )


def _needed(decision: Decision | None, unit: Unit) -> int | None:
    """How many of these would likely decide; None where it is the other that would."""
    return decision.needed if decision and decision.unit == unit else None


def as_markdown(rows: Sequence[Row]) -> str:
    """Their sum, and a table."""
    marks = {
        "kept": "✅ kept",
        "broken": "❌ broken",
        "missing": "❌ missing",
        "cannot tell": "❔ cannot tell",
    }
    lines = cells.table(
        ("bound", "scenario", "outcome", "found"),
        (
            (
                cells.text(f"`{row.threshold.text}`"),
                cells.name(row.scenario),
                marks[row.outcome],
                cells.text(row.text),
            )
            for row in rows
        ),
    )
    return "\n".join([f"**{_sum(rows)}**", "", *lines])


def as_junit(rows: Sequence[Row], suite_name: str) -> str:
    """A test case for each bound: a failure where it is broken, an error where none can tell."""
    outcomes = Counter(row.outcome for row in rows)
    suite = ElementTree.Element(
        "testsuite",
        name=suite_name,
        tests=str(len(rows)),
        failures=str(outcomes["broken"] + outcomes["missing"]),
        errors=str(outcomes["cannot tell"]),
    )
    for row in rows:
        text = _for_xml(row.text)
        case = ElementTree.SubElement(
            suite, "testcase", classname=_for_xml(row.scenario), name=_for_xml(row.threshold.text)
        )
        if row.outcome == "kept":
            ElementTree.SubElement(case, "system-out").text = text
            continue
        tag = "error" if row.outcome == "cannot tell" else "failure"
        # GitLab shows what stands in the element, Jenkins the message, too.
        ElementTree.SubElement(case, tag, message=text, type=row.outcome).text = text
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _for_xml(text: str) -> str:
    """Without the characters that XML has not, such as those of a terminal's colours."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


_WRITERS = {GateForm.TEXT: as_text, GateForm.JSON: _json, GateForm.MARKDOWN: as_markdown}
