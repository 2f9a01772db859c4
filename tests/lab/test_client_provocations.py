"""What `client-libraries` provokes on purpose is named, and only where it was provoked.

The study's own document is run, on the catalogue's own subjects: where one of them is not
installed, its test says so. The wait for a second address has another, without (`test_driven`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.conftest import Children
from wiretrial.engine import Engine
from wiretrial.report.measures import Measured
from wiretrial.report.model import ReportModel, build
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import events, matrix, registry, runner
from wiretrial.studies.spec import Study
from wiretrial.subjects import build as builds
from wiretrial.subjects import registry as subjects

pytestmark = pytest.mark.alone

STUDY = "client-libraries"


def provoked(name: str, only: list[str]) -> Study:
    """One trial of each of the provocation's scenarios."""
    document = registry.find(STUDY).document.provoking(name)
    return matrix.expand(STUDY, document, command="again", seed=1, trials=1, only=only)


def measured(study: Study, engine: Engine, folder: Path) -> list[Trial]:
    """What was measured; skips where a subject is not installed."""
    names = {case.scenario.subject for case in study.cases}
    names |= {case.driving.server for case in study.cases if case.driving}
    for name in sorted(names):
        if builds.installed(subjects.find(name), engine.binary) is None:
            pytest.skip(f"{name} is not installed: wiretrial subject install {name}")
    results = ResultsFolder.create(folder, STUDY, study.model_dump_json(by_alias=True))
    seen = list(runner.run(study, results, engine))
    assert not [event for event in seen if isinstance(event, events.TrialFailed)]
    return results.trials()


def told(study: Study, trials: list[Trial]) -> ReportModel:
    return build(trials, question=study.question, title=study.title, command=study.command)


def named(trials: list[Trial], code: str) -> set[str]:
    """The scenarios in which the artefact is named; the A/A pair apart."""
    return {
        trial.scenario.name
        for trial in trials
        if trial.scenario.twin_of is None
        for warning in trial.warnings
        if warning.code == code
    }


@pytest.mark.parametrize(
    ("name", "only", "code", "where", "words"),
    [
        (
            "keepalive-100",
            ["raw-client: http"],
            "reconnects",
            {"raw-client: http"},
            "The client had to renew 50 connections, one per 100 requests",
        ),
        (
            "nagle",
            [],
            "40-ms-mode",
            {"raw-client:two-writes"},
            "Nagle's algorithm waiting for a delayed ACK, in the client's sockets",
        ),
        (
            "localhost-fallback",
            [],
            "200-ms-mode",
            {"libcurl-client: a new one each, ::1 is silent"},
            "the wait before a second address is tried",
        ),
    ],
)
def test_what_is_provoked_is_named(
    engine: Engine,
    children: Children,
    tmp_path: Path,
    name: str,
    only: list[str],
    code: str,
    where: set[str],
    words: str,
) -> None:
    study = provoked(name, only)
    trials = measured(study, engine, tmp_path)
    assert named(trials, code) == where
    # The report says so by itself, on its first screen.
    (sentence,) = told(study, trials).artefact_sentences
    assert words in sentence
    assert children() == []


def test_a_slow_server_takes_the_time_that_the_clients_differ_in(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    trials = measured(provoked("slow-server", ["raw-client*"]), engine, tmp_path)
    cpu = {}
    for trial in trials:
        assert trial.summary.counters.ok == 3 * 1000
        if trial.scenario.twin_of is None:
            cpu[trial.scenario.group] = Measured(trial).server_ns
    assert set(cpu) == {"fast server", "slow server"}
    fast, slow = cpu["fast server"], cpu["slow server"]
    assert fast is not None
    assert slow is not None
    # Work, not pace: the interpreted server computes more for each echo.
    assert slow > fast
    assert children() == []


def test_the_study_s_document_is_whole() -> None:
    found = registry.find(STUDY)
    assert [one.name for one in found.document.provocation] == [
        *("localhost-fallback", "keepalive-100", "nagle", "slow-server")
    ]
    study = matrix.expand(STUDY, found.document, command="again", seed=1)
    # Each subject is in the catalogue, in the configuration that is asked for, and speaks that.
    for case in study.cases:
        subject = subjects.find(case.scenario.subject)
        assert subject.spec.kind == "client"
        assert case.protocol in subject.spec.speaks
        assert case.driving is not None
        assert case.driving.mode in subject.spec.modes
        server = subjects.find(case.driving.server)
        server.configuration(case.driving.configuration)
        assert case.contract in server.spec.contracts
    groups = {case.scenario.group for case in study.cases if not case.scenario.twin_of}
    bases = {study.case(name).scenario.group for name in study.baselines}
    assert bases - {"A/A"} == groups
    libraries = {case.scenario.subject for case in study.cases} - {"raw-client"}
    assert len(libraries) == 15
    assert set(registry.subjects_of(STUDY)) == libraries | {
        *("raw-client", "nginx", "uwebsockets", "reference", "simple-websocket-server")
    }
