"""The browser's part of `http-vs-websocket`, measured small: what is kept tells all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiretrial.cli import reports
from wiretrial.engine import Engine
from wiretrial.report import charts, found
from wiretrial.report import kept as kept_trials
from wiretrial.report.blocks import Table
from wiretrial.report.found import Found
from wiretrial.report.model import ReportModel
from wiretrial.results import kept
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import matrix, registry, runner, ways
from wiretrial.studies.by_browser import ByBrowser
from wiretrial.studies.events import TrialFailed, Unavailable
from wiretrial.studies.workload import Workload

pytestmark = pytest.mark.alone

NAME = "http-vs-websocket"
REQUESTS = 12
SHOWN = (ways.SAME, ways.UNIQUE, ways.NO_STORE, ways.SOCKET_IO)
ONLY = (
    "*: browser*over loopback",
    "reference, HTTP: load*over loopback",
    "reference, Socket.IO: load*over loopback",
)


@pytest.fixture(scope="module")
def results(
    engine: Engine, chromium_binary: str, tmp_path_factory: pytest.TempPathFactory
) -> ResultsFolder:
    """The study over loopback, of the reference server, which needs no installation."""
    assert chromium_binary
    document = registry.find(NAME).document
    workloads: list[Workload] = []
    for workload in document.workload:
        if isinstance(workload, ByBrowser):
            at_once = workload.pattern == ("at once",)
            labels = tuple(way.label for way in SHOWN) if at_once else workload.way
            own = {"subjects": ("reference",), "requests": (REQUESTS,), "way": labels}
            workloads.append(workload.model_copy(update={**own, "quick": None}))
        else:
            workloads.append(workload.model_copy(update={"quick": None}))
    small = document.model_copy(update={"workload": tuple(workloads)})
    study = matrix.expand(NAME, small, command="-", seed=1, trials=2, only=ONLY)
    cases = tuple(case for case in study.cases if (case.requests_each or 0) <= 50)
    study = study.model_copy(update={"cases": cases})
    made = ResultsFolder.create(tmp_path_factory.mktemp("base"), NAME, study.document())
    events = list(runner.run(study, made, engine))
    assert [e for e in events if isinstance(e, TrialFailed | Unavailable)] == []
    return made


@pytest.fixture(scope="module")
def models(
    results: ResultsFolder, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ReportModel, ReportModel]:
    """Of the trials as they were measured, and of those that are kept."""
    base = tmp_path_factory.mktemp("kept")
    file = base / "trials.jsonl.xz"
    file.write_bytes(kept_trials.pack(results))
    return reports.whole(results), reports.whole(kept.unpack(file, base))


def tables(told: Found, title: str) -> list[Table]:
    """The tables of the section of that title."""
    (section,) = (section for section in told.sections if section.title == title)
    return [block for block in section.blocks if isinstance(block, Table)]


def test_what_is_kept_says_the_same(models: tuple[ReportModel, ReportModel]) -> None:
    measured, again = map(found.of_report, models)
    assert again == measured
    assert again.to_json() == measured.to_json()


def test_each_way_has_its_row_with_what_the_browser_told(
    models: tuple[ReportModel, ReportModel],
) -> None:
    (table,) = tables(found.of_report(models[1]), "Requests from a browser")
    assert [column.title for column in table.columns][1:4] == [
        "one request",
        f"{REQUESTS} at once",
        "under way",
    ]
    rows = {row[0].text: row[1:] for row in table.rows}
    assert set(rows) == {way.label for way in (*SHOWN, ways.UNIQUE_2)}
    alone = {label for label, cells in rows.items() if cells[0].value is not None}
    assert alone == {way.label for way in (ways.UNIQUE, ways.UNIQUE_2, ways.SOCKET_IO)}
    assert all(rows[way.label][1].value for way in SHOWN)
    assert 1 <= (rows[ways.UNIQUE.label][2].value or 0) <= 6
    # One way was asked one by one only.
    assert rows[ways.UNIQUE_2.label][1].value is None


def test_break_evens_and_the_browser_s_explanation_are_kept(
    models: tuple[ReportModel, ReportModel], tmp_path: Path
) -> None:
    told = found.of_report(models[1])
    (crossings,) = tables(told, "Break-even: set-up against messages")
    quantities = {row[0].text.rpartition(": ")[2] for row in crossings.rows}
    assert {"time", "server CPU", "application bytes", "TCP payload"} <= quantities
    (sentence,) = (one for one in told.sentences if one.startswith("In Chromium "))
    assert f"over loopback, {REQUESTS} requests at once take" in sentence
    assert charts.render_svg(models[1], "browser-1").startswith("<svg")
    (tmp_path / found.PAGE).write_text(found.report(NAME, told), "utf-8")
    assert "Requests from a browser" in (tmp_path / found.PAGE).read_text("utf-8")
