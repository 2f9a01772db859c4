"""Verification over HTTP/3: when a server counts as started, and how wrong ones are found out."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab.test_subjects import own
from tests.lab.test_verify import (
    assert_engine_finds,
    cache_for_own,
    examined,
    impatient,
    problems,
    program,
)
from wiretrial.engine import Engine
from wiretrial.errors import SubjectFailed, SubjectUnavailable
from wiretrial.subjects import (
    any_connection,
    build,
    contracts,
    quic_versions,
    registry,
    verification,
)
from wiretrial.subjects.endpoint import Broken, Endpoint
from wiretrial.subjects.http3_connection import Http3Connection
from wiretrial.subjects.http_connection import Request
from wiretrial.subjects.process import Server
from wiretrial.subjects.spec import SPEC_FILE, Part, Subject

__all__ = ["cache_for_own", "impatient"]

PATIENCE_S = 0.2
OWN_PORTS = '"--http", "{host}:{port}", "--tcp", "{host}:{raw_port}"'
QUIC_PORT = '"--http3", "--https", "{host}:{quic_port}", "--cert", "{cert}", "--key", "{key}"'


def over_quic(folder: Path, *flags: str) -> Subject:
    """The reference server over HTTP/3, in a folder of its own."""
    own(folder, *flags)
    file = folder / SPEC_FILE
    text = file.read_text(encoding="utf-8")
    text = text.replace('["http", "ws", "tcp"]', '["h3"]').replace(OWN_PORTS, QUIC_PORT)
    text = text.replace('["http-echo", "ws-echo", "raw-echo"]', '["http-echo", "static"]')
    file.write_text(text, encoding="utf-8")
    return registry.find(f"{folder}/")


@contextmanager
def served(subject: Subject, engine: Engine) -> Iterator[Endpoint]:
    """Where it speaks HTTP/3 while it runs."""
    built = build.install(subject, engine.binary)
    with Server(subject, built, "default", engine=engine.binary) as server:
        server.wait_ports()
        yield server.endpoint("h3")


@contextmanager
def bound() -> Iterator[tuple[socket.socket, int]]:
    """A socket of UDP that nobody reads, and its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(("127.0.0.1", 0))
        yield datagrams, datagrams.getsockname()[1]


def test_a_server_of_quic_names_its_versions(engine: Engine, tmp_path: Path) -> None:
    with served(over_quic(tmp_path), engine) as endpoint:
        quic_versions.ask(endpoint.host, endpoint.port, PATIENCE_S * 10)
        endpoint.knock(endpoint.host)
        with pytest.raises(ConnectionRefusedError):
            endpoint.knock("127.0.0.9")


def test_a_port_that_nobody_has_is_refused_and_one_that_is_silent_is_late() -> None:
    with bound() as (_, port), pytest.raises(TimeoutError):
        quic_versions.ask("127.0.0.1", port, PATIENCE_S)
    with pytest.raises(ConnectionRefusedError):
        quic_versions.ask("127.0.0.1", port, PATIENCE_S)


@pytest.mark.parametrize("answer", [b"", b"hello", bytes(40), b"\x80" + bytes(40)])
def test_what_answers_otherwise_is_no_server_of_quic(answer: bytes) -> None:
    with bound() as (datagrams, port):

        def reply() -> None:
            asked, client = datagrams.recvfrom(2048)
            assert len(asked) == quic_versions.LEAST_BYTES
            datagrams.sendto(answer, client)

        thread = threading.Thread(target=reply)
        thread.start()
        with pytest.raises(ConnectionError, match="is no server of QUIC"):
            quic_versions.ask("127.0.0.1", port, 10.0)
        thread.join()


def test_a_server_without_its_port_of_udp_is_told_when_it_starts(
    engine: Engine, tmp_path: Path
) -> None:
    over_quic(tmp_path)
    file = tmp_path / SPEC_FILE
    text = file.read_text(encoding="utf-8").replace('"--http3", ', "")
    file.write_text(text.replace("deadline_s = 5", "deadline_s = 0.5"), encoding="utf-8")
    with (
        pytest.raises(SubjectFailed, match=r"own does not answer on 127\.0\.0\.1:"),
        served(registry.find(f"{tmp_path}/"), engine),
    ):
        pass


def test_a_connection_tells_pieces_chunks_and_heads_from_each_other(
    engine: Engine, tmp_path: Path
) -> None:
    with (
        served(over_quic(tmp_path), engine) as endpoint,
        Http3Connection(endpoint) as connection,
    ):
        head, get = Request("HEAD", "/message"), Request("GET", "/message")
        # The length of the first is that of a content which does not come.
        connection.send(head, get)
        assert connection.receive(head).content == b""
        assert len(connection.receive(get).content) == 64
        post = Request("POST", "/echo", b"x" * 1000)
        connection.send_in_chunks(post, 7)
        assert connection.receive(post).content == post.body
        whole = connection.encode(post)
        for at in range(0, len(whole), 100):
            connection.write(whole[at : at + 100])
        assert connection.receive(post).content == post.body
        connection.ping()
        connection.ping()


def test_a_certificate_that_is_not_trusted_ends_the_connection(
    engine: Engine, tmp_path: Path
) -> None:
    with served(over_quic(tmp_path), engine) as endpoint:
        untrusted = endpoint.model_copy(update={"authority": None})
        with pytest.raises(Broken, match="the connection ended with"):
            Http3Connection(untrusted)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("fault", "part"),
    [("wrong", "many"), ("truncate", "pipelining"), ("reset", "many")],
)
def test_a_server_that_answers_wrong_over_http_3_is_found_out(
    engine: Engine, tmp_path: Path, fault: str, part: Part
) -> None:
    subject = over_quic(tmp_path, "--fault", f"{fault}@7")
    assert problems(subject, engine, "http-echo", "h3", part)
    assert_engine_finds(subject, engine, "h3")


def by_aioquic(folder: Path, *faults: str) -> Subject:
    """A server of aioquic with faults, which has no port of TCP."""
    program(folder, "http3.py", "h3", ["http-echo"], *faults)
    file = folder / SPEC_FILE
    text = file.read_text(encoding="utf-8")
    text = text.replace('"{port}"', '"{quic_port}", "{cert}", "{key}"')
    file.write_text(text, encoding="utf-8")
    return registry.find(f"{folder}/")


def test_a_server_of_aioquic_that_keeps_the_contract_passes(engine: Engine, tmp_path: Path) -> None:
    found = examined(by_aioquic(tmp_path), engine)
    assert found.failed() == []
    assert {"pieces", "pipelining", "half-open", "ping", "large"} <= {
        outcome.part for outcome in found.outcomes
    }


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("fault", "part", "words"),
    [
        ("blank", "exchange", "64 bytes came back as 0 other bytes"),
        ("catch-all", "routes", "GET /no-such-route answered 200, not 404"),
        ("everywhere", "address", "it listens on 127.0.0.9 too, but was told 127.0.0.1"),
    ],
)
def test_each_part_finds_the_fault_that_is_its_own(
    engine: Engine, tmp_path: Path, fault: str, part: Part, words: str
) -> None:
    found = problems(by_aioquic(tmp_path, fault), engine, "http-echo", "h3", part)
    assert any(words in problem for problem in found), found


def test_parts_that_http_3_does_not_have_are_not_checked() -> None:
    parts = [check.name for check in contracts.checks("static", "h3")]
    assert {"ping", "peers that read nothing", "its address, and no other"} <= set(parts)
    assert not {"close", "our end of stream", "a peer that has said all"} & set(parts)


def test_without_aioquic_a_server_of_http_3_is_unavailable(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "wiretrial.subjects.http3_connection")
    monkeypatch.setitem(sys.modules, "aioquic.h3.connection", None)
    subject = over_quic(tmp_path)
    built = build.install(subject, engine.binary)
    with pytest.raises(SubjectUnavailable) as told:
        verification.examine(subject, built, "default", engine.binary)
    assert told.value.line() == (
        "servers of HTTP/3 are verified by aioquic, which is not installed:"
        " pip install 'wiretrial[http3]'"
    )
    any_connection.require(("http", "h2"))
