"""Our load generator over HTTP/3: against aioquic, which other people wrote, and our own server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.process import Process
from tests.interop.parts import MESSAGES, Both, Load, reference_server
from wiretrial.engine import Engine
from wiretrial.subjects.certificates import Certificate

SERVER = Path(__file__).with_name("http3_echo.py")


def aioquic(certificate: Certificate, folder: Path, *options: str) -> Iterator[Both]:
    """A server of aioquic, which has no port without TLS."""
    command = [sys.executable, str(SERVER), str(certificate.chain), str(certificate.key), *options]
    with Process(command, log=folder / "log") as server:
        secure = server.hear(r"ready https=(\S+)\n")
        yield Both(plain="", secure=secure, certificate=certificate)


@pytest.fixture(scope="module")
def server(certificate: Certificate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    yield from aioquic(certificate, tmp_path_factory.mktemp("aioquic"))


@pytest.fixture(scope="module")
def leaving(certificate: Certificate, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    yield from aioquic(certificate, tmp_path_factory.mktemp("aioquic"), "20")


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param([], id="get"),
        pytest.param(["--payload", "20", "--expect", "echo"], id="echo"),
        pytest.param(["--payload", "200000", "--expect", "echo"], id="large"),
        pytest.param(["--payload", "20", "--expect", "echo", "--depth", "12"], id="streams"),
        pytest.param(["--payload", "20", "--expect", "echo", "--rate", "2k"], id="open loop"),
        pytest.param(["--requests-per-connection", "10"], id="renewed"),
        pytest.param(["--header-profile", "constant"], id="fields that are alike"),
        pytest.param(["--header-profile", "unique"], id="fields"),
    ],
)
def test_every_reply_of_aioquic_arrives_and_is_right(
    load: Load, server: Both, flags: list[str]
) -> None:
    load(server, "https", "/", "--http", "3", *flags)


def test_what_is_alike_in_requests_goes_once_to_a_server_with_a_table(
    load: Load, engine: Engine, certificate: Certificate, tmp_path: Path
) -> None:
    with reference_server(engine, certificate, tmp_path, "--http3") as ours:
        over = ("--http", "3", "--header-profile")
        sent = [
            load(ours, "https", "/message", *over, profile).bytes.sent
            for profile in ("constant", "unique")
        ]
    # The first requests say all of it: none refers to what the server may not have yet.
    assert 2 * sent[0] < sent[1]


def test_what_aioquic_did_not_process_before_it_left_goes_again(load: Load, leaving: Both) -> None:
    summary = load(leaving, "https", "/", "--http", "3", "--depth", "4")
    assert summary.connections.opened >= MESSAGES // 24
