"""The contract `proxy`: what is behind one, what a right one passes, how each fault is found."""

from __future__ import annotations

import os
import select
import socket
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from tests.lab.conftest import Children
from tests.lab.test_verify import PROGRAM, PROGRAMS
from tools import proxies
from wiretrial.engine import Engine
from wiretrial.errors import SubjectUnavailable, UsageProblem
from wiretrial.report import metrics
from wiretrial.report.measures import Measured
from wiretrial.results.model import Trial
from wiretrial.studies import document, matrix
from wiretrial.studies import trial as trials
from wiretrial.studies.bench import Bench
from wiretrial.studies.order import Slot
from wiretrial.studies.prepare import Ready
from wiretrial.subjects import build, registry, verification
from wiretrial.subjects.any_connection import connect
from wiretrial.subjects.backend_parts import (
    BREAKS,
    CONTENT,
    CUT,
    CUT_CHUNKS,
    GARBAGE,
    SILENT,
    Backend,
)
from wiretrial.subjects.build import Build
from wiretrial.subjects.checks_http import MESSAGE_PATH
from wiretrial.subjects.copies import Copies
from wiretrial.subjects.endpoint import Endpoint, payload
from wiretrial.subjects.http_connection import HTTP_ERRORS, Request
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import PROXY, SPEC_FILE, Part, Subject

BEFORE = 'backend = "reference"\nspeaks'
SLOT = Slot(0, 0, "one", 1)
DEADLINE_S = 10.0
PLACES = ', "{backend_host}", "{backend_port}"'


@pytest.fixture(autouse=True)
def cache_for_own(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Builds of a test's own subjects are not left in the user's cache."""
    if "tmp_path" in request.fixturenames:
        folder: Path = request.getfixturevalue("tmp_path")
        monkeypatch.setenv(build.ENVIRONMENT, str(folder / "cache"))


def passing(folder: Path, *faults: str) -> Subject:
    """The proxy of the tests as a subject."""
    text = PROGRAM.replace("PYTHON", sys.executable).replace("FILE", str(PROGRAMS / "passing.py"))
    words = PLACES + "".join(f', "{fault}"' for fault in faults)
    text = text.replace("WORDS", words).replace("CONTRACTS", f'"{PROXY}"')
    text = text.replace("PROTOCOL", "http").replace("speaks", BEFORE)
    (folder / SPEC_FILE).write_text(text, encoding="utf-8")
    return registry.find(f"{folder}/")


def test_a_proxy_that_keeps_the_contract_passes(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    subject = passing(tmp_path)
    built = build.install(subject, engine.binary)
    found = verification.examine(subject, built, "default", engine.binary)
    assert found.problems(subject) == []
    wanted = {"exchange", "address", "kept", "once", "cut", "wrong-reply", "silence", "refused"}
    assert {one.part for one in found.outcomes} == wanted
    assert {(one.contract, one.protocol) for one in found.outcomes} == {(PROXY, "http")}
    assert children() == []


FAULTS: list[tuple[str, Part, str]] = [
    ("fresh", "kept", "100 requests on one connection opened 100 to the backend, 10 at most"),
    ("stale", "kept", "POST /message answered 502, not 200"),
    ("retries", "once", "POST /breaks came to the backend 2 times, not once"),
    ("pads", "cut", "GET /cut answered 200 with 50 bytes, as if it were whole"),
    ("pads", "cut", "GET /cut-chunks answered 200 with 50 bytes, as if it were whole"),
    ("trusts", "wrong-reply", "GET /garbage answered 200 with 0 bytes"),
    ("unlucky", "refused", "without a backend it answered 404, not one of 502, 503, 504"),
    ("sulks", "refused", "after its backend came back it still answered 503"),
    ("serial", "silence", "timed out"),
]


@pytest.mark.parametrize(("fault", "part", "words"), FAULTS)
def test_each_part_finds_the_fault_that_is_its_own(
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    part: Part,
    words: str,
) -> None:
    monkeypatch.setattr("wiretrial.subjects.endpoint.DEADLINE_S", 2.0)
    subject = passing(tmp_path, fault)
    built = build.install(subject, engine.binary)
    found = verification.examine(subject, built, "default", engine.binary)
    problems = [one.problem or "" for one in found.outcomes if one.part == part]
    assert any(words in problem for problem in problems), found.problems(subject)
    # The next check has a proxy of its own.
    assert {one.part for one in found.failed()} == {part}


def test_a_backend_is_started_before_its_proxy_and_ends_with_it(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    subject = passing(tmp_path)
    built = build.install(subject, engine.binary)
    cpu = min(os.sched_getaffinity(0))
    with Server(subject, built, "default", engine=engine.binary, behind_cpus=(cpu,)) as proxy:
        proxy.wait_ready()
        assert proxy.backend is not None
        assert proxy.behind == proxy.backend.endpoint("http")
        assert psutil.Process(proxy.backend.pid).cpu_affinity() == [cpu]
        assert proxy.command[4:6] == (proxy.behind.host, str(proxy.behind.port))
        with connect(proxy.endpoint("http")) as connection:
            through = connection.exchange(Request("GET", "/bytes/100000")).content
        with connect(proxy.behind) as connection:
            assert connection.exchange(Request("GET", "/bytes/100000")).content == through
        psutil.Process(proxy.backend.pid).kill()
        select.select([proxy.backend.pidfd], [], [], DEADLINE_S)
        assert (proxy.ended() or "").startswith("its backend ended: signal SIGKILL")
    assert children() == []


def test_a_proxy_may_be_given_its_backend(engine: Engine, tmp_path: Path) -> None:
    subject = passing(tmp_path)
    built = build.install(subject, engine.binary)
    with (
        Backend() as backend,
        Server(subject, built, "default", engine=engine.binary, backend=backend.endpoint) as proxy,
    ):
        proxy.wait_ports()
        assert proxy.backend is None
        assert proxy.behind == backend.endpoint
        with connect(proxy.endpoint("http")) as connection:
            assert connection.exchange(Request("GET", MESSAGE_PATH)).content == CONTENT
        assert backend.asked(MESSAGE_PATH) == 1


def test_copies_of_a_proxy_share_a_backend(engine: Engine, tmp_path: Path) -> None:
    subject = passing(tmp_path)
    built = build.install(subject, engine.binary)
    with Copies(subject, built, "default", 2, engine=engine.binary) as copies:
        copies.wait_ready()
        first, second = copies.servers
        assert copies.backend is first.backend
        assert second.backend is None
        assert second.behind == first.behind
        assert copies.backend is not None
        assert copies.backend.pid not in copies.pids


def test_a_backend_that_does_not_start_leaves_nothing(
    engine: Engine, children: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = passing(tmp_path)
    built = build.install(subject, engine.binary)

    def refused(*_: object) -> Build:
        raise SubjectUnavailable("reference is unavailable", "build the engine")

    monkeypatch.setattr("wiretrial.subjects.process.install", refused)
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "runs"))
    with pytest.raises(SubjectUnavailable):
        Server(subject, built, "default", engine=engine.binary)
    assert list((tmp_path / "runs").iterdir()) == []
    assert children() == []


def test_a_proxy_that_does_not_start_ends_its_backend(
    engine: Engine, children: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = passing(tmp_path)
    built = build.install(subject, engine.binary)
    lacking = subject.configuration("default").model_copy(update={"files": {"a": "none.conf"}})
    spec = subject.spec.model_copy(update={"configurations": {"default": lacking}})
    without = subject.model_copy(update={"spec": spec})
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "runs"))

    def nothing_is_left() -> bool:
        return list((tmp_path / "runs").iterdir()) == [] and children() == []

    with pytest.raises(FileNotFoundError):
        Server(without, built, "default", engine=engine.binary)
    assert nothing_is_left()
    with pytest.raises(UsageProblem, match="has no configuration 'tuned'"):
        Server(subject, built, "tuned", engine=engine.binary)
    assert nothing_is_left()

    def stopped(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("wiretrial.subjects.process.told", stopped)
    # The proxy's own: its backend is given, as that has a keeper, too.
    with Backend() as backend, pytest.raises(KeyboardInterrupt):
        Server(subject, built, "default", engine=engine.binary, backend=backend.endpoint)
    assert nothing_is_left()


STUDY = """
title = "t"
question = "q?"
subjects = ["./program"]
duration = "1s"
warmup = "100ms"
[[workload]]
name = "message"
protocol = "http"
contract = "static"
connections = 4
"""


def test_the_cpu_of_proxy_and_backend_are_told_apart(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "program").mkdir()
    study = matrix.expand("s", document.read(tmp_path), command="c", seed=1)
    subject = passing(tmp_path / "program")
    ready = Ready(subject, build.install(subject, engine.binary))
    trial = measured(trials.measure(Bench(study, engine, {}), study.cases[0], SLOT, ready))
    assert trial.subject is not None
    assert trial.subject.backend is not None
    assert (trial.subject.backend.name, trial.subject.backend.threads) == ("reference", 1)
    assert trial.subject.backend.cpus
    assert not any(trial.summary.counters.errors.values())
    (place,) = trial.places
    assert [part.name for part in place.parts] == ["server", "backend"]
    found = Measured(trial)
    told = metrics.BACKEND.of(found)
    assert told == place.parts[1].per_reply_ns
    assert told is not None
    assert told > 0
    assert metrics.DATABASE.of(found) is None
    # A proxy of threads in Python needs more than a server of ours in Rust.
    proxy = metrics.SERVER.of(found)
    assert proxy is not None
    assert proxy > told


def measured(run: Generator[object, None, Trial]) -> Trial:
    """The record of a trial that is played to its end."""
    while True:
        try:
            next(run)
        except StopIteration as ended:
            trial: Trial = ended.value
            return trial


def test_a_workload_asks_for_what_stands_behind(tmp_path: Path) -> None:
    text = STUDY.replace('"static"', f'"{PROXY}"')
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageProblem) as refused:
        matrix.expand("s", document.read(tmp_path), command="c", seed=1)
    assert "a proxy is asked for what stands behind it" in refused.value.line()


def test_the_backend_of_the_checks_does_what_its_paths_say() -> None:
    with Backend() as backend:
        with connect(backend.endpoint) as connection:
            for _ in range(2):
                assert connection.exchange(Request("GET", MESSAGE_PATH)).content == CONTENT
            posted = Request("POST", MESSAGE_PATH, payload(64))
            assert connection.exchange(posted).content == CONTENT
            connection.send_in_chunks(posted, 7)
            assert connection.receive(posted).content == CONTENT
        assert (backend.accepted, backend.asked(MESSAGE_PATH)) == (1, 4)
        for path in (BREAKS, CUT, CUT_CHUNKS, GARBAGE):
            with connect(backend.endpoint) as connection:
                connection.send(Request("GET", path))
                with pytest.raises((EOFError, OSError, *HTTP_ERRORS)):
                    connection.receive_any("GET")
            assert backend.asked(path) == 1
        with connect(backend.endpoint) as connection:
            connection.send(Request("GET", SILENT))
            connection.socket.settimeout(0.1)
            with pytest.raises(TimeoutError):
                connection.socket.recv(1)
        with connect(backend.endpoint) as connection:
            connection.exchange(Request("GET", MESSAGE_PATH))
            backend.leave()
            assert not connection.says_something()
        with pytest.raises(ConnectionRefusedError):
            connect(backend.endpoint)
        backend.come()
        with connect(backend.endpoint) as connection:
            connection.exchange(Request("GET", MESSAGE_PATH))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((backend.endpoint.host, backend.endpoint.port))


def test_the_address_of_a_backend_is_one_of_http() -> None:
    with Backend() as backend:
        assert backend.endpoint == Endpoint(
            protocol="http", host="127.0.0.1", port=backend.endpoint.port
        )


def test_what_is_seen_of_a_backend_that_breaks_is_counted(engine: Engine, tmp_path: Path) -> None:
    subject = passing(tmp_path)
    built = build.install(subject, engine.binary)

    def begin(backend: Backend) -> Server:
        return Server(subject, built, "default", engine=engine.binary, backend=backend.endpoint)

    *told, gone = proxies.row(begin, "http")
    # A GET on a connection that is kept is asked once more, and nothing else is.
    assert told == ["1 x, 502", "2 x, 502", "1 x, 502", "1 x, 502", "502", "502", "502"]
    assert gone.startswith("502, ")
    page = proxies.page([("mine", *told, gone)])
    assert page.splitlines()[-1] == f"| mine | {' | '.join([*told, gone])} |"


def test_the_page_of_all_proxies_is_not_lost_to_some(
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Engine, "find", lambda: engine)
    monkeypatch.setattr(proxies, "PAGE", tmp_path / "BREAKS.md")
    monkeypatch.setattr("tools.proxies._rows", lambda name, _engine: [(name, "1 x, 502")])
    proxies.main(["mine"])
    assert capsys.readouterr().out == proxies.page([("mine", "1 x, 502")])
    assert not proxies.PAGE.exists()
