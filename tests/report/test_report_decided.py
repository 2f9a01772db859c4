"""Declared contrasts that show a difference: each has its ratio, with the baseline second."""

from __future__ import annotations

from functools import partial

import pytest

from tests.report.later import Later
from tests.report.synthetic import demo_trials
from tests.report.synthetic_study import echo
from tests.report.test_report_resolution import SHAPES, TRIALS, report
from wiretrial.report import found
from wiretrial.report.blocks import Fold, Table, Text
from wiretrial.report.model import ReportModel, build
from wiretrial.report.tables import decided
from wiretrial.results.model import Trial
from wiretrial.stats import compare

THREE = echo()[:3]
MORE = Later(partial(demo_trials, blocks=6, shapes=THREE))


def with_baseline(trial: Trial, name: str | None) -> Trial:
    scenario = trial.scenario.model_copy(update={"baseline": name})
    return trial.model_copy(update={"scenario": scenario})


def rows(model: ReportModel) -> list[list[str]]:
    (table,) = [block for block in decided.section(model) if isinstance(block, Table)]
    return [[cell.text for cell in row] for row in table.rows]


def test_each_has_its_ratio_with_the_baseline_second() -> None:
    model = report(TRIALS)
    told = rows(model)
    assert [row[2] for row in told] == ["Throughput"] * 3 + ["Server CPU"] * 3
    for group in model.groups:
        for metric in ("throughput", "server"):
            (pair,) = group.contest.pairs[metric]
            assert pair.comparison is not None
            names = {group.called[pair.a], group.called[pair.b]}
            (row,) = [r for r in told if r[1] == group.title and r[2] == pair.metric.title]
            first, second = row[0].split(" / ")
            assert {first, second} == names
            assert second.startswith("ws")


def test_where_each_has_a_baseline_of_its_own_that_one_is_second() -> None:
    names = [shape.name for shape in THREE]
    first, second, third = names
    base = {first: second, third: second}
    model = build(
        [with_baseline(trial, base.get(trial.scenario.name)) for trial in MORE],
        question="Q?",
        title="T",
        command="again",
        order=names,
    )
    told = {(row[0], row[2]) for row in rows(model)}
    called = model.groups[0].called
    for metric in ("Throughput", "Server CPU"):
        for name in (first, third):
            assert (f"{called[name]} / {called[second]}", metric) in told
    assert len(told) == 4


def test_what_is_not_shown_has_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "ALPHA", 1e-12)
    assert decided.section(report(demo_trials(blocks=6, shapes=SHAPES))) == ()


def test_more_than_a_page_holds_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decided, "MOST_ROWS", 5)
    model = report(TRIALS)
    said, table, fold, key = decided.section(model)
    assert isinstance(said, Text)
    assert said.text == (
        "3 of 3 declared contrasts show one in the metric that ranks, and 3 of 3 in the one"
        " beside it."
    )
    assert isinstance(table, Table)
    assert {row[2].text for row in table.rows} == {"Throughput"}
    assert isinstance(fold, Fold)
    assert isinstance(key, Text)
    assert key.text.endswith("3 more are in the HTML report alone.")
    assert decided.TITLE in found.of_report(model).to_json()
