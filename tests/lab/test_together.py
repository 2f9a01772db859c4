"""Several trials at a time: how many, in which order, and what becomes of them when one leaves."""

from __future__ import annotations

import threading
from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest

from tests.lab.conftest import Children
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import estimate, events, matrix, runner
from wiretrial.studies.document import Document
from wiretrial.studies.spec import Study
from wiretrial.studies.together import Begun, Ended, Job, Said, together


def document(**more: object) -> Document:
    """Five scenarios, the A/A pair's second among them, that wait for half a second to two."""
    workload = {
        "name": "waits",
        "protocol": "http",
        "contract": "rest",
        "connections": 2,
        "requests_each": [4, 5, 6, 12],
        "delay_ms": [100],
        "together": 3,
    }
    return Document.model_validate(
        {
            "title": "t",
            "question": "q",
            "subjects": ["reference"],
            "trials": 1,
            "workload": [workload | more],
        }
    )


class Crowd:
    """Jobs that wait until they may go on, and note how many run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.now = 0
        self.most = 0
        self.closed: list[str] = []
        self.go = threading.Event()

    def job(self, name: str, fails: bool = False) -> Generator[str, None, str]:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            yield f"{name} began"
            while not self.go.wait(0.01):
                yield f"{name} waits"
            if fails:
                raise RuntimeError(name)
            return name.upper()
        finally:
            with self._lock:
                self.now -= 1
                self.closed.append(name)


def test_no_more_run_than_may_and_each_ends_with_its_result() -> None:
    crowd = Crowd()
    jobs = [Job(name, partial(crowd.job, name, fails=name == "c")) for name in "abcde"]
    begun: list[str] = []
    outcomes: dict[str, object] = {}
    for message in together(jobs, 2):
        match message:
            case Begun(key):
                begun.append(key)
            case Said(key, told):
                assert told.startswith(key)
                if len(begun) == 2 and crowd.most == 2:
                    crowd.go.set()
            case Ended(key, outcome):
                outcomes[key] = outcome
    assert begun == list("abcde")
    assert crowd.most == 2
    failed = outcomes.pop("c")
    assert isinstance(failed, RuntimeError)
    assert outcomes == {"a": "A", "b": "B", "d": "D", "e": "E"}
    assert sorted(crowd.closed) == list("abcde")


def test_leaving_closes_those_that_run_and_begins_no_other() -> None:
    crowd = Crowd()
    stream = together([Job(name, partial(crowd.job, name)) for name in "abcd"], 3)
    told = 0
    for message in stream:
        told += isinstance(message, Said)
        if told == 6:
            break
    before = threading.active_count()
    stream.close()  # type: ignore[attr-defined]
    assert crowd.now == 0
    assert "d" not in crowd.closed
    assert threading.active_count() == before - len(crowd.closed)


def study(**more: object) -> Study:
    return matrix.expand("t", document(**more), command="-", seed=1)


def test_only_what_waits_may_run_beside_others() -> None:
    with pytest.raises(
        UsageProblem, match=r"together = 3: reference: .* has no known waiting time"
    ):
        study(delay_ms=[0])


def test_the_estimate_is_that_of_a_share_each() -> None:
    alone, shared = (estimate.estimate(study(together=n)).total_ns for n in (1, 3))
    assert shared == pytest.approx(alone / 3, rel=0.01)


def test_trials_run_beside_each_other_and_each_is_kept_whole(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    wanted = study()
    results = ResultsFolder.create(tmp_path, "t", wanted.model_dump_json(by_alias=True))
    seen = list(runner.run(wanted, results, engine))
    trials = results.trials()
    assert {trial.scenario.name for trial in trials} == {c.scenario.name for c in wanted.cases}
    for trial in trials:
        each = trial.scenario.levels["requests_each"]
        assert trial.summary.counters.ok == 2 * int(each)
        assert trial.scenario.together == 3
        assert trial.judgement.verdict != "invalid"
    numbers = [event.number for event in seen if isinstance(event, events.TrialDone)]
    assert sorted(numbers) == [1, 2, 3, 4, 5]
    # The longest is among those that begin first, and others begin while it is at it.
    spans = {}
    for trial in trials:
        begun = trial.start.started_unix_ns
        spans[trial.scenario.name] = (begun, begun + trial.summary.end_ns)
    longest = max(spans.values(), key=lambda span: span[1] - span[0])
    assert sum(begin < longest[1] for begin, _ in spans.values()) >= 3
    assert children() == []
    assert list(runner.run(wanted, results, engine)) == []


def test_leaving_a_study_ends_all_that_run_beside_each_other(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    wanted = study()
    results = ResultsFolder.create(tmp_path, "t", wanted.model_dump_json(by_alias=True))
    stream = runner.run(wanted, results, engine)
    for event in stream:
        if isinstance(event, events.Seen):
            break
    stream.close()  # type: ignore[attr-defined]
    assert children() == []
