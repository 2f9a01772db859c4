"""One report in four ways: the page, the terminal, Markdown and the kept result show the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.report import page_words
from wiretrial.report import found, html, markdown, text
from wiretrial.report.case_tables import time_words
from wiretrial.report.families import Family, unit_of
from wiretrial.report.model import ReportModel

WIDE = 400


@pytest.fixture(scope="module")
def ways(request: pytest.FixtureRequest) -> dict[str, dict[str, str]]:
    """Each synthetic study in each way, as words."""
    models: dict[str, ReportModel] = {
        name: request.getfixturevalue(name) for name in ("report", "study", "cases")
    }
    return {
        name: {
            "page": " ".join(page_words.lines(html.render(model))),
            "terminal": text.render(model, width=WIDE),
            "markdown": markdown.render(model),
            "kept": found.section(found.of_report(model)),
        }
        for name, model in models.items()
    }


def cells(model: ReportModel) -> Iterator[tuple[Family, str, tuple[str, ...]]]:
    """Family, label and figure of everything that is ranked; a case's time in its own unit, too."""
    for family in model.families:
        unit = unit_of(family.groups, family.metric)
        for group in family.groups:
            for scenario in group.scenarios:
                median = scenario.median(family.metric)
                if median is not None:
                    own = (time_words(median),) if family.is_cases else ()
                    yield family, group.called[scenario.name], (unit.figure(median), *own)


def is_in(figure: str, shown: str) -> bool:
    """Whether it stands there by itself, not within another number."""
    return bool(re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d.])", shown))


@pytest.mark.parametrize("way", ["page", "terminal", "markdown", "kept"])
@pytest.mark.parametrize("name", ["report", "study", "cases"])
def test_each_way_shows_every_figure(
    request: pytest.FixtureRequest, ways: dict[str, dict[str, str]], name: str, way: str
) -> None:
    shown = ways[name][way]
    missing = [
        (family.title, label, figures)
        for family, label, figures in cells(request.getfixturevalue(name))
        if label not in shown or not any(is_in(figure, shown) for figure in figures)
    ]
    assert not missing


@pytest.mark.parametrize("way", ["page", "terminal", "markdown", "kept"])
def test_each_way_shows_warnings_claims_knees_and_what_is_absent(
    study: ReportModel, ways: dict[str, dict[str, str]], way: str
) -> None:
    shown = ways["study"][way]
    for row in study.absent:
        assert row.subject in shown
    for claim in study.claims:
        assert claim.text in " ".join(shown.split())
    for knee in study.knees:
        assert knee.label in shown
    for warning in study.warnings:
        # It begins with a capital there.
        assert warning.message[1:] in " ".join(shown.split())
