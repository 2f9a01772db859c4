"""What a terminal shows, against committed files."""

from __future__ import annotations

import os
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.report.synthetic import DEMO, one_trial
from wiretrial import warnings
from wiretrial.report import load_json, load_lines, markdown, text, text_blocks
from wiretrial.report.model import ReportModel
from wiretrial.report.tables import rankings
from wiretrial.results.model import Judgement, Trial

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def closed() -> Trial:
    evidence = "the server was the bottleneck (its core 100 % busy, our loop 6 % idle)"
    judgement = Judgement(verdict="valid", bottleneck="server", evidence=evidence)
    return one_trial(DEMO[2], 0, 0, 1, judgement, 1.0, random.Random(5))


@pytest.fixture(scope="module")
def failing() -> Trial:
    shape = DEMO[0].__class__(**{**DEMO[0].__dict__, "offered": 20e3})
    judgement = Judgement(verdict="invalid", bottleneck="unknown", evidence="12 messages failed")
    made = one_trial(shape, 0, 0, 1, judgement, 1.0, random.Random(5))
    counters = made.summary.counters.model_copy(update={"errors": {"timeout": 12}})
    summary = made.summary.model_copy(
        update={"counters": counters, "examples": {"timeout": "no reply within 10 s"}}
    )
    trial = made.model_copy(update={"summary": summary})
    return trial.model_copy(update={"warnings": warnings.of_trial(trial)})


def golden(name: str, found: str) -> None:
    """Line by line, without the last newline. WIRETRIAL_UPDATE_GOLDEN=1 writes it anew."""
    if "WIRETRIAL_UPDATE_GOLDEN" in os.environ:
        (GOLDEN / name).write_text(f"{found.rstrip()}\n", encoding="utf-8")
    assert found.splitlines() == (GOLDEN / name).read_text("utf-8").splitlines()


def test_the_end_of_a_study(report: ReportModel) -> None:
    golden("study.txt", text.render(report, width=110))


def test_the_end_of_a_study_in_a_small_window(report: ReportModel) -> None:
    found = text.render(report, width=80)
    golden("study-80.txt", found)
    assert max(map(len, found.splitlines())) <= 80


def test_the_end_of_a_study_of_many_levels(study: ReportModel) -> None:
    golden("levels.txt", text.render(study, width=110))


def test_many_levels_in_a_small_window(study: ReportModel) -> None:
    found = text.render(study, width=80)
    golden("levels-80.txt", found)
    assert max(map(len, found.splitlines())) <= 80


def test_labels_that_do_not_fit_stand_in_tables_of_their_own(study: ReportModel) -> None:
    family = next(family for family in study.families if len(family.groups) > 1)
    made = text_blocks.table(Console(width=36), rankings.grid(family))
    assert len(made) > 1
    assert [column.header for one in made for column in one.columns[1:]] == list(family.labels)
    for one in made:
        levels = [family.level(group) for group in family.groups]
        assert list(map(str, one.columns[0].cells)) == levels, "each row says what it is"


def test_a_time_per_case(cases: ReportModel) -> None:
    golden("cases.txt", text.render(cases, width=110))


def test_a_pull_requests_text(report: ReportModel, study: ReportModel) -> None:
    golden("demo.md", markdown.render(report))
    golden("levels.md", markdown.render(study))


def test_a_name_cannot_break_a_table(study: ReportModel) -> None:
    broken = replace(study, title="a | b <script>\nc")
    assert markdown.render(broken).startswith("## a \\| b &lt;script> c\n")


def test_one_load_run(closed: Trial) -> None:
    found = load_lines.render(closed, width=120)
    golden("load.txt", found)
    assert len(found.splitlines()) <= 15


def test_totals_get_their_own_line_where_room_is_short(closed: Trial) -> None:
    found = load_lines.render(closed, width=80).splitlines()
    assert max(map(len, found)) <= 80
    assert [line.split()[0] for line in found if line.startswith("  ")][:2] == [
        *("throughput", "messages")
    ]


@pytest.mark.parametrize("width", range(60, 100))
def test_no_line_breaks_between_a_figure_and_its_unit(closed: Trial, width: int) -> None:
    for line in load_lines.render(closed, width=width).splitlines():
        assert not re.match(r"\s+(us|ms|s|%|B|MiB)(\W|$)", line), line
        assert line.isascii()


@pytest.mark.parametrize(
    ("opened", "told"),
    [
        (100, "100 in 274 us, connect"),
        (450, "100 in 274 us, 350 opened again, connect"),
        (98, "98 in 274 us, connect"),
    ],
)
def test_the_time_beside_connections_is_that_of_so_many(
    closed: Trial, opened: int, told: str
) -> None:
    connections = closed.summary.connections.model_copy(update={"opened": opened})
    update = {"connections": connections, "connect_start_ns": 1_000, "connected_ns": 275_000}
    summary = closed.summary.model_copy(update=update)
    found = load_lines.render(closed.model_copy(update={"summary": summary}), width=120)
    assert f"  connections    {told}" in found


def test_connections_that_are_opened_as_needed_have_no_time(closed: Trial) -> None:
    connections = closed.summary.connections.model_copy(update={"opened": 450})
    summary = closed.summary.model_copy(update={"connections": connections})
    found = load_lines.render(closed.model_copy(update={"summary": summary}), width=120)
    assert "  connections    450 opened, connect" in found


def test_one_load_run_with_errors(failing: Trial) -> None:
    golden("load-errors.txt", load_lines.render(failing, width=110))


def test_colour_only_where_it_is_wanted(report: ReportModel, failing: Trial) -> None:
    plain = text.render(report), load_lines.render(failing)
    coloured = text.render(report, colour=True), load_lines.render(failing, colour=True)
    for without, with_colour in zip(plain, coloured, strict=True):
        assert "\x1b" not in without
        assert "\x1b[" in with_colour
        assert re.sub(r"\x1b\[[0-9;]*m", "", with_colour).split() == without.split()


def test_the_json_object_has_the_documented_members(closed: Trial, failing: Trial) -> None:
    found = load_json(closed)
    page = (Path(__file__).parents[2] / "docs" / "load.md").read_text(encoding="utf-8")
    documented = re.findall(
        r"`(\w+)`", page.partition("<!-- members -->")[2].partition("<!-- end")[0]
    )
    assert set(found) - set(documented) == set()
    assert list(found)[:2] == ["schema", "version"]
    totals = found["totals"]
    assert totals["sent"] == totals["ok"] + totals["in_flight"] + sum(totals["errors"].values())
    assert list(found["service_time"]) == [
        *("count", "min", "mean", "p50", "p90", "p99", "p999", "max", "withheld")
    ]
    assert found["response_time"] is None
    assert load_json(failing)["response_time"]["count"] > 0
    assert [w["code"] for w in load_json(failing)["warnings"]] == ["errors"]
