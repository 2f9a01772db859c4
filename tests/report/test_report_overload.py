"""An open loop beyond its limit: its throughput counts, its response times rank nobody."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest
from hdrh.histogram import HdrHistogram

from tests.report.synthetic import DEMO, demo_trials
from wiretrial import warnings
from wiretrial.report import brief, load_lines, metrics
from wiretrial.report.model import ReportModel, build
from wiretrial.report.text import render
from wiretrial.results import hdr
from wiretrial.results.model import Judgement, Trial
from wiretrial.snapshot import Generator

SHAPES = tuple(replace(shape, offered=10_000.0) for shape in DEMO[:2])
SLOW, QUICK = SHAPES[0].name, SHAPES[1].name
OVERLOADED = Judgement(
    verdict="overloaded",
    bottleneck="server",
    evidence="the offered rate was not reached; the server was the bottleneck (its CPU 99 % busy)",
)


def made(blocks: Collection[int]) -> ReportModel:
    """Two scenarios of which one is overloaded in these blocks."""
    trials = [
        trial.model_copy(update={"judgement": OVERLOADED})
        if trial.scenario.name == SLOW and trial.block in blocks
        else trial
        for trial in demo_trials(shapes=SHAPES)
    ]
    return build(trials, question="Q?", title="T", command="again")


@pytest.mark.parametrize("blocks", [{0}, {0, 1, 2, 3, 4}])
def test_its_response_times_are_in_no_ranking(blocks: set[int]) -> None:
    model = made(blocks)
    (group,) = model.groups
    scenarios = {scenario.name: scenario for scenario in group.scenarios}
    assert group.contest.metric is metrics.P99
    assert metrics.P99.key not in scenarios[SLOW].estimates
    assert metrics.THROUGHPUT.key in scenarios[SLOW].estimates
    assert {pair.verdict for pair in group.contest.pairs[metrics.P99.key]} == {"invalid"}
    assert [row.verdict for _, row in model.marked] == ["overloaded"] * len(blocks)
    text = render(model)
    assert "overloaded" in text
    assert "the offered rate was not reached" in " ".join(text.split())


def test_the_verdict_says_that_the_rate_was_not_reached() -> None:
    found = made({0, 1, 2, 3, 4}).findings[0]
    assert (found.kind, found.metric, found.leaders) == ("overloaded", metrics.P99, (SLOW,))
    assert (
        made({0})
        .verdict_sentences[0]
        .startswith(f"The p99 of {SLOW} is not ranked: the offered rate was not reached.")
    )


def test_a_table_of_workloads_names_nobody_as_its_best() -> None:
    shapes = tuple(
        replace(shape, name=f"{shape.name}, {group}", group=group)
        for group in ("one", "other")
        for shape in SHAPES
    )
    trials = [
        trial.model_copy(update={"judgement": OVERLOADED})
        if trial.scenario.name.startswith(SLOW)
        else trial
        for trial in demo_trials(shapes=shapes)
    ]
    table = brief.overview(build(trials, question="Q?", title="T", command="again"))
    assert table is not None
    assert [row[1:] for row in table.rows] == [("rate not reached, not ranked", "", "", "")] * 2


def test_where_nobody_is_overloaded_response_times_are_compared() -> None:
    (group,) = made(()).groups
    assert "invalid" not in {pair.verdict for pair in group.contest.pairs[metrics.P99.key]}


def overloaded() -> Trial:
    (trial, *_) = demo_trials(blocks=1, shapes=SHAPES)
    return trial.model_copy(update={"judgement": OVERLOADED})


def test_a_load_says_so_and_prints_its_figures() -> None:
    text = " ".join(load_lines.render(overloaded()).split())
    assert "Verdict: overloaded. The offered rate was not reached" in text
    assert "; it grows with the run" in text
    assert "/s, all verified" in text


@pytest.mark.parametrize(
    ("utilisation", "full", "found"),
    [(0.23, True, "no-free-connection"), (0.23, False, "late-sends"), (0.9, True, "late-sends")],
)
def test_more_threads_are_advised_to_a_busy_generator_only(
    utilisation: float, full: bool, found: str
) -> None:
    trial = overloaded()
    in_flight = trial.plan.load.connections if full else 0
    lag = HdrHistogram(hdr.LOWEST_NS, hdr.HIGHEST_NS, hdr.SIGNIFICANT_DIGITS)
    lag.record_value(50_000_000, 2000)
    late = lag.encode().decode("ascii")
    slow = {**trial.summary.histograms, "pacing_lag": late}
    del slow["service_time"]
    kept = trial.model_copy(
        update={
            "judgement": OVERLOADED.model_copy(update={"verdict": "valid"}),
            "intervals": tuple(
                one.model_copy(
                    update={"counters": one.counters.model_copy(update={"in_flight": in_flight})}
                )
                for one in trial.intervals
            ),
            "summary": trial.summary.model_copy(
                update={
                    "histograms": slow,
                    "generator": Generator(loop_utilisation=utilisation),
                }
            ),
        }
    )
    (warning,) = [
        one for one in warnings.of_trial(kept) if one.code in ("late-sends", "no-free-connection")
    ]
    assert warning.code == found
    assert ("more threads" in warning.advice) == (found == "late-sends")
    beyond = kept.model_copy(update={"judgement": OVERLOADED})
    codes = {one.code for one in warnings.of_trial(beyond)}
    assert "overloaded" in codes
    assert not codes & {"late-sends", "no-free-connection"}
    # The rates that are not sustained are what a search looks for.
    step = beyond.scenario.model_copy(update={"search": beyond.scenario.name})
    assert "overloaded" not in {
        one.code for one in warnings.of_trial(beyond.model_copy(update={"scenario": step}))
    }
