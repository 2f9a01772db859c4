"""`wiretrial gate`: are stated bounds kept? For continuous integration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import typer

from wiretrial.cli import output
from wiretrial.errors import EXIT_GATE, EXIT_GOOD, EXIT_INVALID, UsageProblem
from wiretrial.report import gate as gates
from wiretrial.report.gate import Row, Threshold
from wiretrial.results import absent, imported
from wiretrial.results.store import ResultsFolder, read_all
from wiretrial.studies import asked, spec

EXAMPLES = """\b
Examples:
  wiretrial gate results/echo-20260102-120000 --threshold 'service.p99 <= 2ms'
  wiretrial gate NEW --baseline OLD --threshold 'throughput >= 0.95x'
  wiretrial gate NEW --baseline OLD --threshold 'server.cpu <= 1.05x @ ws*' --junit gate.xml
  wiretrial gate NEW --baseline OLD --threshold 'throughput >= 0.95x' --format markdown
  wiretrial gate NEW --against ws --threshold 'throughput >= 0.95x @ ./mine'

  wiretrial gate load.json --threshold 'throughput >= 10k'

A file is one run (`load --format json -o FILE`): `throughput >= 10k` is about that run.
Exit: 0 all kept, 3 one is broken or a scenario has no figure, 4 the data cannot tell (and how
many trials would).
A bound may name the scenarios that it is about: `@ PATTERN`.
"""


class Form(StrEnum):
    """How the decision is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def gate(
    result: Annotated[Path, typer.Argument(metavar="DIR|FILE", help="Result to check.")],
    threshold: Annotated[
        list[str],
        typer.Option(
            "--threshold", metavar="BOUND", help="Bound to check: 'service.p99 <= 2ms'. Repeatable."
        ),
    ],
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="DIR|FILE", help="Result that `0.95x` is relative to."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="SCENARIO",
            help="Scenario of DIR that `0.95x` is relative to, in pairs within each block.",
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="Form of the result.")] = Form.TEXT,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML to FILE, too.")
    ] = None,
) -> int:
    """Check a result against bounds: each is kept, broken, or can't be told from the data."""
    if junit:
        output.require_writable(junit)
    bounds = [gates.parse(text) for text in threshold]
    if baseline and against:
        raise UsageProblem("--baseline and --against exclude each other", "keep one")
    rows = _decided(result, baseline, bounds, against)
    if junit:
        output.emit(_junit(rows), junit)
    output.emit(_WRITERS[form](rows), None)
    outcomes = Counter(row.outcome for row in rows)
    if outcomes["broken"] or outcomes["missing"]:
        return EXIT_GATE
    return EXIT_INVALID if outcomes["cannot tell"] else EXIT_GOOD


def _decided(
    result: Path, baseline: Path | None, bounds: Sequence[Threshold], against: str | None
) -> list[Row]:
    """The rows; a study's folder also tells who was asked for and has no trial."""
    before = read_all(baseline) if baseline else []
    if not result.is_dir() or imported.load(result):
        trials = read_all(result)
        return gates.decide(trials, before, bounds, against=against, is_run=result.is_file())
    results = ResultsFolder.open(result)
    study, trials = spec.parse(results.document()), results.trials()
    missing = (
        *asked.missing(study, trials, absent.read(results)),
        *asked.only_before(study, trials, before),
    )
    return gates.decide(trials, before, bounds, missing, against)


def _text(rows: Sequence[Row]) -> str:
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
                    "trials": row.decision.trials if row.decision else None,
                    "text": row.text,
                }
                for row in rows
            ],
        }
    )


def _markdown(rows: Sequence[Row]) -> str:
    marks = {
        "kept": "✅ kept",
        "broken": "❌ broken",
        "missing": "❌ missing",
        "cannot tell": "❔ cannot tell",
    }
    lines = ["| bound | scenario | outcome | found |", "|---|---|---|---|"]
    for row in rows:
        cells = (f"`{row.threshold.text}`", row.scenario, marks[row.outcome], row.text)
        lines.append(f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |")
    return "\n".join([f"**{_sum(rows)}**", "", *lines])


def _junit(rows: Sequence[Row]) -> str:
    outcomes = Counter(row.outcome for row in rows)
    suite = ElementTree.Element(
        "testsuite",
        name="wiretrial gate",
        tests=str(len(rows)),
        failures=str(outcomes["broken"] + outcomes["missing"]),
        errors=str(outcomes["cannot tell"]),
    )
    for row in rows:
        case = ElementTree.SubElement(
            suite, "testcase", classname=row.scenario, name=row.threshold.text
        )
        if row.outcome in ("broken", "missing"):
            ElementTree.SubElement(case, "failure", message=row.text)
        elif row.outcome == "cannot tell":
            ElementTree.SubElement(case, "error", message=row.text)
        else:
            ElementTree.SubElement(case, "system-out").text = row.text
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


_WRITERS = {Form.TEXT: _text, Form.JSON: _json, Form.MARKDOWN: _markdown}
