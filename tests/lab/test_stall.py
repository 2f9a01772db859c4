"""A server that stops answering: how long that may last, and what becomes of the trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.conftest import Children
from tests.lab.test_subjects import own
from tests.lab.test_verify import pool
from tests.lab.trials import SECOND_NS, interval, summary
from wiretrial.engine import Engine
from wiretrial.plan import ClosedLoop, Load, OpenLoop
from wiretrial.results.model import Trial
from wiretrial.snapshot import Counters, Interval
from wiretrial.studies import judge, stall
from wiretrial.studies import trial as trials
from wiretrial.studies.bench import Bench
from wiretrial.studies.contracts import case as case_of
from wiretrial.studies.contracts import request
from wiretrial.studies.events import Seen
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready
from wiretrial.studies.spec import Case, Study
from wiretrial.studies.stall import Watch
from wiretrial.subjects import build
from wiretrial.subjects.spec import ContractName, Subject

PATIENCE_NS = 3 * SECOND_NS


def seen(replies: list[int], wanted: int = 100, **more: object) -> Watch:
    """What a watch saw that was shown one interval of a second per number of replies."""
    watch = Watch(PATIENCE_NS, wanted)
    for index, ok in enumerate(replies):
        one = interval(index, ok=ok, step_ns=SECOND_NS)
        watch.see(one.model_copy(update=more))
    return watch


@pytest.mark.parametrize(
    ("replies", "stalled_after"),
    [
        ([10] * 10, None),
        ([10, 0, 0, 10, 0, 0, 10], None),
        ([10, 0, 0, 0], 10),
        ([10, 5, 0, 0, 0, 7], 15),
        ([0, 0, 0, 0], 0),
        ([50, 50, 0, 0, 0, 0], None),
    ],
)
def test_only_silence_before_the_end_is_a_stall(
    replies: list[int], stalled_after: int | None
) -> None:
    found = seen(replies).stall
    assert (found and found.replies) == stalled_after


def test_failures_are_answers_and_connecting_is_no_silence() -> None:
    failing = Counters(sent=1, errors={"mismatch": 1})
    assert seen([0] * 9, counters=failing).stall is None
    assert seen([0] * 9, phase="connect").stall is None


def test_a_run_is_given_up_once() -> None:
    watch = Watch(PATIENCE_NS, 100)
    silent = [interval(index, ok=0, step_ns=SECOND_NS) for index in range(9)]
    assert [watch.see(one) for one in silent].count(True) == 1
    assert watch.stall is not None
    assert watch.stall.words == "no reply for 3 s after 0 of 100"


def counted(delay_ms: int = 0, threads: int = 4, environment: str = "loopback") -> Case:
    """Ten producers of 200 messages each."""
    one = case_of(
        name="one",
        subject="-",
        configuration="default",
        protocol="http",
        contract="rest",
        payload=request("rest", "json").message.source,
        load=Load(connections=10, requests_per_connection=1),
        workload="-",
    )
    where = one.scenario.model_copy(update={"environment": environment})
    return one.model_copy(
        update={
            "scenario": where,
            "requests_each": 200,
            "delay_ms": delay_ms,
            "server_threads": threads,
        }
    )


@pytest.mark.parametrize(
    ("case", "seconds"),
    [
        (counted(), 6),
        (counted(delay_ms=200, threads=28), 6),
        (counted(delay_ms=200, threads=4), 12),
        (counted(delay_ms=200, threads=1), 40),
        (counted(environment="vpn"), 6),
        (counted(delay_ms=200, threads=28, environment="vpn"), 6.08),
    ],
)
def test_patience_is_a_multiple_of_an_exchange_and_some_seconds_at_least(
    case: Case, seconds: float
) -> None:
    assert stall.patience_ns(case) == pytest.approx(seconds * SECOND_NS)


def test_only_closed_loops_that_are_counted_are_watched() -> None:
    case = counted()
    assert isinstance(case.load.executor, ClosedLoop)
    assert stall.is_watched(case)
    assert not stall.is_watched(case.model_copy(update={"requests_each": None}))
    open_ = case.load.model_copy(update={"executor": OpenLoop(rate=10)})
    assert not stall.is_watched(case.model_copy(update={"load": open_}))


def test_a_stall_is_the_verdict_whatever_else_went_wrong() -> None:
    from tests.lab.test_judge import CLOSED, WINDOW

    stopped = summary(ok=7, errors={"timeout": 1}).model_copy(update={"end": "interrupted"})
    known = judge.Known(stalled="no reply for 6 s after 7 of 200")
    found = judge.judge([interval(0, ok=7)], stopped, WINDOW, CLOSED, known)
    assert (found.verdict, found.bottleneck) == ("stalled", "server")
    assert found.evidence == "no reply for 6 s after 7 of 200"
    died = judge.Known(stalled="no reply", server_died="signal SIGKILL")
    assert judge.judge([interval(0)], stopped, WINDOW, CLOSED, died).verdict == "invalid"


def measured(
    engine: Engine, subject: Subject, contract: ContractName, *, threads: int, each: int = 20
) -> Trial:
    """One trial of four producers, without the verification that comes before it in a study."""
    asked = request(contract)
    case = counted(threads=threads).model_copy(
        update={
            "contract": contract,
            "path": asked.path,
            "message": asked.message,
            "expect": asked.expect,
            "requests_each": each,
            "load": Load(connections=4),
            "sources": (),
        }
    )
    study = Study(
        name="w",
        title="T",
        question="Q?",
        command="c",
        cases=(case,),
        trials=1,
        seed=1,
        duration_ns=SECOND_NS,
        warmup_allowance_ns=0,
    )
    ready = Ready(subject, build.install(subject, engine.binary))
    run = trials.measure(Bench(study, engine, {}), case, Slot(0, 0, "one", 1), ready)
    events = []
    while True:
        try:
            events.append(next(run))
        except StopIteration as ended:
            assert any(isinstance(e, Seen) and isinstance(e.snapshot, Interval) for e in events)
            trial: Trial = ended.value
            return trial


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A short patience, and a cache of its own."""
    monkeypatch.setattr(stall, "LEAST_NS", 2 * SECOND_NS)
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))
    return tmp_path


def test_a_pool_whose_threads_wait_for_each_other_is_stalled(
    engine: Engine, children: Children, hasty: Path
) -> None:
    trial = measured(engine, pool(hasty, "deadlock"), "rest", threads=2)
    assert trial.judgement.verdict == "stalled"
    counters = trial.summary.counters
    assert trial.judgement.evidence.startswith("no reply for 2")
    assert trial.judgement.evidence.endswith(f"after {counters.ok} of 80")
    assert counters.ok < 80
    assert counters.errors == {}
    assert [warning.code for warning in trial.warnings if warning.code == "partial"] == []
    assert [warning.code for warning in trial.warnings if warning.code == "stalled"] == ["stalled"]
    assert children() == []


@pytest.mark.alone
def test_with_more_threads_than_producers_the_same_pool_is_not(engine: Engine, hasty: Path) -> None:
    trial = measured(engine, pool(hasty, "deadlock"), "rest", threads=8)
    assert trial.judgement.verdict in ("valid", "client-bound")
    assert trial.summary.counters.ok == 80


def test_one_silent_connection_is_a_stall_when_the_others_are_done(
    engine: Engine, hasty: Path
) -> None:
    subject = own(hasty, "--fault", "silent@33")
    trial = measured(engine, subject, "http-echo", threads=1)
    assert trial.judgement.verdict == "stalled"
    assert 32 <= trial.summary.counters.ok < 80
    assert trial.summary.counters.errors == {}
