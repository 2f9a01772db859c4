"""Rates of sessions that trials decide, for real: one that all sustain, and the highest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.conftest import Children
from tests.lab.test_matrix import written
from tests.lab.test_own_traffic import mine
from tests.lab.test_verify import cache_for_own
from wiretrial.cli import reports
from wiretrial.engine import Engine
from wiretrial.plan import OpenLoop
from wiretrial.report import kept as kept_trials
from wiretrial.report import markdown, metrics
from wiretrial.report.measures import Measured
from wiretrial.results import kept
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import admission, events, matrix, rates, runner
from wiretrial.studies.spec import Study
from wiretrial.subjects import verification

__all__ = ["cache_for_own"]

pytestmark = pytest.mark.alone

STUDY = """
title = "Which?"
question = "Which costs least?"
subjects = ["SUBJECT"]
trials = 1
duration = "300ms"
warmup = "100ms"

[[workload]]
name = "session"
traffic = "shop.toml"

[[workload]]
name = "at one rate"
traffic = "shop.toml"
rate = "common"
rate_of = "session"
rate_share = 0.5

[[workload]]
name = "the highest rate"
traffic = "shop.toml"
knee = { quantile = 0.5, objective = "5s", first = 20, ceiling = 40, tolerance = 0.5 }
cpus = 1
shares = [0.3, 0.6]
"""


@pytest.fixture(autouse=True)
def verified_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verification of this server takes longer than its trials, and is tested."""
    monkeypatch.setattr(verification, "ensure", lambda *_: object())
    monkeypatch.setattr(admission, "refusal", lambda *_: None)


def knee_of(study: Study, steps: list[Trial]) -> float:
    """What the search found."""
    case = study.case(str(steps[0].scenario.search))
    assert case.knee is not None
    length, each = study.duration_of(case), rates.replies_each(case)
    made = [rates.step(case.knee, trial) for trial in steps]
    highest = rates.search(case.knee, length, made, each).confirmed
    assert highest is not None
    return highest


def rate_of(trial: Trial) -> float:
    """Sessions per second that it was asked for."""
    executor = trial.plan.load.executor
    assert isinstance(executor, OpenLoop)
    return executor.rate


def test_sessions_are_asked_at_a_common_rate_and_at_higher_and_higher_ones(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    subject = mine(tmp_path)
    document = written(tmp_path, STUDY.replace("SUBJECT", f"{subject.folder}/"))
    wanted = matrix.expand("shop", document, command="again", seed=3)
    results = ResultsFolder.create(tmp_path, "shop", wanted.document())
    seen = list(runner.run(wanted, results, engine))
    wrong = [one for one in seen if isinstance(one, events.TrialFailed | events.Unavailable)]
    assert wrong == []
    assert children() == []

    trials = results.trials()
    by_workload: dict[object, list[Trial]] = {}
    for trial in trials:
        assert trial.summary.counters.errors == {}
        by_workload.setdefault(trial.scenario.levels["workload"], []).append(trial)
    at_rate, again = by_workload["at one rate"]
    case = wanted.case(at_rate.scenario.name)
    assert case.rate_from is not None
    assert rate_of(at_rate) == rates.common(case.rate_from, by_workload["session"])
    assert rate_of(again) == rate_of(at_rate)

    # A session has four requests, so that 20 sessions are enough to tell a median.
    searched = [one for one in by_workload["the highest rate"] if one.scenario.search]
    below = [one for one in by_workload["the highest rate"] if not one.scenario.search]
    assert rate_of(searched[0]) == 20.0
    assert all(18 < rate_of(trial) <= 40 for trial in searched)
    # Once it has ended, shares of what it found are asked, too.
    last = max(trial.started_at for trial in searched)
    assert all(trial.started_at > last for trial in below)
    highest = knee_of(wanted, searched)
    assert {rate_of(trial) for trial in below} == {
        rates.below(highest, share) for share in (0.3, 0.6)
    }
    told = reports.whole(ResultsFolder.open(results.folder))
    (knee,) = told.knees
    assert [step.offered for step in knee.steps] == [rate_of(trial) for trial in searched]
    assert knee.what.many == "sessions"
    (capacity,) = told.capacities
    assert capacity.goal == "p50 within 5 s"
    assert capacity.measured is not None
    assert capacity.measured.median == highest
    shown = markdown.render(told)
    assert "sessions/s" in shown
    # The memory of a whole server is told where sessions are sent.
    assert (metrics.MEMORY.of(Measured(at_rate)) or 0) > 0
    assert "memory" in shown

    # Kept with one trial, the search is as complete as it was: nothing is measured once more.
    *_, least = kept_trials.smaller(results, reports.objectives(results))
    file = tmp_path / f"least{kept.SUFFIX}"
    file.write_bytes(kept_trials.packed(results, least))
    fewer = kept.unpack(file, tmp_path / "again")
    assert len(fewer.paths()) == len(trials) - len(searched) + 1
    assert list(runner.run(wanted, fewer, engine)) == []
    assert reports.whole(fewer).knees == told.knees
