"""Trials over their time: a line each, what is sent alone, and no page that grows without end."""

from __future__ import annotations

import random

import pytest

from tests.report.synthetic import DEMO, demo_trials, one_trial
from wiretrial.report import courses, html
from wiretrial.report.model import ReportModel, build
from wiretrial.report.views import courses as view
from wiretrial.results.model import Judgement, Trial

VALID = Judgement(verdict="valid", bottleneck="server", evidence="its core 99 % busy")


def trial(block: int = 0) -> Trial:
    return one_trial(DEMO[0], block, 0, block, VALID, 1.0, random.Random(block))


def panels(*trials: Trial) -> dict[str, courses.Panel]:
    model = build(trials, question="Q?", title="T", command="c")
    return {one.title: one for one in courses.of_group(model.groups[0], model.trials)}


def test_a_line_per_trial_and_a_panel_per_quantity() -> None:
    found = panels(trial(0), trial(1), trial(2))
    assert {"Throughput", "p50 of the service time", "Generator CPU"} <= found.keys()
    assert "Errors" not in found
    assert [line.block for line in found["Throughput"].lines] == [0, 1, 2]
    assert {line.colour for line in found["Throughput"].lines} == {0}


def test_what_comes_after_the_last_message_is_not_drawn() -> None:
    made = trial()
    until_s = (made.summary.measure_end_ns - made.summary.first_send_ns) / 1e9
    for panel in panels(made).values():
        for line in panel.lines:
            assert max(at_s for at_s, _ in line.points) < until_s
            assert len(line.points) <= courses.STEPS + 1
            assert [at_s for at_s, _ in line.points] == sorted(at_s for at_s, _ in line.points)


def test_throughput_over_time_is_what_the_intervals_counted() -> None:
    made = trial()
    (line,) = panels(made)["Throughput"].lines
    mean = sum(value for _, value in line.points) / len(line.points)
    rates = [
        one.counters.ok * 1e9 / (one.end_ns - one.start_ns)
        for one in made.intervals
        if one.start_ns >= made.summary.first_send_ns
    ]
    assert mean == pytest.approx(sum(rates) / len(rates), rel=0.1)


def test_errors_have_a_panel_where_a_message_failed() -> None:
    made = trial()
    first, *rest = made.intervals
    counters = first.counters.model_copy(update={"errors": {"timeout": 3}})
    changed = (first.model_copy(update={"counters": counters}), *rest)
    assert "Errors" in panels(made.model_copy(update={"intervals": changed}))


def test_the_page_has_them_beside_each_other(report: ReportModel) -> None:
    page = html.render(report)
    assert "Over time" in page
    assert "Throughput over time, 20 trials: " in page


def test_a_page_of_too_many_trials_has_none(
    report: ReportModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert view.section(report).blocks
    monkeypatch.setattr(courses, "MOST_TRIALS", len(report.trials) - 1)
    assert not view.section(report).blocks


def test_a_run_too_short_to_have_a_course_is_left_out() -> None:
    made = trial()
    short = made.model_copy(update={"intervals": made.intervals[:5]})
    others = [one for one in demo_trials(blocks=1) if one.scenario.name != made.scenario.name]
    model = build([short, *others], question="Q?", title="T", command="c")
    group = next(g for g in model.groups if made.scenario.name in g.called)
    shown = {line.scenario for line in courses.of_group(group, model.trials)[0].lines}
    assert shown
    assert group.called[made.scenario.name] not in shown
