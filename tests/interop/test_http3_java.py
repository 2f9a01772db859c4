"""HTTP/3 with Java's libraries, Jetty and Netty, both ways. Below both is quiche."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.process import Process
from tests.interop.java_peers import checked, compiled, http3_libraries
from tests.interop.parts import Both, Load, reference_server
from tests.interop.test_http2 import JAVA, installed
from wiretrial.engine import Engine
from wiretrial.subjects.certificates import Certificate


@pytest.fixture(scope="module")
def libraries(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Their class path."""
    installed("netty-http2", engine)  # Brings Maven where there is none.
    return http3_libraries(tmp_path_factory.mktemp("libraries"))


@pytest.fixture(scope="module", params=["JettyHttp3Server", "NettyHttp3Server"])
def server(
    request: pytest.FixtureRequest,
    libraries: str,
    certificate: Certificate,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp(request.param)
    command = compiled(request.param, folder, libraries)
    command += [str(certificate.chain), str(certificate.key), str(folder)]
    with Process(command, log=folder / "log") as running:
        secure = running.hear(r"ready https=(\S+)\n")
        yield Both(plain="", secure=secure, certificate=certificate)


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param([], id="get"),
        pytest.param(["--depth", "16"], id="streams"),
        pytest.param(["--requests-per-connection", "10"], id="renewed"),
        pytest.param(["--header-profile", "constant"], id="fields that are alike"),
        pytest.param(["--payload", "1000", "--expect", "echo", "--depth", "4"], id="echo"),
    ],
)
def test_our_client_asks(server: Both, load: Load, flags: list[str]) -> None:
    load(server, "https", "/", "--http", "3", *flags)


# Jetty leaves some of them unanswered: docs/conformance.md.
@pytest.mark.parametrize("server", ["NettyHttp3Server"], indirect=True)
def test_our_client_uploads(server: Both, load: Load) -> None:
    load(server, "https", "/", "--http", "3", "--payload", "200000", "--expect", "echo")


@pytest.mark.parametrize("client", ["JettyHttp3Client", "NettyHttp3Client"])
def test_asks_our_server(
    client: str, libraries: str, engine: Engine, certificate: Certificate, tmp_path: Path
) -> None:
    with reference_server(engine, certificate, tmp_path, "--http3") as ours:
        # Where Jetty has quiche look for the server's name, an address is none.
        url = ours.url("https").replace("127.0.0.1", "localhost")
        words = [url, str(certificate.authority), str(tmp_path)]
        assert checked(client, tmp_path, libraries, *words) == JAVA
