"""Trials of client libraries, for real: a small driver, the reference server, a record of both."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import reference
from tests.lab.conftest import Children
from tests.lab.test_driver import client
from wiretrial.engine import Engine
from wiretrial.machine.silence import Silence
from wiretrial.report.exports import google_benchmark, hlog, table
from wiretrial.report.measures import Measured
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import document, events, matrix, runner
from wiretrial.studies.spec import Study, parse
from wiretrial.subjects import build

STUDY = """
title = "Which?"
question = "Which client costs least?"
subjects = [SUBJECTS]
trials = 2

[[workload]]
name = "echo"
server = "reference"
contract = "raw-echo"
protocol = "tcp"
payload = 64
mode = MODES
iterations = 20
repetitions = 3
warmup_iterations = 5
"""


@pytest.fixture(autouse=True, scope="module")
def own_cache(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Builds of the tests' own subjects are not left in the user's cache."""
    cache = tmp_path_factory.mktemp("cache")
    reference.put_into(cache, engine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(build.ENVIRONMENT, str(cache))
        yield


@pytest.fixture(autouse=True)
def nothing_left(children: Children) -> Iterator[None]:
    """No process outlives a trial."""
    yield
    assert children() == []


def study(folder: Path, *subjects: str, modes: str = '["kept", "fresh"]') -> Study:
    """Two blocks of small trials."""
    named = ", ".join(f'"{subject}"' for subject in subjects)
    text = STUDY.replace("SUBJECTS", named).replace("MODES", modes)
    (folder / document.DOCUMENT).write_text(text, encoding="utf-8")
    return matrix.expand("clients", document.read(folder), command="again", seed=3)


def made(folder: Path, *faults: str) -> str:
    """A driver's folder, as a study names it."""
    place = folder / "-".join(("sockets", *faults))
    place.mkdir()
    client(place, *faults)
    return f"{place}/"


def results_of(folder: Path, wanted: Study) -> ResultsFolder:
    return ResultsFolder.create(folder, "clients", wanted.model_dump_json(by_alias=True))


@pytest.mark.alone
def test_a_driver_s_trial_is_stored_like_any_other(engine: Engine, tmp_path: Path) -> None:
    wanted = study(tmp_path, made(tmp_path))
    folder = results_of(tmp_path, wanted)
    seen = runner.run(parse(folder.document()), folder, engine)
    # Left after the first trial, and gone on with.
    for event in seen:
        if isinstance(event, events.TrialDone):
            break
    seen.close()  # type: ignore[attr-defined]
    (first,) = folder.paths()
    before = first.read_bytes()
    rest = list(runner.run(wanted, folder, engine))
    assert not [event for event in rest if isinstance(event, events.TrialFailed)]
    assert first.read_bytes() == before

    trials = folder.trials()
    # Two modes and the A/A pair, twice.
    assert len(trials) == 6
    assert {(trial.block, trial.position) for trial in trials} == {
        (block, place) for block in (0, 1) for place in range(3)
    }
    for trial in trials:
        _check(trial)
    # Everything that reads trials reads these.
    assert len(table.rows(trials)) == 6
    assert google_benchmark.as_json(trials)["benchmarks"][0]["iterations"] == 60
    assert hlog.as_hlog(trials, "service_time").count("Tag=") == 6 * 3
    assert list(runner.run(wanted, folder, engine)) == []


def _check(trial: Trial) -> None:
    driven, subject, server = trial.driven, trial.subject, trial.server
    assert driven is not None
    assert subject is not None
    assert server is not None
    assert (driven.library, driven.mode) == ("socket", trial.scenario.levels["mode"])
    assert (subject.name, subject.language) == ("sockets", "Python")
    assert (server.name, server.threads) == ("reference", 1)
    assert trial.plan.load.connections == 1
    assert trial.plan.load.requests_per_connection == (1 if driven.mode == "fresh" else None)
    assert trial.plan.stop.requests == 60
    assert [interval.counters.ok for interval in trial.intervals] == [20, 20, 20]
    assert trial.summary.counters.errors == {}
    assert trial.summary.connections.opened == (60 if driven.mode == "fresh" else 1)
    assert trial.judgement.verdict == "valid"
    measured = Measured(trial)
    assert measured.service_time.count == measured.ok == 60
    assert measured.round_trip_ns is not None
    assert measured.client_ns is not None
    assert measured.round_trip_ns > 0
    # One CPU gives no more than its time; reading the clocks around so short a run costs some.
    assert measured.client_ns <= sum(i.end_ns - i.start_ns for i in trial.intervals) / 60 * 1.5
    assert measured.generator_ns is None
    assert measured.elapsed_ns is None
    assert trial.subject_samples
    assert trial.observation is not None


@pytest.mark.alone
def test_a_driver_that_gives_up_fails_its_trial_and_no_other(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Verification would not let such drivers pass.
    monkeypatch.setattr("wiretrial.studies.admission.driver_refusal", lambda _case, _found: None)
    wanted = study(tmp_path, made(tmp_path), made(tmp_path, "failing"), modes='"kept"')
    folder = results_of(tmp_path, wanted)
    seen = list(runner.run(wanted, folder, engine))
    failed = [event for event in seen if isinstance(event, events.TrialFailed)]
    assert {event.slot.block for event in failed} == {0, 1}
    assert all("sockets ended with 1 (it failed after all)" in event.reason for event in failed)
    assert {trial.judgement.verdict for trial in folder.trials()} == {"valid"}


def test_a_driver_that_keeps_no_contract_has_its_reason_and_stops_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    wanted = study(tmp_path, made(tmp_path), made(tmp_path, "wasteful"), modes='"kept"')
    seen = list(runner.run(wanted, results_of(tmp_path, wanted), engine))
    (missing,) = [event for event in seen if isinstance(event, events.Unavailable)]
    assert "is not measured: its driver does not keep connections" in missing.reason
    assert sum(isinstance(event, events.TrialDone) for event in seen) == 4


def test_a_server_is_no_client(engine: Engine, tmp_path: Path) -> None:
    wanted = study(tmp_path, "reference", modes='"kept"')
    seen = list(runner.run(wanted, results_of(tmp_path, wanted), engine))
    reasons = [event.reason for event in seen if isinstance(event, events.Unavailable)]
    assert reasons == [
        "reference is not measured: reference is no client",
        "reference (again) is not measured: reference is no client",
    ]


@pytest.mark.alone
def test_a_second_address_is_named_where_the_first_is_silent(
    engine: Engine, tmp_path: Path
) -> None:
    wanted = study(tmp_path, made(tmp_path, "fallback"), modes='"fresh"').model_copy(
        update={"trials": 1}
    )
    cases = [
        case.model_copy(
            update={
                "driving": case.driving.model_copy(
                    update={"host": "localhost", "ipv6": ipv6, "iterations": 4, "warmup": 0}
                ),
                "scenario": case.scenario.model_copy(update={"name": ipv6, "twin_of": None}),
            }
        )
        for case in wanted.cases[:1]
        if case.driving
        for ipv6 in ("refused", "silent")
    ]
    wanted = wanted.model_copy(update={"cases": tuple(cases)})
    folder = results_of(tmp_path, wanted)
    assert not [e for e in runner.run(wanted, folder, engine) if isinstance(e, events.TrialFailed)]
    named = {
        trial.scenario.name: [
            warning.message for warning in trial.warnings if warning.code == "200-ms-mode"
        ]
        for trial in folder.trials()
    }
    assert named["refused"] == []
    (message,) = named["silent"]
    assert "the wait before a second address is tried" in message
    assert "localhost" in message


def test_silence_takes_no_connection_and_ends_with_its_context() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with Silence(port), pytest.raises(TimeoutError):
            socket.create_connection(("::1", port), timeout=0.3)
        with Silence(port):
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("::1", port), timeout=5)
        with contextlib.suppress(OSError), Silence(port), Silence(port):
            pytest.fail("two have one port")
