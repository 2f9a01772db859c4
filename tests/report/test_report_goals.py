"""Goals held against a run: failures count as requests that no time answered, whoever asks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.report.synthetic import DEMO, demo_trials
from wiretrial.goals import Goal
from wiretrial.report import gate, goal_metrics
from wiretrial.report.goal_metrics import Outcome
from wiretrial.report.measures import Measured
from wiretrial.results.model import Trial

RUN = next(trial for trial in demo_trials(blocks=1, seed=1) if trial.scenario.name == DEMO[0].name)
HOUR = 3600e9


def goal(figure: str, value: float = HOUR) -> Goal:
    return Goal(figure=figure, relation="<", value=value)


def with_failures(share: float, trial: Trial = RUN) -> Trial:
    """The run in which this share of the messages failed, in each interval."""
    intervals = []
    for one in trial.intervals:
        failed = round(one.counters.ok * share / (1 - share))
        counters = one.counters.model_copy(update={"errors": {"status": failed}})
        intervals.append(one.model_copy(update={"counters": counters}))
    return trial.model_copy(update={"intervals": tuple(intervals)})


def cut(trial: Trial, intervals: int) -> Trial:
    """Only so many intervals of what counts."""
    inside = [one for one in trial.intervals if one.start_ns >= trial.window.start_ns]
    kept = tuple(inside[:intervals])
    window = trial.window.model_copy(
        update={"start_ns": kept[0].start_ns, "end_ns": kept[-1].end_ns}
    )
    return trial.model_copy(update={"intervals": kept, "window": window})


def overloaded(trial: Trial) -> Trial:
    judgement = trial.judgement.model_copy(update={"verdict": "overloaded"})
    return trial.model_copy(update={"judgement": judgement})


def judged(trial: Trial, figure: str, value: float = HOUR) -> Outcome:
    (outcome,) = goal_metrics.judge([goal(figure, value)], trial)
    return outcome


def test_failures_make_a_quantile_longer() -> None:
    found = [judged(with_failures(share), "p90").value for share in (0, 0.02, 0.05, 0.09)]
    known = [value for value in found if value is not None]
    assert len(known) == len(found)
    assert all(before <= after for before, after in pairwise(known))
    assert known[0] < known[-1]


def test_a_quantile_among_failures_is_longer_than_any_bound() -> None:
    outcome = judged(with_failures(0.02), "p99")
    assert (outcome.value, outcome.is_kept, outcome.is_beyond) == (None, False, True)
    assert outcome.of_replies
    assert "p99 lies among the" in outcome.line
    assert outcome.line.startswith("missed: p99 < ")
    assert judged(with_failures(0.02), "p50").is_kept


def test_one_failure_is_longer_than_the_longest_time() -> None:
    outcome = judged(with_failures(0.02), "max")
    assert not outcome.is_kept
    assert "failed, which is longer than any time" in outcome.line
    assert judged(RUN, "max").is_kept


def test_what_cannot_be_told_says_how_many_replies_are_needed() -> None:
    short = cut(RUN, 1)
    replies = Measured(short).waiting_time.count
    assert replies < 100_000
    outcome = judged(short, "p9999")
    assert outcome.line.endswith(
        f"(cannot be told: p99.99 needs 100,000 replies; {replies:,} came)"
    )
    assert (outcome.is_kept, outcome.is_beyond) == (False, False)


@pytest.mark.parametrize("figure", ["p50", "p99", "max", "mean"])
def test_of_a_rate_that_was_not_reached_no_time_is_told(figure: str) -> None:
    outcome = judged(overloaded(RUN), figure)
    assert (outcome.value, outcome.is_kept) == (None, False)
    assert "so it grows with the run" in outcome.line


@pytest.mark.parametrize(
    ("trial", "figure", "wanted"),
    [
        (RUN, "p99", "kept"),
        (with_failures(0.02), "p50", "kept"),
        (with_failures(0.02), "p99", "broken"),
        (with_failures(0.02), "max", "broken"),
        (cut(RUN, 1), "p9999", "cannot tell"),
    ],
)
def test_the_gate_decides_as_the_run_does(trial: Trial, figure: str, wanted: str) -> None:
    scenario = trial.scenario.model_copy(update={"goals": (goal(figure),)})
    trial = trial.model_copy(update={"scenario": scenario})
    (row,) = gate.decide([trial], [], gate.of_goals([scenario]), is_run=True)
    assert row.outcome == wanted, row.text
    assert judged(trial, figure).is_kept == (wanted == "kept")


def test_a_threshold_of_ones_own_is_decided_likewise() -> None:
    name = "response" if Measured(RUN).is_open_loop else "service"
    (row,) = gate.decide([with_failures(0.02)], [], [gate.parse(f"{name}.p99 <= 1h")], is_run=True)
    assert row.outcome == "broken"
    assert "lies among the" in row.text
