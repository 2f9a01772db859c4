"""Verification of servers of gRPC: what a right one passes, and how wrong ones are found out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab.test_verify import examined, impatient, problems, program
from wiretrial.engine import Engine
from wiretrial.subjects import build, checks_streams, registry
from wiretrial.subjects.checks import Setting
from wiretrial.subjects.echo_parts import message
from wiretrial.subjects.grpc_parts import framed, messages
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import Part, Subject

__all__ = ["impatient"]


@pytest.fixture(autouse=True)
def cache_for_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Builds of a test's own subjects are not left in the user's cache."""
    monkeypatch.setenv(build.ENVIRONMENT, str(tmp_path / "cache"))


def echo(folder: Path, *faults: str) -> Subject:
    """A server of grpcio with faults."""
    return program(folder, "grpc_echo.py", "grpc", ["grpc-echo"], *faults)


def test_the_reference_server_keeps_the_contract(engine: Engine) -> None:
    subject = registry.find("reference-grpc")
    found = examined(subject, engine)
    assert {(one.contract, one.protocol) for one in found.outcomes} == set(subject.spec.claims())
    assert found.failed() == []


@pytest.mark.parametrize(
    ("fault", "part", "words"),
    [
        ("altered", "exchange", "Unary answered other messages than it should"),
        ("status", "exchange", "the status is 14, not 0: not now"),
        ("late", "many", "Unary answered other messages than it should"),
        ("nine", "streaming", "Server answered 9 messages, not 10"),
        ("first", "streaming", "Client answered other messages than it should"),
        ("backwards", "streaming", "Bidi answered other messages than it should"),
        ("everything", "routes", "the status is 0, not 12"),
    ],
)
def test_each_part_finds_the_fault_that_is_its_own(
    engine: Engine, tmp_path: Path, fault: str, part: Part, words: str
) -> None:
    found = problems(echo(tmp_path, fault), engine, "grpc-echo", "grpc", part)
    assert any(words in problem for problem in found), found


@pytest.mark.usefixtures("impatient")
def test_a_stream_that_is_answered_at_its_end_is_found_out(engine: Engine, tmp_path: Path) -> None:
    found = problems(echo(tmp_path, "hoarding"), engine, "grpc-echo", "grpc", "streaming")
    assert any("TimeoutError" in problem for problem in found), found


@pytest.mark.parametrize(
    ("faults", "found"),
    [
        ((), set()),
        (
            ("late", "nine", "first", "backwards"),
            {
                "calls of 64 bytes",
                "calls of 100,000 bytes",
                "calls with a stream from the server",
                "calls with a stream from the client",
                "calls with streams both ways",
            },
        ),
    ],
    ids=["right", "wrong"],
)
def test_the_engine_that_measures_finds_it_too(
    engine: Engine, tmp_path: Path, faults: tuple[str, ...], found: set[str]
) -> None:
    subject = echo(tmp_path, *faults)
    built = build.install(subject, engine.binary)

    @contextmanager
    def start(_: Setting) -> Iterator[Server]:
        with Server(subject, built, "default", engine=engine.binary) as server:
            server.wait_ports()
            yield server

    by_engine = list(checks_streams.verify(subject.spec, "default", start, engine))
    assert len(by_engine) == 5
    wrong = {one.check.partition(" ")[2].rpartition(" on ")[0] for one in by_engine if one.problem}
    assert wrong == found


@pytest.mark.parametrize("size", [0, 1, 127, 128, 70_000])
def test_messages_are_those_of_protobuf(size: int) -> None:
    from google.protobuf import wrappers_pb2

    text = b"x" * size
    # Its one field has the number and the type of an echo's text.
    assert wrappers_pb2.StringValue.FromString(message(text)).value == text.decode()
    several = [message(text), b"", message(text)]
    assert list(messages(framed(*several))) == several
