"""Verification: what right subjects pass, how wrong ones are found out, and what is kept of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab.conftest import Children
from tests.lab.test_subjects import own
from tests.reference import kept
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed
from wiretrial.plan import Load, SequencePayload
from wiretrial.studies import admission
from wiretrial.studies.contracts import case
from wiretrial.subjects import build, checks_streams, contracts, endpoint, registry, verification
from wiretrial.subjects.checks import Setting
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import (
    SPEC_FILE,
    ConfigurationName,
    ContractName,
    Part,
    Protocol,
    Subject,
)
from wiretrial.subjects.verification import Verification

PROGRAMS = Path(__file__).parent / "programs"

PROGRAM = """
name = "program"
kind = "server"
summary = "A server of the tests"
language = "Python"
homepage = "https://example.org"
licence = "Apache-2.0"
speaks = ["PROTOCOL"]
contracts = [CONTRACTS]

[version]
command = ["PYTHON", "--version"]
pattern = 'Python (\\S+)'

[configurations.default]
description = "With faults."
command = ["PYTHON", "FILE", "{host}", "{port}"WORDS]
"""

LIMIT = """
[[limits]]
part = "PART"
why = "its tracker says so"
"""


@pytest.fixture(autouse=True)
def cache_for_own(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Builds of a test's own subjects are not left in the user's cache."""
    if "tmp_path" in request.fixturenames:
        folder: Path = request.getfixturevalue("tmp_path")
        monkeypatch.setenv(build.ENVIRONMENT, str(folder / "cache"))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For servers that leave us waiting, whose patience is no matter of the test."""
    monkeypatch.setattr(endpoint, "DEADLINE_S", 1.0)


def assert_engine_finds(subject: Subject, engine: Engine, protocol: Protocol) -> None:
    """The engine that measures finds what is wrong, too."""
    built = build.install(subject, engine.binary)

    @contextmanager
    def start(_: Setting) -> Iterator[Server]:
        with Server(subject, built, "default", engine=engine.binary) as server:
            server.wait_ports()
            yield server

    by_engine = list(checks_streams.verify(subject.spec, "default", start, engine))
    assert {one.protocol for one in by_engine} == {protocol}
    assert all(one.problem for one in by_engine)


def program(
    folder: Path, name: str, protocol: Protocol, contracts: Sequence[ContractName], *words: str
) -> Subject:
    """A server of the tests as a subject."""
    text = PROGRAM.replace("PYTHON", sys.executable).replace("FILE", str(PROGRAMS / name))
    text = text.replace("WORDS", "".join(f', "{word}"' for word in words))
    text = text.replace("CONTRACTS", ", ".join(f'"{contract}"' for contract in contracts))
    (folder / SPEC_FILE).write_text(text.replace("PROTOCOL", protocol), encoding="utf-8")
    return registry.find(f"{folder}/")


def pool(folder: Path, *faults: str) -> Subject:
    """A thread pool with faults."""
    return program(folder, "rest.py", "http", ["rest"], "{threads}", "{delay_ms}", *faults)


def events(folder: Path, *faults: str) -> Subject:
    """A Socket.IO server with faults."""
    return program(folder, "events.py", "socketio+ws", ["ws-echo", "rpc"], *faults)


def limited(folder: Path, part: Part, *flags: str) -> Subject:
    """The reference server with a limit that its specification tells of."""
    own(folder, *flags)
    with (folder / SPEC_FILE).open("a", encoding="utf-8") as file:
        file.write(LIMIT.replace("PART", part))
    return registry.find(f"{folder}/")


def examined(
    subject: Subject, engine: Engine, configuration: ConfigurationName = "default"
) -> Verification:
    """Every check of one configuration, done now."""
    built = build.install(subject, engine.binary)
    return verification.examine(subject, built, configuration, engine.binary)


def problems(
    subject: Subject, engine: Engine, contract: ContractName, protocol: Protocol, part: Part
) -> list[str]:
    """What the checks of one part find, each with a server of its own."""
    built = build.install(subject, engine.binary)
    found = []
    for check in contracts.checks(contract, protocol):
        if check.part == part:
            threads, delay_ms = check.setting.threads, check.setting.delay_ms
            with Server(
                subject, built, "default", engine=engine.binary, threads=threads, delay_ms=delay_ms
            ) as server:
                server.wait_ports()
                found.append(contracts.problem(check, server.endpoint(protocol)))
    return [problem for problem in found if problem]


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("reference", "default"),
        ("reference-http2", "default"),
        ("reference-http3", "default"),
        ("ws", "tuned"),
        ("nginx", "default"),
        ("nginx", "tuned"),
        ("nginx-proxy", "default"),
        ("nginx-proxy", "tuned"),
        ("haproxy-proxy", "default"),
        ("haproxy-proxy", "tuned"),
    ],
)
def test_a_subject_keeps_every_contract_that_it_claims(
    engine: Engine, children: Children, name: str, configuration: ConfigurationName
) -> None:
    subject = registry.find(name)
    found = kept(subject, engine, configuration)
    assert {(one.contract, one.protocol) for one in found.outcomes} == set(subject.spec.claims())
    assert [one for one in found.failed() if not one.known] == []
    assert found.problems(subject) == []
    assert children() == []


def test_an_own_server_in_a_folder_is_a_subject_too(
    engine: Engine, children: Children, tmp_path: Path
) -> None:
    assert examined(own(tmp_path), engine).failed() == []
    assert children() == []


@pytest.mark.parametrize("name", ["socket-io", "feathers"])
def test_a_subject_speaks_socket_io_as_its_inventors_do(engine: Engine, name: str) -> None:
    subject = registry.find(name)
    found = kept(subject, engine)
    assert found.problems(subject) == []
    assert "socketio+wss" in {one.protocol for one in found.outcomes}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fault", ["wrong", "swap", "repeat", "truncate", "reset", "garbage"])
def test_a_server_that_answers_wrong_is_found_out(
    engine: Engine, tmp_path: Path, fault: str
) -> None:
    subject = own(tmp_path, "--fault", f"{fault}@60")
    assert problems(subject, engine, "http-echo", "http", "many")
    assert problems(subject, engine, "ws-echo", "ws", "many")
    assert problems(subject, engine, "raw-echo", "tcp", "many")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("fault", "part"),
    [("wrong", "many"), ("truncate", "pipelining"), ("reset", "many")],
)
def test_a_server_that_answers_wrong_over_http_2_is_found_out(
    engine: Engine, tmp_path: Path, fault: str, part: Part
) -> None:
    own(tmp_path, "--fault", f"{fault}@7")
    file = tmp_path / SPEC_FILE
    text = file.read_text(encoding="utf-8").replace('"http", "ws"', '"h2c"')
    file.write_text(text.replace(', "ws-echo"', ""), encoding="utf-8")
    subject = registry.find(f"{tmp_path}/")
    assert problems(subject, engine, "http-echo", "h2c", part)
    assert_engine_finds(subject, engine, "h2c")


def test_a_pool_that_keeps_its_contract_passes(engine: Engine, tmp_path: Path) -> None:
    found = examined(pool(tmp_path), engine)
    assert found.failed() == []
    assert {"delay", "pool", "pipelining", "half-open"} <= {one.part for one in found.outcomes}


FAULTS: list[tuple[str, Part, str]] = [
    ("html", "exchange", "the answer is text/html, not text/plain"),
    ("everywhere", "address", "it listens on 127.0.0.9 too, but was told 127.0.0.1"),
    ("forgetful", "pipelining", "TimeoutError"),
    ("catch-all", "routes", "GET /no-such-route answered 200, not 404"),
    ("literal", "routes", "GET /test/labels/%61%2Db%5Fc%2Ed%7Ee answered b'%61%2D"),
    ("lenient", "methods", "GET /test answered 200, not 404 or 405 or 501"),
    ("short", "large", "(65546 bytes), not"),
    ("hungry", "empty", "POST /test answered 400, not 200"),
    ("unchunked", "pieces", "POST /test answered b'received: '"),
    ("clinging", "close", "`Connection: close` was not answered in kind"),
    ("one-by-one", "half-open", "TimeoutError"),
    ("one-by-one", "concurrency", "TimeoutError"),
    ("hasty", "delay", "less than its delay of 200 ms"),
    ("unbounded", "pool", "with 2 thread(s) and a delay of 200 ms, less than two delays"),
    ("serial", "pool", "2 requests came one after the other with 2 threads"),
]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("fault", "part", "words"), FAULTS)
def test_each_part_finds_the_fault_that_is_its_own(
    engine: Engine, tmp_path: Path, fault: str, part: Part, words: str
) -> None:
    found = problems(pool(tmp_path, fault), engine, "rest", "http", part)
    assert any(words in problem for problem in found), found


def test_events_that_keep_their_contracts_pass(engine: Engine, tmp_path: Path) -> None:
    found = examined(events(tmp_path), engine)
    assert found.failed() == []
    assert {(one.contract, one.protocol) for one in found.outcomes} == {
        ("ws-echo", "socketio+ws"),
        ("rpc", "socketio+ws"),
    }


@pytest.mark.parametrize(
    ("fault", "contract", "part", "words"),
    [
        ("anonymous", "ws-echo", "exchange", "the session {} has no `sid`"),
        ("flattening", "ws-echo", "many", "the event"),
        ("numeric", "rpc", "exchange", "message 0 was acknowledged with"),
        ("misnumbering", "rpc", "exchange", "came, not one of 430"),
    ],
)
def test_an_event_that_is_answered_wrong_is_found_out(
    engine: Engine, tmp_path: Path, fault: str, contract: ContractName, part: Part, words: str
) -> None:
    (found,) = problems(events(tmp_path, fault), engine, contract, "socketio+ws", part)
    assert words in found


def test_a_server_that_a_check_ends_is_started_again_for_the_next(
    engine: Engine, tmp_path: Path
) -> None:
    found = examined(pool(tmp_path, "fragile"), engine)
    (outcome,) = found.failed()
    assert outcome.check == "unknown routes"
    assert "then the server ended: exit status 3" in str(outcome.problem)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("times", "problem"), [(1, None), (2, "TimeoutError: timed out")])
def test_a_check_without_an_end_in_time_is_tried_once_more(
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    times: int,
    problem: str | None,
) -> None:
    few = [one for one in contracts.checks("rest", "http") if one.part in ("exchange", "routes")]
    monkeypatch.setattr(contracts, "checks", lambda *_: few)
    found = examined(pool(tmp_path, f"dozing={times}:{tmp_path}/marks"), engine)
    (outcome,) = (outcome for outcome in found.outcomes if outcome.late)
    assert outcome.check == "unknown routes"
    assert outcome.late == "TimeoutError: timed out"
    assert outcome.problem == problem
    assert (tmp_path / "marks").read_bytes() == b"." * times


def test_a_limit_that_is_written_down_may_fail_and_keeps_out_what_needs_it(
    engine: Engine, tmp_path: Path
) -> None:
    subject = limited(tmp_path, "large", "--max-message", "65536")
    found = examined(subject, engine)
    (outcome,) = found.failed()
    assert outcome.known == "its tracker says so"
    assert found.problems(subject) == []

    def refusal(size: int, contract: ContractName = "ws-echo") -> str | None:
        load, payload = Load(connections=8), SequencePayload(bytes=size)
        return admission.refusal(
            case(
                name="echo",
                subject=str(tmp_path),
                configuration="default",
                protocol="ws",
                contract=contract,
                payload=payload,
                load=load,
                workload="-",
            ),
            found,
        )

    assert refusal(65_536) is None
    assert refusal(65_537) == (
        "echo is not measured: it needs parts of ws-echo over ws that"
        f" {tmp_path} (default) does not keep (large: its tracker says so)"
    )
    assert refusal(64, "ws-broadcast") == (
        f"echo is not measured: {tmp_path} does not claim ws-broadcast over ws"
    )


def test_a_limit_that_holds_is_a_problem(engine: Engine, tmp_path: Path) -> None:
    subject = limited(tmp_path, "fragments")
    found = examined(subject, engine)
    assert found.problems(subject) == ["fragments is written down as not kept, but holds"]


def test_a_limit_that_nothing_checks_is_a_problem(engine: Engine, tmp_path: Path) -> None:
    subject = limited(tmp_path, "pool")
    found = examined(subject, engine)
    assert found.problems(subject) == ["pool is written down as not kept, but nothing checks it"]


def test_a_claim_without_one_right_exchange_is_asked_no_further(
    engine: Engine, tmp_path: Path
) -> None:
    subject = pool(tmp_path, "html")
    found = examined(subject, engine)
    (outcome,) = found.outcomes
    assert outcome.part == "exchange"
    assert found.missing("rest", "http", ["exchange", "many"]) == {
        "exchange": "one exchange: the answer is text/html, not text/plain",
        "many": "it was never verified",
    }


def test_a_server_that_ends_is_told_with_its_last_words(engine: Engine, tmp_path: Path) -> None:
    subject = own(tmp_path, "--no-such-flag")
    with pytest.raises(SubjectFailed, match="own ended at its start: exit status 2"):
        examined(subject, engine)


def test_what_was_found_is_kept_until_something_changes(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    subject = own(folder)
    built = build.install(subject, engine.binary)

    def verified() -> Verification | None:
        return verification.verified(subject, built, "default", engine.binary)

    assert verified() is None
    found = verification.examine(subject, built, "default", engine.binary)
    assert verified() == found
    assert verification.ensure(subject, built, "default", engine.binary) == found
    with monkeypatch.context() as changed:
        changed.setattr(contracts, "digest", lambda: "other checks")
        assert verified() is None
    other = built.model_copy(update={"version": "0.0.0"})
    assert verification.verified(subject, other, "default", engine.binary) is None
    (record,) = built.folder.glob("*verified*")
    record.write_text(record.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    assert verified() is None
