"""Starts that are timed: whom, in which turns, what is kept, and what becomes of one that fails."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.lab.conftest import Children
from tests.lab.test_matrix import GOOD, expanded
from tests.lab.test_study import TWO, scenario, tiny
from tests.lab.test_subjects import OWN
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed
from wiretrial.results import starts
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import estimate, events, runner, starting
from wiretrial.studies.spec import Starts, Study, parse
from wiretrial.subjects import first_reply, spec

COUNT = 2
NAMES = (("reference", "default"), ("ws", "default"))
DELAY_S = 0.3


def timed(study: Study, *names: tuple[str, str], count: int = COUNT) -> Study:
    return study.model_copy(update={"starts": Starts(count=count, subjects=names)})


def folder_of(study: Study, base: Path) -> ResultsFolder:
    return ResultsFolder.create(base, study.name, study.model_dump_json(by_alias=True))


def turns(seen: list[events.Event]) -> list[tuple[str, str]]:
    """Whom each start was of, in order, with what was said of it."""
    return [
        (event.step, event.subject)
        for event in seen
        if isinstance(event, events.Preparing) and event.step.startswith("start ")
    ]


def test_servers_take_turns_and_each_start_is_kept(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    study = timed(tiny(*TWO, trials=1), *NAMES)
    results = folder_of(study, tmp_path)
    seen = list(runner.run(study, results, engine))
    said = turns(seen)
    every = [(f"start {number} of {COUNT}", name) for number in range(3) for name, _ in NAMES]
    assert sorted(said) == sorted(every)
    # Turn by turn: nobody starts twice before all have started once.
    assert [step for step, _ in said] == sorted(step for step, _ in said)
    rows = starts.read(results)
    assert {row.place for row in rows} == {
        (*name, 1, number) for name in NAMES for number in (1, 2)
    }
    done = [event.start for event in seen if isinstance(event, events.StartDone)]
    assert done == list(rows)
    for row in rows:
        assert row.problem is None
        assert row.first_reply_ns is not None
        assert row.resolution_ns is not None
        assert 0 < row.resolution_ns <= row.first_reply_ns
        assert row.pss_bytes
        assert row.version
    # Each is asked for what the study asks it for.
    asked = {row.subject: (row.contract, row.protocol) for row in rows}
    assert asked == {"reference": ("ws-echo", "ws"), "ws": ("http-echo", "http")}
    assert children() == []
    assert list(runner.run(study, results, engine)) == []


def test_only_what_is_missing_is_measured_again(engine: Engine, tmp_path: Path) -> None:
    study = timed(tiny(TWO[0], trials=1), NAMES[0], count=3)
    results = folder_of(study, tmp_path)
    list(runner.run(study, results, engine))
    rows = starts.read(results)
    (results.folder / starts.FILE).unlink()
    starts.keep(results, [row for row in rows if row.number != 2])
    said = [step for step, _ in turns(list(runner.run(study, results, engine)))]
    assert said == ["start 0 of 3", "start 2 of 3"]
    assert {row.number for row in starts.read(results)} == {1, 2, 3}
    assert [row for row in starts.read(results) if row.number != 2] == [
        row for row in rows if row.number != 2
    ]


def test_another_occasion_has_starts_of_its_own(engine: Engine, tmp_path: Path) -> None:
    study = timed(tiny(TWO[0], trials=1), NAMES[0], count=1)
    results = folder_of(study, tmp_path)
    list(runner.run(study, results, engine))
    list(runner.run(study, results, engine, 2))
    assert [(row.occasion, row.number) for row in starts.read(results)] == [(1, 1), (2, 1)]


def test_a_server_that_waits_before_it_listens_takes_as_long(
    engine: Engine, tmp_path: Path
) -> None:
    slow = tmp_path / "own"
    slow.mkdir()
    begin = OWN.index("command = [\n")
    serve = "exec {engine} respond --http {host}:{port} --tcp {host}:{raw_port}"
    text = f'{OWN[:begin]}command = ["sh", "-c", "sleep {DELAY_S}; {serve}"]\n'
    (slow / spec.SPEC_FILE).write_text(text, encoding="utf-8")
    name = f"{slow}/"
    study = timed(
        tiny(scenario("slow", name, "http", "http-echo"), trials=1), (name, "default"), count=1
    )
    results = folder_of(study, tmp_path)
    list(runner.run(study, results, engine))
    (row,) = starts.read(results)
    assert row.first_reply_ns is not None
    assert row.first_reply_ns >= DELAY_S * 1e9


def test_a_start_that_fails_is_told_and_kept_and_stops_nobody_else(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = timed(tiny(*TWO, trials=1), *NAMES)
    results = folder_of(study, tmp_path)
    calls = itertools.count()
    real = first_reply.wait

    def once(*words: object, **named: object) -> first_reply.FirstReply:
        if next(calls) == 0:
            raise SubjectFailed("it gives no right reply after 10 s: refused")
        return real(*words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(first_reply, "wait", once)
    seen = list(runner.run(study, results, engine))
    (failed,) = [event for event in seen if isinstance(event, events.StartFailed)]
    assert failed.reason == "it gives no right reply after 10 s: refused"
    assert sum(isinstance(event, events.TrialDone) for event in seen) == 2
    rows = starts.read(results)
    (lost,) = [row for row in rows if row.problem]
    assert (lost.called, lost.number, lost.first_reply_ns) == (failed.subject, 1, None)
    assert sorted(row.number for row in rows if row.subject != failed.subject) == [1, 2]
    assert not starting.is_complete(study, results, 1)
    # It is tried again, and what it lacked takes the place of what was said of it.
    list(runner.run(study, results, engine))
    assert starting.is_complete(study, results, 1)
    assert all(row.problem is None for row in starts.read(results))


def test_a_start_that_fails_takes_no_measured_one_away(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = timed(tiny(TWO[0], trials=1), NAMES[0])
    results = folder_of(study, tmp_path)
    list(runner.run(study, results, engine))
    first = [row for row in starts.read(results) if row.number == 1]
    (results.folder / starts.FILE).unlink()
    starts.keep(results, first)

    def never(*_words: object, **_named: object) -> first_reply.FirstReply:
        raise SubjectFailed("it gives no right reply after 10 s: refused")

    monkeypatch.setattr(first_reply, "wait", never)
    list(runner.run(study, results, engine))
    assert [(row.number, row.problem is None) for row in starts.read(results)] == [
        (1, True),
        (2, False),
    ]


def test_those_of_the_study_are_timed_and_not_those_of_one_workload(tmp_path: Path) -> None:
    assert expanded(tmp_path).starts is None
    text = GOOD.replace("trials = 4", "trials = 4\nstarts = 5")
    other = '\n[[workload]]\nname = "more"\nprotocol = "ws"\ncontract = "ws-echo"\n'
    text = text.replace("\n[quick]", f'{other}subjects = ["one:tuned"]\n\n[quick]')
    every = (("one", "default"), ("two", "tuned"))
    assert expanded(tmp_path, text).starts == Starts(count=5, subjects=every)
    assert expanded(tmp_path, text, quick=True).starts == Starts(count=2, subjects=every)
    assert expanded(tmp_path, text, only=["one*"]).starts == Starts(count=5, subjects=every[:1])
    assert expanded(tmp_path, text, only=["one:tuned"]).starts is None


def test_they_are_estimated_and_change_no_study(tmp_path: Path) -> None:
    plain = expanded(tmp_path)
    study = expanded(tmp_path, GOOD.replace("trials = 4", "trials = 4\nstarts = 5"))
    assert study.digest() == plain.digest()
    assert parse(study.document()).starts == study.starts
    each = estimate.START_AND_STOP_NS + estimate.FIRST_REPLY_NS
    more = estimate.estimate(study).total_ns - estimate.estimate(plain).total_ns
    assert more == 6 * 2 * each
    assert estimate.left_ns(study, {}) - estimate.left_ns(plain, {}) == more
