"""What first pages say in figures stands in the results that they are about."""

from __future__ import annotations

import re

import pytest

from tools.docs.layout import ROOT
from wiretrial.results import answers

STUDIES = ROOT / "studies"
MEASURED = [study.name for study in STUDIES.iterdir() if answers.kept(study) is not None]
_FIGURE = re.compile(r"(?<![\w./-])\d[\d,]*(?:\.\d+)?")
_INTERVAL = re.compile(r"(\d[\d,.]*)(?: [^\s\d()|,]+){0,4} \((\d[\d,.]*) to (\d[\d,.]*)[;)]")
_ROW = r"^\| \[[^\]]+\]\(studies/{}/README\.md\) \| (.*) \|$"


def digits(text: str) -> set[str]:
    """The significant digits of each figure."""
    return set(map(significant, _FIGURE.findall(text)))


def intervals(text: str) -> set[tuple[str, ...]]:
    """The significant digits of each figure that has an interval, and of that."""
    return {tuple(map(significant, found)) for found in _INTERVAL.findall(text)}


def significant(figure: str) -> str:
    """Its digits, whatever the unit: 0.087 s is 87 ms."""
    return figure.replace(",", "").replace(".", "").strip("0")


def results(name: str) -> str:
    return (STUDIES / name / "RESULTS.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.30 (1.21 to 1.39) times", {"13", "121", "139"}),
        ("60,100/s, 0.087 ms and 87 µs", {"601", "87"}),
        ("HTTP/2, v0.14, p99 and x-1", set()),
    ],
)
def test_significant_digits_are_found(text: str, found: set[str]) -> None:
    assert digits(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.30 (1.21 to 1.39) times", {("13", "121", "139")}),
        (
            "67.6 µs of CPU (46.2 to 105), Go 216 (1,163 to 2,890)",
            {("676", "462", "105"), ("216", "1163", "289")},
        ),
        ("from 3 to 5 (of 7), and 2 (two to 4)", set()),
    ],
)
def test_figures_with_their_intervals_are_found(text: str, found: set[tuple[str, ...]]) -> None:
    assert intervals(text) == found


@pytest.mark.parametrize("name", MEASURED)
def test_what_a_study_says_in_short_was_found(name: str) -> None:
    short = answers.said_in_short(STUDIES / name)
    assert short
    said = re.sub(r"!?\[[^\]]*\]\([^)]*\)", "", short)
    assert digits(said) - digits(results(name)) == set()
    assert intervals(said) - intervals(results(name)) == set()


@pytest.mark.parametrize("name", MEASURED)
def test_what_the_front_page_says_of_a_study_was_found(name: str) -> None:
    (row,) = re.findall(_ROW.format(name), (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert digits(row) - digits(results(name)) == set()
    assert intervals(row) - intervals(results(name)) == set()


@pytest.mark.parametrize("name", MEASURED)
def test_each_study_answers_its_question_in_plain_words(name: str) -> None:
    answer = answers.in_plain_words(STUDIES / name)
    assert answer is not None
    assert len(answer) <= 200
