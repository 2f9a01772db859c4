"""What the HTML reports say, against committed files: their text, without the elements."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import wiretrial
from tests.report import (
    page_words,
    synthetic_clients,
    synthetic_rest,
    synthetic_study,
    test_report_break_even,
)
from tests.report.synthetic import DEMO, one_trial
from tests.report.test_report_text import golden
from wiretrial.report import html, markdown, page, run
from wiretrial.report.model import ReportModel, build
from wiretrial.results.model import Judgement

LARGEST = 40 * 1024
"""Bytes. A larger file is read by nobody."""


def one_run() -> ReportModel:
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")
    return run.build(one_trial(DEMO[0], 0, 0, 1, judgement, 1.0, random.Random(3)))


def break_even() -> ReportModel:
    trials = list(test_report_break_even.trials())
    return build(trials, question="q", title="t", command="c")


MADE: dict[str, Callable[[], ReportModel]] = {
    "rest": synthetic_rest.report,
    "clients": synthetic_clients.report,
    "load": one_run,
    "break-even": break_even,
}


def shown(model: ReportModel) -> str:
    """The page's text, whatever the version of this program."""
    version = f"wiretrial | {wiretrial.__version__}"
    found = page_words.lines(html.render(model))
    return "\n".join("wiretrial | VERSION" if line == version else line for line in found)


def compared(name: str, found: str) -> None:
    golden(name, found)
    assert len(found.encode()) < LARGEST


@pytest.mark.parametrize("name", MADE)
def test_what_the_page_says(name: str) -> None:
    compared(f"{name}.page", shown(MADE[name]()))


def test_what_the_page_of_a_demo_says(report: ReportModel) -> None:
    compared("demo.page", shown(report))


def test_what_the_page_of_many_levels_says(study: ReportModel) -> None:
    compared("levels.page", shown(study))


def test_what_the_page_of_cases_says(cases: ReportModel) -> None:
    compared("cases.page", shown(cases))


def test_a_page_is_lines_of_what_is_read() -> None:
    source = (
        "<head><title>no</title></head><h2>A <b>B</b></h2><p>one\n two</p>"
        "<table><tr><th>x</th><th></th></tr>"
        f"<tr><td>1<small>of 2</small></td><td>{'3' * 999}</td></tr></table>"
        '<figure class="wide"><svg aria-label="A line."><text>no</text></svg></figure>'
        '<figure class="narrow"><svg aria-label="A line."></svg></figure>'
        f"<details><summary>More</summary><table>{'<tr><td>row</td></tr>' * 9}</table></details>"
        "<ul><li>last</li></ul><script>no</script>"
    )
    assert page_words.lines(source) == [
        *("## A B", "one two", "x |", f"1 of 2 | {'3' * 200}", "[A line.]"),
        *("+ More", *["row"] * 7, "(2 more)", "- last"),
    ]


def test_a_study_of_searches_alone_has_a_report() -> None:
    objectives = {"ws: knee": synthetic_study.OBJECTIVE}
    steps = [trial for trial in synthetic_study.searches() if trial.scenario.subject == "ws"]
    report = build(steps, question="Q?", title="T", command="again", objectives=objectives)
    assert report.groups == ()
    for shown in (html.render(report), markdown.render(report)):
        assert "Highest rate with p99 within 5 ms" in shown


def test_what_a_message_costs_at_a_common_rate_stands_before_throughput(study: ReportModel) -> None:
    titles = [section.title for section in page.sections(study)]
    assert [family.title for family in study.families] == ["echo", "at one rate"]
    assert titles.index("Server CPU at 17,000 messages/s: at one rate") < titles.index(
        "Throughput: echo"
    )
