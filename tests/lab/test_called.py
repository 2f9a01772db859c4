"""Studies of gRPC, for real: servers of the contract `grpc-echo` under each kind of call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import Children
from tests.lab.test_matrix import written
from tests.lab.test_verify import program
from wiretrial.cli import reports
from wiretrial.engine import Engine
from wiretrial.report import html, markdown
from wiretrial.report.model import build as reported
from wiretrial.results.model import Trial
from wiretrial.results.store import ResultsFolder
from wiretrial.studies import admission, calibration, events, matrix, runner
from wiretrial.studies.spec import Study, parse
from wiretrial.subjects import build, registry, verification

pytestmark = pytest.mark.alone

HEAD = """
title = "Which?"
question = "Which answers most calls?"
subjects = [SUBJECTS]
trials = 1
duration = "200ms"
warmup = "100ms"
"""

CALLS = """
[[workload]]
name = "calls"
protocol = "grpc"
contract = "grpc-echo"
call = ["unary", "server", "client", "bidi"]
connections = 2
streams = 3
trials = 1
"""

SECURE = """
[[workload]]
name = "at a rate"
protocol = "grpcs"
contract = "grpc-echo"
connections = 2
rate = 500
trials = 1
headers = { tenant = "one" }
subjects = ["reference-grpc"]
"""

OTHER = """
[[workload]]
name = "other"
protocol = "grpc"
contract = "grpc-echo"
call = "bidi"
connections = 2
streams = 3
trials = 1
subjects = ["OWN"]
"""

DRIVEN = """
[[workload]]
name = "client"
server = "reference-grpc"
protocol = "grpc"
contract = "grpc-echo"
iterations = 50
repetitions = 2
trials = 1
"""


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Builds of a test's own subjects are not left in the user's cache."""
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def verified_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verification of these servers and drivers takes longer than their trials, and is tested."""
    monkeypatch.setattr(verification, "ensure", lambda *_: object())
    for name in ("refusal", "driver_refusal"):
        monkeypatch.setattr(admission, name, lambda *_: None)


@pytest.fixture(autouse=True)
def nothing_left(children: Children) -> Iterator[None]:
    """No process outlives a trial."""
    yield
    assert children() == []


def study(folder: Path, workloads: str, *subjects: str) -> Study:
    named = ", ".join(f'"{subject}"' for subject in subjects)
    document = written(folder, HEAD.replace("SUBJECTS", named) + workloads)
    return matrix.expand("calls", document, command="again", seed=3)


def measured(wanted: Study, engine: Engine, folder: Path, *, many: bool = False) -> list[Trial]:
    """The trials, none of which went wrong; one for each case, or `many`."""
    results = ResultsFolder.create(folder, "calls", wanted.model_dump_json(by_alias=True))
    seen = list(runner.run(parse(results.document()), results, engine))
    wrong = [one for one in seen if isinstance(one, events.TrialFailed | events.Unavailable)]
    assert wrong == []
    found = results.trials()
    assert len(found) == len(wanted.cases) or (many and found)
    for trial in found:
        counters = trial.summary.counters
        assert counters.ok > 0
        assert counters.errors == {}
    return found


def require_installed(engine: Engine, *names: str) -> None:
    """Skips where one of the catalogue's subjects was not built."""
    for name in names:
        if build.installed(registry.find(name), engine.binary) is None:
            pytest.skip(f"{name} is not installed: wiretrial subject install {name}")


def check_calls(trials: list[Trial]) -> None:
    """What is right of each kind of call, whoever answered it."""
    for trial in trials:
        kind, counters = trial.plan.target.grpc.kind, trial.summary.counters
        assert trial.scenario.levels["call"] == kind
        assert set(counters.statuses) == {"OK"}
        assert (trial.plan.load.connections, trial.plan.load.depth) == (2, 3)
        least = 10 * counters.ok if kind in ("server", "bidi") else 0
        assert counters.messages >= least
        assert (counters.messages > 0) == (least > 0)


@pytest.mark.usefixtures("own_cache")
def test_each_kind_of_call_is_measured_and_told_in_calls(engine: Engine, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    program(own, "grpc_echo.py", "grpc", ["grpc-echo"])
    other = OTHER.replace("OWN", f"{own}/")
    asked = CALLS + 'subjects = ["reference-grpc"]\n' + SECURE + other
    wanted = study(tmp_path, asked, "reference-grpc", f"{own}/")
    trials = measured(wanted, engine, tmp_path)
    *plain, secure = sorted(trials, key=lambda trial: trial.scenario.protocol)
    check_calls(plain)
    assert len({trial.scenario.subject for trial in plain}) == 2
    assert secure.start.tls is not None
    assert secure.plan.target.http.headers == (("tenant", "one"),)
    assert secure.summary.histograms["response_time"]
    told = reported(trials, question=wanted.question, title=wanted.title, command="again")
    shown = markdown.render(told) + html.render(told)
    assert "calls/s" in shown
    assert "requests/s" not in shown


def test_a_server_of_the_catalogue_is_measured(engine: Engine, tmp_path: Path) -> None:
    require_installed(engine, "grpc-go")
    check_calls(measured(study(tmp_path, CALLS, "grpc-go"), engine, tmp_path))


def test_client_libraries_call_the_reference_server(engine: Engine, tmp_path: Path) -> None:
    require_installed(engine, "grpcio-client")
    (trial,) = measured(study(tmp_path, DRIVEN, "grpcio-client"), engine, tmp_path)
    assert trial.driven is not None
    assert trial.driven.library.startswith("grpcio")
    assert trial.summary.counters.ok == 100


def test_the_generator_s_ceiling_is_known_of_calls_without_tls(
    engine: Engine, tmp_path: Path
) -> None:
    wanted = study(tmp_path, CALLS + SECURE, "reference-grpc")
    results = ResultsFolder.create(tmp_path, "calls", wanted.model_dump_json(by_alias=True))
    asked = calibration.ensure(wanted, wanted.cases, results, engine, 4_000_000_000)
    list(asked)
    found = calibration.Calibration.model_validate_json(
        (results.folder / calibration.FILE).read_bytes()
    )
    known = {
        (case.protocol, case.grpc.kind)
        for case in wanted.cases
        if found.ceiling(wanted, case) is not None
    }
    assert known == {("grpc", kind) for kind in ("unary", "server", "client", "bidi")}


HELD = """
[[workload]]
name = "held"
protocol = ["grpc", "grpcs"]
contract = "grpc-echo"
connections = 20
hold = "50ms"
trials = 1
"""


def test_connections_are_held_and_then_make_a_call_each(engine: Engine, tmp_path: Path) -> None:
    wanted = study(tmp_path, HELD, "reference-grpc")
    trials = measured(wanted, engine, tmp_path)
    assert {trial.scenario.protocol for trial in trials} == {"grpc", "grpcs"}
    for trial in trials:
        assert trial.summary.counters.ok == 20
        assert trial.summary.counters.statuses == {"OK": 20}
    told = reported(trials, question=wanted.question, title=wanted.title, command="again")
    shown = markdown.render(told) + html.render(told)
    assert "requests/s" not in shown


SEARCHED = """
[[workload]]
name = "the highest rate"
protocol = "grpc"
contract = "grpc-echo"
connections = 2
streams = 3
knee = { quantile = 0.5, objective = "5s", first = 50, ceiling = 100, tolerance = 0.5 }
trials = 1
"""


def test_the_highest_rate_of_calls_is_searched_for(engine: Engine, tmp_path: Path) -> None:
    wanted = study(tmp_path, SEARCHED, "reference-grpc")
    # One trial for each rate that was tried.
    measured(wanted, engine, tmp_path, many=True)
    (folder,) = tmp_path.glob("calls-*")
    told = reports.whole(ResultsFolder.open(folder))
    assert [knee.what.many for knee in told.knees] == ["calls"]
    shown = markdown.render(told) + html.render(told)
    assert "calls/s" in shown
    assert "requests/s" not in shown
