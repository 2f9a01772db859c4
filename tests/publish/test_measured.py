"""Scenarios of a site: whose they are, what they say, and that their permalinks stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.publish.conftest import IN_SHORT, demo, kept
from tests.report import synthetic_study
from wiretrial.report import found
from wiretrial.report.blocks import Cell, Column, Table, Text, heading
from wiretrial.report.found import Found, FoundSection
from wiretrial.report.model import ReportModel
from wiretrial.results import answers
from wiretrial.site import entries, measured, pages, subject_pages
from wiretrial.site.measured import anchor


@pytest.fixture(scope="module")
def study() -> ReportModel:
    return synthetic_study.report()


def test_every_scenario_and_search_is_there_once(study: ReportModel) -> None:
    rows = measured.of_model(study)
    names = [row.name for row in rows]
    assert sorted(names) == sorted(
        [*(s.name for s in study.scenarios), *(knee.name for knee in study.knees)]
    )
    assert len({row.anchor for row in rows}) == len(rows)


def test_figures_and_places_are_those_of_the_report(study: ReportModel) -> None:
    by_name = {row.name: row for row in measured.of_model(study)}
    for group in study.groups:
        metric = group.contest.metric
        for scenario in group.scenarios:
            row = by_name[scenario.name]
            unit = metric.unit((scenario.estimates[metric.key].median,), scenario.what)
            assert row.figures[0].metric == metric.title
            assert row.figures[0].text.endswith(unit.text(scenario.estimates[metric.key].median))
            assert row.place == f"{group.contest.ranking.ranks[scenario.name]} of 3"
            assert row.trials == scenario.usable


def test_a_group_for_orientation_has_no_places() -> None:
    outside = [row for row in measured.of_model(demo()) if row.group == "extra"]
    assert [(row.subject, row.place) for row in outside] == [("nginx", "")]


def test_permalinks_stay_when_trials_are_added() -> None:
    few, many = ({row.name: row.anchor for row in measured.of_model(demo(n, n))} for n in (3, 6))
    assert few == many


@pytest.mark.parametrize(
    ("name", "found_at"),
    [
        ("uwebsockets: echo, 10 connections", "uwebsockets-echo-10-connections-e069a7"),
        ("…", "b49358"),
    ],
)
def test_a_permalink_follows_from_the_name_alone(name: str, found_at: str) -> None:
    assert anchor(name) == found_at


def test_names_of_the_same_letters_have_permalinks_of_their_own() -> None:
    assert anchor("t = 0, C = 4") != anchor("t = 0; C = 4")
    assert anchor("a" * 300) != anchor("a" * 301)


def table(heads: str, *rows: str, has_floor: bool = False) -> Table:
    """A table of texts; the first column names the rows."""
    first, *others = heads.split("|")
    columns = (Column(first, is_figure=False), *map(Column, others))
    cells = (tuple(Cell(text, value=1.0) for text in row.split("|")) for row in rows)
    return Table(columns, tuple(cells), has_floor=has_floor)


def of(title: str, *blocks: Table | Text) -> Found:
    """A kept result of one section."""
    return Found(
        study="s",
        command="wiretrial study run s",
        date="2026-11-22",
        machine="2 CPUs",
        trials=9,
        sentences=("One.",),
        sections=(FoundSection(title=title, blocks=blocks),),
    )


SUBJECTS = ("ws", "raw-client", "table-netty")


@pytest.mark.parametrize(
    ("told", "rows"),
    [
        pytest.param(
            of("Throughput: echo", table("Scenario|Median|Trials", "ws|22 k/s|5", "other|3 k/s|5")),
            [("ws: echo", "ws", "", "Throughput", "22 k/s", 5)],
            id="ranking",
        ),
        pytest.param(
            of("p99, ms: echo", table("|10 connections|99 connections", "ws:tuned|1|–", "x|1|2")),
            [("ws:tuned: echo, 10 connections", "ws", "tuned", "p99, ms", "1", None)],
            id="grid",
        ),
        pytest.param(
            of("p99, ms: echo", table("|ws, HTTP", "10 connections|3", "Floor|1", has_floor=True)),
            [("ws, HTTP: echo, 10 connections", "ws", "", "p99, ms", "3", None)],
            id="levels-downwards",
        ),
        pytest.param(
            of("Server CPU, µs: bots, table-netty", table("|JSON", "10 connections|3")),
            [("table-netty, JSON: bots, 10 connections", "table-netty", "", "Server CPU, µs", "3",
              None)],
            id="within-a-subject",
        ),
        pytest.param(
            of("Time per case", heading("Local"), table("|N = 1\nt = 0", "raw|3 s")),
            [("raw: Local, N = 1, t = 0", "raw-client", "", "Time per case", "3 s", None)],
            id="case-of-a-client",
        ),
        pytest.param(
            of("Published / here", table("Published|There", "ws|3")), [], id="no-scenarios"
        ),
    ],
)  # fmt: skip
def test_tables_of_a_kept_result_are_read(told: Found, rows: list[tuple[object, ...]]) -> None:
    read = measured.of_kept(told, SUBJECTS)
    assert [
        (one.name, one.subject, one.configuration, figure.metric, figure.text, one.trials)
        for one in read
        for figure in one.figures
    ] == rows


def test_figures_of_two_tables_are_of_one_scenario() -> None:
    model = synthetic_study.report()
    subjects = {trial.scenario.subject for trial in model.trials}
    rows = measured.of_kept(found.of_report(model), subjects)
    assert {row.subject for row in rows} == subjects
    assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize("before", [" ", "\n"])
def test_a_known_fault_of_a_kept_result_follows_its_answer(tmp_path: Path, before: str) -> None:
    page = tmp_path / answers.README
    assert answers.fault(tmp_path) is None
    fault = f"**Known fault: `one` is\ntoo high**{before}([why](#why))."
    page.write_text(f"## In short\n\n**One.**\n\n{fault}\n\n1. Two.\n")
    said = "Known fault: one is too high."
    assert answers.fault(tmp_path) == said
    assert answers.in_short(tmp_path) == ("One.", said, "Two.")


def test_it_stands_before_the_figures_of_each_page() -> None:
    entry = replace(kept(), fault="Known fault: <all>.")
    [shown] = [
        one for one in subject_pages.shown([entry], []) if one.name == entry.measured[0].subject
    ]
    for page in (pages.scenarios(entry), subject_pages.page(shown, [entry])):
        assert page.count("<strong>Known fault: &lt;all&gt;.</strong>") == 1
    assert not pages.fault(kept())


def test_the_answer_is_what_the_study_s_readme_says_in_short(tmp_path: Path) -> None:
    page = tmp_path / answers.README
    assert answers.in_short(tmp_path) == ()
    page.write_text("# Which?\n")
    assert answers.in_short(tmp_path) == ()
    short = (
        "## In short\n\nFor all:\n\n1. Take `one`, which\n   leads.\n2. Else two.\n\n![a](b.svg)\n"
    )
    page.write_text(f"# Which?\n\n{short}\n## Run it\n\n1. No.\n")
    assert answers.in_short(tmp_path) == ("Take one, which leads.", "Else two.")
    page.write_text(page.read_text().replace("For all:", "**One,\nor two.**\n\nFor all:"))
    assert answers.in_short(tmp_path) == ("One, or two.", "Take one, which leads.", "Else two.")
    assert kept().answer == IN_SHORT[:2]


def test_without_one_it_is_what_the_report_says_first() -> None:
    told = entries.of_model("demo", demo(), []).answer
    assert 1 <= len(told) <= 2
    assert "bottleneck" not in " ".join(told)


def test_a_page_with_trials_begins_with_the_written_answer_and_folds_the_findings() -> None:
    column = entries.of_model("demo", demo(), [], answer=IN_SHORT).column
    verdict, _, below = column.partition('<div class="verdict">')[2].partition("</div>")
    assert all(f"<p>{sentence}</p>" in verdict for sentence in IN_SHORT)
    assert "Every finding in full" in below
