"""One trial's figures: what counts, and what is kept from counting."""

from __future__ import annotations

import random

import pytest

from tests.report.synthetic import DEMO, TENTH, demo_trials, one_trial
from wiretrial.plan import OpenLoop
from wiretrial.report import metrics
from wiretrial.report.measures import Measured
from wiretrial.results.model import Judgement, Trial, Window


@pytest.fixture(scope="module")
def trial() -> Trial:
    judgement = Judgement(verdict="valid", bottleneck="server", evidence="")
    return one_trial(DEMO[2], 0, 0, 1, judgement, 1.0, random.Random(5))


def with_window(trial: Trial, start: int, end: int) -> Trial:
    window = Window(start_ns=start, end_ns=end, steady=True, rule="test")
    return trial.model_copy(update={"window": window})


def test_warm_up_is_cut(trial: Trial) -> None:
    measured = Measured(trial)
    inside = trial.intervals[4:]
    assert measured.ok == sum(i.counters.ok for i in inside)
    assert measured.throughput == pytest.approx(measured.ok / 2.0)
    assert (
        measured.service_time.count
        == sum(
            Measured(with_window(trial, i.start_ns, i.end_ns)).service_time.count
            for i in inside[:-1]
        )
        + Measured(with_window(trial, inside[-1].start_ns, inside[-1].end_ns)).service_time.count
    )


def test_what_had_no_reply_at_the_end_is_lost_where_failures_are_allowed(trial: Trial) -> None:
    # nginx waits for the end of what it takes for a reply of HTTP/0.9, and its client with it.
    ended = trial.summary.counters.model_copy(
        update={"sent": 100, "ok": 90, "errors": {"status": 4}, "in_flight": 6}
    )
    summary = trial.summary.model_copy(update={"counters": ended})
    allowing = trial.judgement.model_copy(update={"allowed_errors": 0.5})
    changed = trial.model_copy(update={"summary": summary, "judgement": allowing})
    # In a closed loop something is always on its way.
    assert metrics.FAILED.of(Measured(changed)) == 0.04
    load = trial.plan.load.model_copy(update={"executor": OpenLoop(rate=1000)})
    changed = changed.model_copy(update={"plan": trial.plan.model_copy(update={"load": load})})
    assert metrics.FAILED.of(Measured(changed)) == 0.1
    assert metrics.ERRORS.of(Measured(changed)) == 0.04
    forbidding = changed.model_copy(update={"judgement": trial.judgement})
    assert metrics.FAILED.of(Measured(forbidding)) is None


def test_an_interval_that_lies_half_outside_does_not_count(trial: Trial) -> None:
    measured = Measured(with_window(trial, 4 * TENTH + 1, 10 * TENTH - 1))
    assert [i.index for i in measured.counted] == [5, 6, 7, 8]


def test_disturbed_intervals_do_not_count(trial: Trial) -> None:
    paused = trial.intervals[10].model_copy(update={"disturbed": True})
    intervals = (*trial.intervals[:10], paused, *trial.intervals[11:])
    measured = Measured(trial.model_copy(update={"intervals": intervals}))
    assert 10 not in [i.index for i in measured.counted]
    assert measured.counted_ns == 19 * TENTH


def test_an_uncut_run_uses_its_totals(trial: Trial) -> None:
    measured = Measured(with_window(trial, 0, trial.summary.measure_end_ns))
    assert measured.is_whole
    assert measured.ok == trial.summary.counters.ok
    assert measured.counted_ns == trial.summary.measure_end_ns


def test_late_replies_of_the_drain_count(trial: Trial) -> None:
    last = trial.intervals[-1]
    late = last.model_copy(
        update={
            "index": 24,
            "start_ns": last.end_ns,
            "end_ns": last.end_ns + TENTH,
            "phase": "drain",
            "histograms": trial.intervals[0].histograms,
        }
    )
    before = Measured(trial)
    after = Measured(trial.model_copy(update={"intervals": (*trial.intervals, late)}))
    assert after.service_time.count > before.service_time.count
    assert after.throughput == before.throughput


def test_server_cpu_is_the_growth_over_the_window(trial: Trial) -> None:
    measured = Measured(trial)
    assert measured.server_ns == pytest.approx(5.7e3, rel=1e-3)
    shifted = Measured(with_window(trial, 4 * TENTH + 12345, 20 * TENTH + 777))
    assert shifted.server_ns == pytest.approx(5.7e3, rel=1e-3)


def test_without_samples_the_server_cpu_is_unknown(trial: Trial) -> None:
    measured = Measured(trial.model_copy(update={"subject_samples": ()}))
    assert measured.server_ns is None
    assert measured.server_user_ns is None


def test_an_open_loop_waits_from_the_due_instant() -> None:
    shape = DEMO[0].__class__(**{**DEMO[0].__dict__, "offered": 5e3})
    (trial,) = demo_trials(blocks=1, shapes=(shape,))
    measured = Measured(trial)
    assert measured.is_open_loop
    assert measured.waiting_time is measured.response_time
    assert measured.throughput == pytest.approx(5e3, rel=0.02)
