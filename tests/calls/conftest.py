"""Real servers of gRPC, started for these tests, and the shop's descriptors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.process import Process
from tests.cli.conftest import ROOT, Run
from tests.cli.conftest import wiretrial as wiretrial
from wiretrial.calls.compiling import compiled
from wiretrial.calls.methods import Methods
from wiretrial.engine import Engine
from wiretrial.errors import EXIT_GOOD, EXIT_INVALID
from wiretrial.subjects import certificates
from wiretrial.subjects.certificates import Certificate

HERE = Path(__file__).parent
PROTO = ("--proto", str(HERE / "shop.proto"))
ECHO = ROOT / "subjects" / "_shared" / "grpc-echo" / "echo.proto"
SHORT = ("-c", "2", "--warmup", "0")

__all__ = ["Run"]


@contextmanager
def served(*arguments: str) -> Iterator[int]:
    """The shop behind grpcio; its port."""
    command = [sys.executable, str(HERE / "server.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'python'}"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


@pytest.fixture(scope="session")
def methods() -> Methods:
    """The shop's, from its files."""
    return Methods(compiled([HERE / "shop.proto"], [HERE]))


@pytest.fixture(scope="session")
def shop() -> Iterator[str]:
    """The origin of a shop that tells of itself."""
    with served() as port:
        yield f"grpc://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def silent_shop() -> Iterator[str]:
    """The origin of one that does not."""
    with served("--no-reflection") as port:
        yield f"grpc://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def packing_shop() -> Iterator[str]:
    """The origin of one that compresses for those who take it."""
    with served("--gzip") as port:
        yield f"grpc://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """An authority, and a certificate for loopback."""
    return certificates.make(tmp_path_factory.mktemp("tls"), "127.0.0.1")


@pytest.fixture(scope="session")
def secure_shop(certificate: Certificate) -> Iterator[str]:
    """The origin of a shop inside TLS."""
    with served("--tls", str(certificate.chain), str(certificate.key)) as port:
        yield f"grpcs://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def over_quic(
    certificate: Certificate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, ...]]:
    """The origin of our own server inside TLS, and how it is reached over HTTP/3."""
    command = [str(Engine.find().binary), "respond", "--https", "127.0.0.1:0"]
    command += ["--http2", "--http3", "--cert", str(certificate.chain)]
    command += ["--key", str(certificate.key)]
    with Process(command, log=tmp_path_factory.mktemp("over_quic") / "log") as server:
        address = server.hear(r"https=(\S+)")
        yield f"grpcs://{address}", "--http", "3", "--cacert", str(certificate.authority)


def measured(wiretrial: Run, *words: str) -> dict[str, Any]:
    """The result of a load of which no call failed.

    On a busy machine its times may be void for want of a CPU; what was counted holds.
    """
    done = wiretrial("load", *words, *SHORT, "--format", "json")
    assert done.returncode in (EXIT_GOOD, EXIT_INVALID), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    if done.returncode == EXIT_INVALID:
        assert "starved" in {warning["code"] for warning in found["warnings"]}, found
    assert found["totals"]["errors"] == {}
    return found
