"""A tiny study, run for real: reference server and Node, the engine, storage, resumption."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import Children
from tests.lab.test_isolation import needs_root
from tests.lab.test_subjects import own
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.machine import facts
from wiretrial.machine.namespaces import ENVIRONMENT
from wiretrial.plan import Load, SequencePayload
from wiretrial.results.store import ResultsFolder, read_trial
from wiretrial.snapshot import Interval
from wiretrial.studies import events, runner
from wiretrial.studies.contracts import JSON_MESSAGE, case
from wiretrial.studies.estimate import estimate
from wiretrial.studies.spec import Case, Study, parse
from wiretrial.subjects.spec import ContractName, Protocol

LOAD = Load(connections=4)
FRESH = Load(connections=4, requests_per_connection=1)


def tiny(*cases: Case, trials: int = 2, duration_ns: int = 300_000_000) -> Study:
    """A study of a few seconds."""
    return Study(
        name="tiny",
        title="Which?",
        question="Which is faster?",
        command="wiretrial compare",
        cases=cases,
        trials=trials,
        seed=3,
        duration_ns=duration_ns,
        warmup_allowance_ns=200_000_000,
    )


def scenario(
    name: str, subject: str, protocol: Protocol, contract: ContractName, load: Load = LOAD
) -> Case:
    """One case with a message that differs each time."""
    return case(
        name=name,
        subject=subject,
        configuration="default",
        protocol=protocol,
        contract=contract,
        payload=JSON_MESSAGE if contract != "raw-echo" else SequencePayload(bytes=64),
        load=load,
        workload="64 bytes",
    )


TWO = (
    scenario("reference, WebSocket", "reference", "ws", "ws-echo"),
    scenario("Node, HTTP", "ws", "http", "http-echo"),
)


@pytest.fixture
def results(tmp_path: Path, children: Children) -> Iterator[ResultsFolder]:
    study = tiny(*TWO)
    yield ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    assert children() == []


@pytest.mark.alone
def test_every_trial_is_measured_verified_and_stored(
    engine: Engine, results: ResultsFolder
) -> None:
    study = parse(results.document())
    seen = list(runner.run(study, results, engine))
    done = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert [event for event in seen if isinstance(event, events.TrialFailed)] == []
    assert results.trials() == done
    assert {(trial.block, trial.scenario.name) for trial in done} == {
        (block, one.scenario.name) for block in (0, 1) for one in TWO
    }
    for trial in done:
        counters = trial.summary.counters
        assert counters.ok > 0
        assert counters.sent == counters.ok + sum(counters.errors.values()) + counters.in_flight
        assert counters.errors == {}
        assert trial.judgement.verdict in ("valid", "client-bound")
        assert sum(interval.counters.ok for interval in trial.intervals) == counters.ok
        assert trial.study_digest == study.digest()
        assert trial.subject is not None
        assert trial.subject.version
        assert trial.subject.digest
        first, *_, last = trial.subject_samples
        assert last.cpu_user_ns + last.cpu_system_ns > first.cpu_user_ns + first.cpu_system_ns
        assert first.offset_ns < trial.window.start_ns < trial.window.end_ns
        assert trial.machine.facts["kernel"] == os.uname().release


def test_another_occasion_is_measured_beside_what_is_there(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tiny(TWO[0], trials=2)
    results = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    assert runner.next_occasion(results) == 1
    list(runner.run(study, results, engine))
    with pytest.raises(UsageProblem) as told:
        runner.next_occasion(results)
    assert "has trials of this boot of this machine (occasion 1)" in told.value.line()
    before = {path: path.read_bytes() for path in results.paths()}
    monkeypatch.setattr(facts, "boot", lambda: "another")
    assert runner.next_occasion(results) == 2
    list(runner.run(study, results, engine, 2))
    places = [(trial.occasion, trial.block) for trial in results.trials()]
    assert places == [(1, 0), (1, 1), (2, 2), (2, 3)]
    assert all(path.read_bytes() == content for path, content in before.items())
    # What is interrupted goes on with the last occasion, and then nothing is missing.
    results.paths()[-1].unlink()
    list(runner.run(study, results, engine))
    assert [(trial.occasion, trial.block) for trial in results.trials()] == places


def test_what_another_day_would_not_change_is_left_out_of_an_added_occasion(
    engine: Engine, tmp_path: Path
) -> None:
    plain = tiny(*TWO, trials=2)
    first, second = plain.cases
    study = plain.model_copy(update={"cases": (first, second.model_copy(update={"occasions": 1}))})
    assert study.digest() == plain.digest(), "as it is with trials"
    assert runner.trials_wanted(study) == 4
    assert runner.trials_wanted(study, 2) == 2
    assert (
        estimate(study, 2).total_ns
        == estimate(study.model_copy(update={"cases": (first,)})).total_ns
    )
    results = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    list(runner.run(study, results, engine))
    list(runner.run(study, results, engine, 2))
    measured = Counter((trial.occasion, trial.scenario.name) for trial in results.trials())
    names = [case.scenario.name for case in study.cases]
    assert measured == {(1, names[0]): 2, (1, names[1]): 2, (2, names[0]): 2}
    # Nothing is missing.
    list(runner.run(study, results, engine))
    assert len(results.trials()) == 6


def test_every_protocol_goes_through_tls_too(engine: Engine, tmp_path: Path) -> None:
    study = tiny(
        scenario("https", "reference", "https", "http-echo"),
        scenario("wss", "reference", "wss", "ws-echo"),
        scenario("tls", "reference", "tls", "raw-echo"),
        trials=1,
    )
    folder = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    seen = list(runner.run(study, folder, engine))
    done = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert {trial.scenario.protocol for trial in done} == {"https", "wss", "tls"}
    for trial in done:
        assert trial.start.tls
        assert trial.plan.target.tls.ca_file
        assert not trial.plan.target.tls.insecure
        assert trial.summary.counters.ok > 0
        assert trial.summary.counters.errors == {}


def test_left_in_the_middle_it_goes_on_where_it_stopped(
    engine: Engine, children: Children, results: ResultsFolder
) -> None:
    study = parse(results.document())
    seen = runner.run(study, results, engine)
    for event in seen:
        # In the middle of the second trial, with a server and an engine running.
        if isinstance(event, events.Seen) and results.paths() and children():
            break
    assert isinstance(seen, Iterator)
    seen.close()  # type: ignore[attr-defined]
    assert children() == []
    (kept,) = results.paths()
    before = kept.read_bytes()

    rest = list(runner.run(study, results, engine))
    assert sum(isinstance(event, events.TrialDone) for event in rest) == 3
    assert len(results.paths()) == 4
    assert kept.read_bytes() == before
    assert list(runner.run(study, results, engine)) == []


def test_another_study_s_folder_is_refused(engine: Engine, results: ResultsFolder) -> None:
    study = parse(results.document()).model_copy(update={"trials": 1})
    list(runner.run(study, results, engine))
    edited = study.model_copy(update={"duration_ns": 1})
    with pytest.raises(UsageProblem, match="another study"):
        list(runner.run(edited, results, engine))


def test_more_trials_are_the_same_study() -> None:
    study = tiny(*TWO)
    assert study.model_copy(update={"trials": 10}).digest() == study.digest()
    assert study.model_copy(update={"seed": 4}).digest() != study.digest()
    assert tiny(TWO[0]).digest() != study.digest()


def test_a_subject_that_is_not_to_be_had_stops_nothing_else_and_takes_no_time(
    engine: Engine, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    own(broken, "--fault", "wrong@60")
    study = tiny(
        scenario("broken", f"{broken}/", "ws", "ws-echo"),
        scenario("reference, WebSocket", "reference", "ws", "ws-echo"),
        trials=1,
    )
    folder = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    seen = list(runner.run(study, folder, engine))
    (left_out,) = [event for event in seen if isinstance(event, events.Unavailable)]
    assert "broken is not measured: it needs parts of ws-echo over ws" in left_out.reason
    assert "many: 100 messages on one connection: 64 bytes came back" in left_out.reason
    done = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert [trial.scenario.name for trial in done] == ["reference, WebSocket"]
    (begun,) = [event for event in seen if isinstance(event, events.TrialBegun)]
    alone = estimate(tiny(TWO[0], trials=1))
    assert (begun.number, begun.total, begun.left_ns) == (1, 1, alone.total_ns)


def test_a_server_that_dies_in_the_middle_ends_the_trial_at_once(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    study = tiny(TWO[0], trials=1, duration_ns=120_000_000_000)
    folder = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    killed = False
    trials = []
    for event in runner.run(study, folder, engine):
        if isinstance(event, events.Seen) and isinstance(event.snapshot, Interval) and not killed:
            (server,) = [child for child in children() if child.cmdline()[1:2] == ["respond"]]
            os.kill(server.pid, signal.SIGKILL)
            killed = True
        if isinstance(event, events.TrialDone):
            trials.append(event.trial)
    assert killed
    (trial,) = trials
    assert trial.judgement.verdict == "invalid"
    assert "the server died in the middle: signal SIGKILL" in trial.judgement.evidence
    assert trial.summary.measure_end_ns < 60_000_000_000


@needs_root
def test_a_scenario_may_ask_for_a_namespace(engine: Engine, tmp_path: Path) -> None:
    one = scenario("reference, HTTP", "reference", "http", "http-echo", load=FRESH)
    there = one.scenario.model_copy(update={"environment": ENVIRONMENT})
    study = tiny(one.model_copy(update={"scenario": there}), trials=1)
    folder = ResultsFolder.create(tmp_path, "tiny", study.model_dump_json(by_alias=True))
    seen = list(runner.run(study, folder, engine))
    (trial,) = [event.trial for event in seen if isinstance(event, events.TrialDone)]
    assert trial.subject is not None
    assert trial.subject.isolation is not None
    assert trial.subject.isolation.kind == "namespace"
    assert dict(trial.subject.isolation.settings)
    assert trial.summary.counters.ok
    assert not any(trial.summary.counters.errors.values())
    # Addresses of loopback can't reach a namespace: those of the link are used instead.
    assert trial.plan.target.sources
    assert not any(source.startswith("127.") for source in trial.plan.target.sources)
    assert trial.observation is not None
    assert trial.observation.alone
    assert trial.observation.per_connection is None
    assert hash(trial.subject) == hash(read_trial(folder.paths()[0]).subject)
