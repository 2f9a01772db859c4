"""What every study that comes with the project must keep, whatever it asks.

Knows how a study is found, expanded and estimated; must not know any one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from wiretrial.report import found
from wiretrial.report.blocks import Table
from wiretrial.results.claims import Side
from wiretrial.studies import estimate, matrix, priming
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Case, Study

STUDIES = Path(__file__).resolve().parents[2] / "studies"
HOUR_NS = 3_600_000_000_000


def of(study: Study, workload: str, where: str | None = None) -> list[Case]:
    """The workload's scenarios in this environment, or in all, without the twin."""
    return [
        case
        for case in study.cases
        if case.scenario.levels["workload"] == workload
        and case.scenario.twin_of is None
        and where in {None, case.scenario.environment}
    ]


def by_label(case: Case) -> str | None:
    """How a claim names its sides where a subject stands in several rows of a group."""
    return case.scenario.label


def by_subject(case: Case) -> str | None:
    """How a claim names its sides where their levels tell the rows of a subject apart."""
    return case.scenario.subject


def side_of(study: Study, side: Side, name: Callable[[Case], str | None]) -> Case:
    """The one scenario that a claim's side means."""
    matching = [
        case
        for case in of(study, side.workload)
        if name(case) == side.subject
        and all(case.scenario.levels.get(k) == v for k, v in side.levels.items())
    ]
    assert len(matching) == 1, side
    return matching[0]


def check_claims(
    study: Study, name: Callable[[Case], str | None], *, fewest_trials: int = 1
) -> None:
    """Each side of each claim means one scenario, with so many trials; each stands in its source.

    Where two figures are quoted, the published ratio is theirs.
    """
    for claim in study.claims:
        assert claim.is_ours or claim.quote, f"where does the source say it: {claim.text}"
        figures = re.search(r"([\d.,:]+) and ([\d.,:]+)", claim.quote)
        if figures and isinstance(claim.published, float):
            ratio = _figure(figures[1]) / _figure(figures[2])
            assert claim.published == pytest.approx(ratio, rel=0.005), claim.text
        for side in claim.sides:
            assert study.trials_of(side_of(study, side, name)) >= fewest_trials, claim.text


def _figure(text: str) -> float:
    """`1:40.318` is minutes and seconds, `11,808` a number."""
    minutes, _, rest = text.replace(",", "").rpartition(":")
    return 60 * float(minutes or 0) + float(rest)


def primed(document: Document, study: Study) -> Study:
    """The study with each case primed as its file says."""
    return priming.as_told(study, document)


def check_time(
    document: Document,
    study: Study,
    *,
    hours: float,
    quick_seconds: float,
    budget_hours: float = 1.5,
) -> None:
    """It is estimated to fit in these hours, within the budget that its file states."""
    assert document.budget is not None
    assert document.budget <= budget_hours * HOUR_NS
    assert estimate.estimate(study).total_ns < hours * HOUR_NS
    check_quick(document, study, seconds=quick_seconds)


def check_quick(document: Document, study: Study, *, seconds: float) -> None:
    """--quick asks every workload in fewer seconds than that."""
    quick = primed(document, matrix.expand(study.name, document, command="-", seed=1, quick=True))
    assert estimate.estimate(quick).total_ns < seconds * 1_000_000_000
    assert {case.scenario.levels["workload"] for case in quick.cases} == {
        case.scenario.levels["workload"] for case in study.cases
    }


def check_readme(name: str) -> None:
    """The page of its figures says what is kept, and its README names that page.

    What is kept has no interval beside a bound.
    """
    folder = STUDIES / name
    kept = found.read(folder)
    for section in kept.sections if kept else ():
        tables = (block for block in section.blocks if isinstance(block, Table))
        for cell in (cell for table in tables for row in table.rows for cell in row):
            if cell.text.startswith(("≥ ", "≤ ")):
                assert (cell.low, cell.high) == (None, None), cell
                assert "(" not in cell.text, cell
                assert not any(" to " in aside for aside in cell.aside), cell
    page = (folder / found.PAGE).read_text("utf-8")
    assert found.of_study(folder) == page
    assert f"]({found.PAGE})" in (folder / "README.md").read_text("utf-8")
