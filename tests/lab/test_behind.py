"""What a workload says of the server behind a proxy: words, flags, and a trial of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.test_proxies import SLOT, measured, passing
from wiretrial.engine import Engine
from wiretrial.errors import UsageProblem
from wiretrial.report import metrics
from wiretrial.report.measures import Measured
from wiretrial.results.model import Trial
from wiretrial.studies import admission, behind, document, matrix
from wiretrial.studies import trial as trials
from wiretrial.studies.bench import Bench
from wiretrial.studies.prepare import Ready
from wiretrial.studies.spec import Study
from wiretrial.subjects import build, registry

STUDY = """
title = "t"
question = "q?"
subjects = ["./program"]
duration = "500ms"
warmup = "100ms"
[[workload]]
name = "message"
protocol = "http"
contract = "static"
connections = 2
"""
BREAKING = 'backend = ["right", "garbage@10"]\nallow_errors = "50%"\n'


def expanded(folder: Path, more: str = BREAKING) -> Study:
    (folder / document.DOCUMENT).write_text(STUDY + more, encoding="utf-8")
    return matrix.expand("s", document.read(folder), command="c", seed=1)


@pytest.mark.parametrize(
    ("level", "flags"),
    [
        (None, ()),
        ("right", ()),
        ("close@100", ("--fault", "close@100")),
        ("stall=1s/200ms", ("--stall", "1s/200ms")),
        ("close-after=100", ("--close-after", "100")),
    ],
)
def test_a_level_is_flags_of_the_reference_server(
    level: str | None, flags: tuple[str, ...]
) -> None:
    assert behind.flags(level) == flags


@pytest.mark.parametrize("level", ["close", "close@0", "refuse@10", "stall", "threads=4", ""])
def test_what_is_no_level_is_refused_with_examples(tmp_path: Path, level: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        expanded(tmp_path, f'backend = "{level}"\n')
    assert "such as close@100" in refused.value.line()


def test_each_level_is_a_scenario(tmp_path: Path) -> None:
    study = expanded(tmp_path)
    right, wrong, twin = study.cases
    assert twin.scenario.twin_of
    assert (right.backend, wrong.backend) == ((), ("--fault", "garbage@10"))
    assert right.scenario.name == "./program: a backend that is right"
    assert wrong.scenario.name == "./program: a backend with garbage@10"
    assert wrong.scenario.levels["backend"] == "garbage@10"
    assert {study.allowed_errors_of(case) for case in study.cases} == {0.5}
    plain = expanded(tmp_path, "")
    assert plain.allowed_errors_of(plain.cases[0]) == 0
    assert "backend" not in plain.cases[0].scenario.levels


def test_what_may_fail_decides_nothing_that_is_sent(tmp_path: Path) -> None:
    study, strict = expanded(tmp_path), expanded(tmp_path, BREAKING.replace("50%", "1%"))
    assert study.digest() == strict.digest()
    other = expanded(tmp_path, BREAKING.replace("garbage@10", "garbage@20"))
    assert study.digest() != other.digest()


def test_a_server_with_nothing_behind_it_is_not_told_to_do_wrong(tmp_path: Path) -> None:
    right, wrong, _ = expanded(tmp_path).cases
    server, proxy = registry.find("nginx").spec, registry.find("nginx-proxy").spec
    assert admission.without_backend(right, server) is None
    assert admission.without_backend(wrong, proxy) is None
    told = admission.without_backend(wrong, server)
    assert told == f"{wrong.scenario.name} is not measured: no backend stands behind nginx"


def test_failures_that_are_allowed_are_told(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))
    study = expanded(tmp_path)
    (tmp_path / "program").mkdir()
    subject = passing(tmp_path / "program")
    ready = Ready(subject, build.install(subject, engine.binary))
    bench = Bench(study, engine, {})

    def played(number: int) -> Trial:
        return measured(trials.measure(bench, study.cases[number], SLOT, ready))

    right, wrong = played(0), played(1)
    assert metrics.FAILED.of(Measured(right)) == 0
    counters = wrong.summary.counters
    failed = sum(counters.errors.values())
    assert failed > 0
    assert metrics.FAILED.of(Measured(wrong)) == (failed + counters.in_flight) / counters.sent
    assert wrong.judgement.verdict != "invalid"
    assert wrong.judgement.allowed_errors == 0.5
