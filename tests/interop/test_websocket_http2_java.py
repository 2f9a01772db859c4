"""WebSocket over HTTP/2 (RFC 8441) with Java's libraries: Jetty both ways, Netty as a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.process import Process
from tests.interop.java_peers import checked, compiled, jetty_clients
from tests.interop.parts import Both, Load, Scheme
from tests.interop.test_http2 import installed
from wiretrial.engine import Engine
from wiretrial.subjects.certificates import Certificate

SOCKETS: list[Scheme] = ["ws", "wss"]
SERVERS = {
    "jetty": ("JettySocketServer", ["jetty-http2", "jetty"]),
    "netty": ("NettySocketServer", ["netty-http2"]),
}
"""By library: the program, and the subjects that have what it needs."""


@pytest.fixture(scope="module", params=list(SERVERS))
def server(
    request: pytest.FixtureRequest,
    engine: Engine,
    certificate: Certificate,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Both]:
    source, subjects = SERVERS[request.param]
    targets = [installed(name, engine)[1].folder / "target" for name in subjects]
    libraries = ":".join(f"{target}/*:{target}/lib/*" for target in targets)
    folder = tmp_path_factory.mktemp(request.param)
    command = compiled(source, folder, libraries)
    command += [str(certificate.chain), str(certificate.key)]
    with Process(command, log=folder / "log") as running:
        yield Both.told_by(running, certificate)


@pytest.mark.parametrize("scheme", SOCKETS)
@pytest.mark.parametrize("payload", [("64",), ("100000",), ("64", "--text")], ids="-".join)
def test_our_client_talks_to(
    server: Both, payload: tuple[str, ...], scheme: Scheme, load: Load
) -> None:
    # Three connections with four WebSockets each.
    flags = ["--payload", *payload, "--http", "2", "--depth", "4"]
    assert load(server, scheme, "/chat", *flags).connections.opened == 3


@pytest.fixture(scope="module")
def jetty(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path of Jetty's clients."""
    installed("jetty", engine)  # Brings Maven where there is none.
    return jetty_clients(tmp_path_factory.mktemp("jetty"))


@pytest.mark.parametrize("scheme", SOCKETS)
def test_jetty_talks_to_our_server(
    reference: Both, jetty: str, scheme: Scheme, tmp_path: Path
) -> None:
    words = [reference.url(scheme), str(reference.certificate.authority)]
    told = checked("JettySocketClient", tmp_path, jetty, *words)
    assert told == {"accepted", "text", "binary", "fragments", "ping", "close-4000", "others"}
